package mail

import (
	"fmt"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// mailSource sends messages that differ in their number.
type mailSource struct {
	raw  []byte
	next atomic.Int64
}

// sendMany sends messages on some connections at once and returns the highest number of them.
func (s *mailSource) sendMany(b *testing.B, address string, recipient func(connection int) string, connections, messages int) int {
	b.Helper()
	last := s.next.Load() + int64(messages)
	var all sync.WaitGroup
	for n := range connections {
		all.Go(func() {
			if err := s.sendOn(address, recipient(n), last); err != nil {
				b.Errorf("send to %s: %v", address, err)
			}
		})
	}
	all.Wait()
	s.next.Store(last)
	if b.Failed() {
		b.FailNow()
	}
	return int(last)
}

// sendOn sends messages on one connection until that with the number last is sent.
func (s *mailSource) sendOn(address, recipient string, last int64) error {
	conn, err := textproto.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	exchange := func(line string, want int) {
		if err == nil {
			err = conn.PrintfLine("%s", line)
		}
		if err == nil {
			_, _, err = conn.ReadResponse(want)
		}
	}
	if _, _, err = conn.ReadResponse(220); err != nil {
		return err
	}
	exchange("EHLO client.example.com", 250)
	for err == nil {
		n := s.next.Add(1)
		if n > last {
			break
		}
		exchange("MAIL FROM:<ada@example.com>", 250)
		exchange("RCPT TO:<"+recipient+">", 250)
		exchange("DATA", 354)
		fmt.Fprintf(conn.W, "Message-ID: <%d@example.com>\r\nSubject: Message benchmark%d\r\n", n, n)
		_, _ = conn.W.Write(s.raw)
		exchange(".", 250)
	}
	return err
}

// mailAlternative returns the rest of a message with a text and its HTML.
func mailAlternative(size int) string {
	words := strings.Fields("the analytical engine weaves algebraic patterns just as the loom weaves flowers and leaves of many colours")
	var text, html strings.Builder
	for i := 0; text.Len()+html.Len() < size; i++ {
		fmt.Fprintf(&text, "%s %d %s %s.\r\n", words[i%len(words)], i, words[i*7%len(words)], words[i*11%len(words)])
		fmt.Fprintf(&html, "<p style=\"color:#333\">%s <b>%d</b> %s</p>\r\n", words[i%len(words)], i, words[i*5%len(words)])
	}
	return "From: Ada Lovelace <ada@example.com>\r\nTo: box@inbox.test\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + text.String() + "--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" +
		html.String() + "--b--\r\n"
}
