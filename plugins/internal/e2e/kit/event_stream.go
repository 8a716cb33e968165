package kit

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// EventServer streams what a test sends into a channel, and tells when its client has left.
type EventServer struct {
	*httptest.Server
	Events chan string
	Left   chan struct{}
}

func newEventServer(t testing.TB) *EventServer {
	t.Helper()
	s := &EventServer{Events: make(chan string), Left: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(s.Left)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case e, more := <-s.Events:
				if !more {
					return
				}
				if e == "cut" {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, e)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// OpenResearchStream opens a research stream of a core before an event server.
func OpenResearchStream(t *testing.T, ctx context.Context) (*Core, *EventServer, *http.Response, string) {
	t.Helper()
	s := newEventServer(t)
	c := StartCore(t, WebHCL(s.URL, "", RoomyLimits))
	c.AddKeys("key-one")
	token := c.Token()
	req, err := c.Build(Request{Path: "research", Token: token, Body: `{"input":"i","stream":true}`,
		Header: http.Header{"X-Request-Id": {"streamer"}}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := HTTPClient.Do(req.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" ||
		resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("status %d, headers %v", resp.StatusCode, resp.Header)
	}
	return c, s, resp, token
}

// Send sends an event to the client, which must take it.
func (s *EventServer) Send(t *testing.T, event string) {
	t.Helper()
	select {
	case s.Events <- event:
	case <-time.After(Patience * 5 * time.Second):
		t.Fatal("the event server's client is gone")
	}
}
