package message

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

// WriteMbox writes a message as mbox files have it, in the form mboxrd: a line that tells the sender and the time, and before each
// line that looks like one, a ">". Lines end with LF.
func WriteMbox(w io.Writer, m Stored, open rfc822.Opener) error {
	sender := strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, m.EnvelopeFrom)
	if sender == "" {
		sender = "MAILER-DAEMON"
	}
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s%s %s\n", rfc822.MboxMark, sender, store.FromMillis(m.ReceivedAt).Format(time.ANSIC))
	if err := quoteMbox(out, bufio.NewReader(r)); err != nil {
		return err
	}
	_, _ = out.WriteString("\n")
	return out.Flush()
}

// quoteMbox copies a message line by line.
func quoteMbox(out *bufio.Writer, in *bufio.Reader) error {
	atStart := true
	for {
		part, err := in.ReadSlice('\n')
		if len(part) == 0 && err == io.EOF {
			if !atStart {
				_ = out.WriteByte('\n')
			}
			return nil
		}
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return err
		}
		if atStart && bytes.HasPrefix(bytes.TrimLeft(part, ">"), []byte(rfc822.MboxMark)) {
			_ = out.WriteByte('>')
		}
		if atStart = bytes.HasSuffix(part, []byte("\n")); atStart {
			part = append(bytes.TrimSuffix(part[:len(part)-1], []byte("\r")), '\n')
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
}
