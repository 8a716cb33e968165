package inbound

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// mailboxes are those of a test: every address at inbox.test but nobody's.
type mailboxes struct {
	mu   sync.Mutex
	gone map[string]bool
}

// FindRecipient implements Recipients.
func (m *mailboxes) FindRecipient(_ context.Context, address string, _ int) (Recipient, error) {
	local, host, _ := strings.Cut(address, "@")
	if host != "inbox.test" || local == "nobody" {
		return Recipient{}, fault.New(fault.NotFound, "There is no mailbox with this address.")
	}
	return Recipient{MailboxID: "mbx_" + local, OwnerID: "usr_1", Address: address}, nil
}

// MakeRecipient implements Recipients.
func (m *mailboxes) MakeRecipient(ctx context.Context, address string) (Recipient, error) {
	return m.FindRecipient(ctx, address, 0)
}

// SetReceived implements Mailboxes.
func (m *mailboxes) SetReceived(_ context.Context, ids []string, _ time.Time) (active []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if !m.gone[id] {
			active = append(active, id)
		}
	}
	return active, nil
}

// env is a listening server with its database.
type env struct {
	testing.TB
	store    *store.Store
	messages *message.Store
	boxes    *mailboxes
	ingester *Ingester
	server   *Server

	mu     sync.Mutex
	stored []message.Stored
}

// newEnv starts a server on a loopback port.
func newEnv(t testing.TB, database store.Config, change func(*ServerConfig)) *env {
	t.Helper()
	e := &env{TB: t, boxes: &mailboxes{gone: map[string]bool{}}}
	e.store = testkit.OpenStore(t, database, store.Migrations{Module: "mail", FS: os.DirFS("../migrations")})
	var err error
	if e.messages, err = message.NewStore(e.store); err != nil {
		t.Fatal(err)
	}
	e.ingester = New(Config{
		Store: e.store, Messages: e.messages, Recipients: e.boxes, Mailboxes: e.boxes,
		Logger: hclog.New(&hclog.LoggerOptions{Output: t.Output()}), SpoolDir: t.TempDir(),
		Stored: func(all []message.Stored) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.stored = append(e.stored, all...)
		},
	})
	t.Cleanup(e.ingester.Close)
	cfg := ServerConfig{
		Ingester: e.ingester, Logger: hclog.New(&hclog.LoggerOptions{Output: t.Output()}), Addresses: []string{"127.0.0.1:0"},
		Hostname: "mx.inbox.test",
		MaxBytes: 4 << 20, MaxRecipients: 3, MaxConnections: 50, MaxPerClient: 50, Timeout: 20 * time.Second,
	}
	if change != nil {
		change(&cfg)
	}
	if e.server, err = NewServer(cfg); err != nil {
		t.Fatal(err)
	}
	if err := e.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.server.Close)
	return e
}

// all returns what was announced as stored.
func (e *env) all() []message.Stored {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]message.Stored(nil), e.stored...)
}

// raw returns the raw bytes of a stored message.
func (e *env) raw(m message.Stored) string {
	e.Helper()
	r, err := e.messages.OpenRaw(context.Background(), m)()
	if err != nil {
		e.Fatal(err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		e.Fatal(err)
	}
	return string(raw)
}

// talk is an SMTP client that says what the test tells it to.
type talk struct {
	*env
	conn net.Conn
	in   *bufio.Reader
}

// dial connects and reads the greeting.
func (e *env) dial() *talk {
	e.Helper()
	conn, err := net.Dial("tcp", e.server.Addresses()[0].String())
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	return &talk{env: e, conn: conn, in: bufio.NewReader(conn)}
}

// greeted is dial with EHLO done.
func (e *env) greeted() *talk {
	c := e.dial()
	c.expect("220")
	c.say("EHLO client.example.com", "250")
	return c
}

// write sends text as it is.
func (c *talk) write(text string) {
	c.Helper()
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.Fatal(err)
	}
}

// read returns a reply with all its lines.
func (c *talk) read() (reply string) {
	c.Helper()
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			c.Fatalf("after %q: %v", reply, err)
		}
		reply += line
		if len(line) < 4 || line[3] != '-' {
			return reply
		}
	}
}

// expect fails unless the next reply begins with want.
func (c *talk) expect(want string) string {
	c.Helper()
	reply := c.read()
	if !strings.HasPrefix(reply, want) {
		c.Fatalf("the reply is %q, want %q", reply, want)
	}
	return reply
}

// say sends a line and expects a reply.
func (c *talk) say(line, want string) string {
	c.Helper()
	c.write(line + "\r\n")
	return c.expect(want)
}

// send sends a message, which must end with CR LF and have no line that begins with a full stop, and expects a reply.
func (c *talk) send(to, raw, want string) {
	c.Helper()
	c.say("MAIL FROM:<ada@example.com>", "250")
	c.say("RCPT TO:<"+to+">", "250")
	c.say("DATA", "354")
	c.write(raw + ".\r\n")
	c.expect(want)
}

// sample returns a message of about the given size.
func sample(number, size int) string {
	head := fmt.Sprintf("From: Ada Lovelace <ada@example.com>\r\nTo: box@inbox.test\r\nSubject: Message %d\r\nMessage-ID: <%d@example.com>\r\n\r\n", number, number)
	return head + strings.Repeat("The engine weaves algebraic patterns.\r\n", max(1, (size-len(head))/39))
}
