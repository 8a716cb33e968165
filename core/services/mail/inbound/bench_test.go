package inbound

import (
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// discard is the library alone: it reads messages and keeps nothing.
type discard struct{}

func (discard) NewSession(*smtp.Conn) (smtp.Session, error) { return discard{}, nil }
func (discard) Reset()                                      {}
func (discard) Logout() error                               { return nil }
func (discard) Mail(string, *smtp.MailOptions) error        { return nil }
func (discard) Rcpt(string, *smtp.RcptOptions) error        { return nil }
func (discard) Data(r io.Reader) error                      { _, err := io.Copy(io.Discard, r); return err }

// BenchmarkAccept measures messages of 10 KB with two texts, from MAIL to the 250 that says they are durable, parsed and
// searchable, beside the library that discards them.
func BenchmarkAccept(b *testing.B) {
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("discard/clients=%d", clients), func(b *testing.B) {
			server := smtp.NewServer(discard{})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			go func() { _ = server.Serve(l) }()
			defer server.Close()
			sendMany(b, l.Addr().String(), clients)
		})
		for _, dialect := range []store.Dialect{store.SQLite, store.Postgres} {
			b.Run(fmt.Sprintf("%s/clients=%d", dialect, clients), func(b *testing.B) {
				cfg := testkit.SQLiteConfig(b)
				if dialect == store.Postgres {
					cfg = testkit.PostgresConfig(b)
				}
				e := newEnv(b, cfg, nil)
				sendMany(b, e.server.Addresses()[0].String(), clients)
			})
		}
	}
}

// sendMany sends b.N messages on some connections at once.
func sendMany(b *testing.B, address string, clients int) {
	b.Helper()
	raw := []byte(alternative(10_000))
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	started := time.Now()
	for range clients {
		all.Go(func() {
			conn, err := textproto.Dial("tcp", address)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			step := func(want int, line string) bool {
				if line != "" {
					err = conn.PrintfLine("%s", line)
				}
				if err == nil {
					_, _, err = conn.ReadResponse(want)
				}
				if err != nil {
					b.Error(err)
				}
				return err == nil
			}
			if !step(220, "") || !step(250, "EHLO client.example.com") {
				return
			}
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				if !step(250, "MAIL FROM:<ada@example.com>") || !step(250, "RCPT TO:<box@inbox.test>") || !step(354, "DATA") {
					return
				}
				fmt.Fprintf(conn.W, "Message-ID: <%d@example.com>\r\nSubject: Message %d\r\n", n, n)
				_, _ = conn.W.Write(raw)
				if !step(250, ".") {
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/time.Since(started).Seconds(), "messages/s")
}

// alternative returns the rest of a message with a text and its HTML.
func alternative(size int) string {
	words := strings.Fields("the analytical engine weaves algebraic patterns just as the loom weaves flowers and leaves of many colours")
	var text, html strings.Builder
	for i := 0; text.Len()+html.Len() < size; i++ {
		fmt.Fprintf(&text, "%s %d %s %s.\r\n", words[i%len(words)], i, words[i*7%len(words)], words[i*11%len(words)])
		fmt.Fprintf(&html, "<p style=\"color:#333\">%s <b>%d</b> %s</p>\r\n", words[i%len(words)], i, words[i*5%len(words)])
	}
	return "From: Ada Lovelace <ada@example.com>\r\nTo: box@inbox.test\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + text.String() + "--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html.String() + "--b--\r\n"
}
