package releases_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// lineStream is a stream of lines over a connection of its own.
type lineStream struct {
	testing.TB
	conn  *net.TCPConn
	lines *bufio.Scanner
}

// openLines asks for the translations of releases in lines.
func (s *server) openLines(who string, ids []string) *lineStream {
	s.Helper()
	at, err := url.Parse(s.base)
	must(s, err)
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", at.Host)
	must(s, err)
	s.Cleanup(func() { _ = conn.Close() })
	body, err := json.Marshal(dict{"release_ids": ids})
	must(s, err)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.base+"/api/translate/releases/batch/stream",
		strings.NewReader(string(body)))
	must(s, err)
	req.Header.Set("Authorization", "Bearer "+who)
	must(s, req.Write(conn))
	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	must(s, err)
	if res.StatusCode != http.StatusOK {
		raw, _ := httputil.DumpResponse(res, true)
		s.Fatalf("%s", raw)
	}
	return &lineStream{s, conn.(*net.TCPConn), bufio.NewScanner(res.Body)}
}

// next returns the event of the next line, and the id of its release. At the end of the stream the event is "".
func (l *lineStream) next() (event, id string) {
	l.Helper()
	if !l.lines.Scan() {
		if err := l.lines.Err(); err != nil && err != io.EOF {
			l.Fatal(err)
		}
		return "", ""
	}
	var line struct {
		Event string
		Item  struct{ ID, Status string }
	}
	must(l, json.Unmarshal(l.lines.Bytes(), &line))
	if line.Event == "item" && line.Item.Status != "ready" {
		l.Errorf("%s", l.lines.Text())
	}
	return line.Event, line.Item.ID
}

// cut resets the connection, as a network that fails does.
func (l *lineStream) cut() {
	l.Helper()
	must(l, l.conn.SetLinger(0))
	must(l, l.conn.Close())
}

// readRest reads the items until the stream is done.
func (l *lineStream) readRest(seen map[string]int) {
	l.Helper()
	for {
		event, id := l.next()
		if event != "item" {
			if end, _ := l.next(); event != "done" || end != "" {
				l.Errorf("the stream ends with %q, and %q after it", event, end)
			}
			return
		}
		seen[id]++
	}
}

// TestLinesAreCutAndResumed resets the connection of a stream of lines after the first lines, while the model works on the others. Who asks
// again for what is missing sees each release once, and the model is asked for each text once.
func TestLinesAreCutAndResumed(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("First words", "Second words", "Third words", "Fourth words")
		for _, id := range ids[:2] {
			s.translate(s.ada, "release_summary", id)
		}
		began, hold := make(chan struct{}, 10), make(chan struct{})
		s.model.Before(func(ctx context.Context, _ translator.Request) {
			began <- struct{}{}
			select {
			case <-hold:
			case <-ctx.Done():
			}
		})
		seen := map[string]int{}
		stream := s.openLines(s.ada, ids)
		for range 2 {
			if event, id := stream.next(); event == "item" {
				seen[id]++
			}
		}
		select {
		case <-began:
		case <-time.After(20 * time.Second):
			t.Fatal("the model is not asked for the others")
		}
		stream.cut()
		if len(seen) != 2 || seen[ids[0]] != 1 || seen[ids[1]] != 1 {
			t.Fatalf("before the cut: %v", seen)
		}
		resumed := s.openLines(s.ada, ids[2:])
		close(hold)
		resumed.readRest(seen)
		if len(seen) != len(ids) || seen[ids[2]] != 1 || seen[ids[3]] != 1 {
			t.Errorf("after both streams: %v", seen)
		}
		again := map[string]int{}
		s.openLines(s.ada, ids).readRest(again)
		if len(again) != len(ids) {
			t.Errorf("asked for again: %v", again)
		}
		asked := map[string]int{}
		for _, call := range s.model.Calls() {
			for _, part := range call.Parts {
				if strings.HasSuffix(part.Text, " words") {
					asked[part.Text]++
				}
			}
		}
		for _, text := range []string{"First words", "Second words", "Third words", "Fourth words"} {
			if asked[text] != 1 {
				t.Errorf("the model was asked %d times for %q", asked[text], text)
			}
		}
	}, withTranslator)
}
