package inbound

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
)

// maxCommand is the longest command line, in bytes.
const maxCommand = 8192

// The numbers of Postfix: so many refused recipients, or commands that bring no message, may come on one connection. The next ones are
// answered late, and then the connection ends.
const (
	maxRefusedRecipients = 20
	maxIdleCommands      = 100
	lateAnswers          = 5
	answerDelay          = time.Second
)

// front stands between a connection and the SMTP library. It hands out one command line at a time, so that it sees each of them, refuses
// what the library would let pass, bounds what a client may do without sending mail, and does STARTTLS.
type front struct {
	net.Conn
	server *Server
	in     *bufio.Reader
	// gated is the connection that is counted, below TLS.
	gated *gatedConn
	// secured is the connection with TLS, and greeted false until the library's greeting on it was dropped: the client has had one.
	secured *tls.Conn
	greeted bool
	closed  func() error

	// mode is what comes next; left are the bytes of a chunk of BDAT that are to come.
	mode inputMode
	left int64
	// rest is what of a line did not fit into a Read.
	rest []byte
	data dataScanner
	// idle counts commands that brought no message, refused recipients that there are not, and late the answers that came late.
	idle, refused, late int
	helloSeen           bool
	// quoted says that the local part in the RCPT command is in quotes, which the library cuts off.
	quoted bool
}

// inputMode says what a client sends.
type inputMode int

const (
	inCommands inputMode = iota
	inData
	inChunk
)

func newFront(s *Server, c net.Conn, gated *gatedConn) *front {
	return &front{Conn: c, server: s, in: bufio.NewReaderSize(c, maxCommand), gated: gated, greeted: true, closed: c.Close}
}

// asFront returns the front of a connection of the library, which has no other ones.
func asFront(c net.Conn) *front { return c.(*front) }

// Close implements net.Conn.
func (f *front) Close() error { return f.closed() }

// Write implements net.Conn. The answer 354 says that a message comes.
func (f *front) Write(p []byte) (int, error) {
	if !f.greeted {
		f.greeted = true
		return len(p), nil
	}
	if f.mode == inCommands && bytes.HasPrefix(p, []byte("354 ")) {
		f.mode, f.data = inData, dataScanner{}
	}
	return f.Conn.Write(p)
}

// Read implements net.Conn.
func (f *front) Read(p []byte) (n int, err error) {
	if len(f.rest) > 0 {
		n = copy(p, f.rest)
		f.rest = f.rest[n:]
		return n, nil
	}
	switch f.mode {
	case inChunk:
		n, err = f.in.Read(p[:min(int64(len(p)), f.left)])
		if f.left -= int64(n); f.left == 0 {
			f.mode = inCommands
		}
		return n, err
	case inData:
		return f.readData(p)
	}
	line, err := f.readCommand()
	if err != nil {
		return 0, err
	}
	n = copy(p, line)
	f.rest = line[n:]
	return n, nil
}

// readData reads of a message, up to its end.
func (f *front) readData(p []byte) (int, error) {
	if _, err := f.in.Peek(1); err != nil {
		return 0, err
	}
	waiting, _ := f.in.Peek(min(f.in.Buffered(), len(p)))
	n, end := f.data.scan(waiting)
	if end {
		f.mode = inCommands
	}
	return f.in.Read(p[:n])
}

// readCommand reads a command line, which it answers itself if the library is not to see it.
func (f *front) readCommand() ([]byte, error) {
	read, err := f.in.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return nil, smtp.ErrTooLongLine
	case err != nil:
		return nil, err
	}
	line := bytes.Clone(read)
	text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if bytes.IndexByte(text, '\r') >= 0 {
		f.server.metrics().countRefusal(refusedLineEnds)
		// The library answers an empty line as bad syntax, and ends the connection after a few.
		return []byte("\r\n"), nil
	}
	verb, arg, _ := strings.Cut(string(text), " ")
	verb = strings.ToUpper(verb)
	if err := f.countCommand(verb); err != nil {
		return nil, err
	}
	switch {
	case verb == "AUTH":
		// The library would ask for TLS, or try. A client that sends on is answered as one that sends nonsense.
		if _, err := f.Conn.Write([]byte("502 5.5.1 AUTH is not offered\r\n")); err != nil {
			return nil, err
		}
		return f.readCommand()
	case verb == "RCPT":
		return f.readRecipient(line, arg), nil
	case verb == "BDAT":
		f.beginChunk(arg)
	case verb == "STARTTLS" && arg == "" && f.server.tls != nil && f.secured == nil:
		return nil, f.startTLS()
	}
	return line, nil
}

// localPostmaster stands for postmaster without a domain, which the library does not take.
const localPostmaster = "postmaster@postmaster.invalid"

// readRecipient returns an RCPT command as the library takes it, and notes what the library does not tell.
func (f *front) readRecipient(line []byte, arg string) []byte {
	path := strings.TrimLeft(arg, " ")
	if len(path) < len("TO:") || !strings.EqualFold(path[:len("TO:")], "TO:") {
		return line
	}
	path = strings.TrimLeft(path[len("TO:"):], " ")
	f.quoted = strings.HasPrefix(path, `<"`)
	if to, rest, ok := strings.Cut(path, ">"); ok && strings.EqualFold(to, "<postmaster") {
		return []byte("RCPT TO:<" + localPostmaster + ">" + rest + "\r\n")
	}
	return line
}

// restoreRecipient returns a recipient that the library has read as the client has written it, in lower case.
func (f *front) restoreRecipient(to string) string {
	to = strings.ToLower(to)
	switch at := strings.LastIndexByte(to, '@'); {
	case to == localPostmaster:
		return address.Postmaster
	case f.quoted && at >= 0:
		return address.QuoteLocal(to[:at]) + to[at:]
	}
	return to
}

// beginChunk reads as many bytes as a BDAT command announces past the library's reader of lines; it reads them whether or not it wants
// them.
func (f *front) beginChunk(arg string) {
	words := strings.Fields(arg)
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && !strings.EqualFold(words[1], "LAST") {
		return
	}
	if size, err := strconv.ParseUint(words[0], 10, 32); err == nil && size > 0 {
		f.mode, f.left = inChunk, int64(size)
	}
}

// countCommand counts a command, and answers late, and then not any more, where there were too many without a message.
func (f *front) countCommand(verb string) error {
	excess := false
	switch verb {
	case "EHLO", "HELO":
		excess = f.helloSeen && f.countIdle()
		f.helloSeen = true
	case "NOOP", "RSET", "VRFY", "EXPN", "HELP", "AUTH", "":
		excess = f.countIdle()
	case "RCPT":
		excess = f.refused >= maxRefusedRecipients
	}
	if !excess {
		return nil
	}
	if f.late++; f.late > lateAnswers {
		f.server.metrics().countRefusal(refusedIdle)
		_, _ = f.Conn.Write([]byte("421 4.7.0 Too many commands without a message, closing the connection\r\n"))
		return io.EOF
	}
	_ = event.Sleep(f.server.ctx, f.server.cfg.AnswerDelay)
	return nil
}

func (f *front) countIdle() bool {
	f.idle++
	return f.idle > maxIdleCommands
}

// takeBareCR reports whether the message had a bare CR, which the library leaves out after a full stop, and forgets it.
func (f *front) takeBareCR() bool {
	found := f.data.bareCR
	f.data.bareCR = false
	return found
}

// countMessage notes that a message was taken.
func (f *front) countMessage() { f.idle = 0 }

// countRefused notes that a recipient was refused.
func (f *front) countRefused() { f.refused++ }

// startTLS hands the connection over to the server of secured connections, without what the client has sent already: that was not secured.
// Its error ends the connection for the library, which does not know TLS.
func (f *front) startTLS() error {
	if _, err := f.Conn.Write([]byte("220 2.0.0 Ready to start TLS\r\n")); err != nil {
		return err
	}
	secured := tls.Server(f.Conn, f.server.tls)
	_ = f.Conn.SetDeadline(time.Now().Add(f.server.cfg.Timeout))
	if err := secured.HandshakeContext(f.server.ctx); err != nil {
		return err
	}
	_ = f.Conn.SetDeadline(time.Time{})
	next := newFront(f.server, secured, f.gated)
	next.secured, next.greeted, next.idle, next.refused, next.late = secured, false, f.idle, f.refused, f.late
	// What the library closes now goes on.
	f.closed = func() error { return nil }
	if !f.server.handedOver.deliver(next) {
		_ = next.Close()
	}
	return io.EOF
}
