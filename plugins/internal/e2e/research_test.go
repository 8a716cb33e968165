package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

type researchAnswer struct {
	RequestID string `json:"request_id"`
	Status    string
}

func TestResearchBelongsToItsToken(t *testing.T) {
	t.Parallel()
	c, up, token := startWeb(t, "", roomy, "key-one", "key-two", "key-three")
	db := c.records(t, storage{})
	other := c.token()
	a := c.post(t, token, "research", `{"input":"plugins","model":"mini"}`)
	if a.status != http.StatusCreated {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	id := decode[researchAnswer](t, a.body).RequestID
	get := func(token, id string) answer {
		return c.send(t, request{method: http.MethodGet, path: "research/" + id, token: token})
	}
	if got := get(token, id); got.status != http.StatusAccepted || decode[researchAnswer](t, got.body).Status != "in_progress" {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if got := get(token, id); got.status != http.StatusOK || !strings.Contains(got.body, "On plugins") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	before := len(up.requests())
	get(other, id).refused(t, http.StatusNotFound, "research_request_not_found")
	get(token, "00000000-0000-4000-8000-00000000ffff").refused(t, http.StatusNotFound, "research_request_not_found")
	get("", id).refused(t, http.StatusUnauthorized, "unauthorized")
	if n := len(up.requests()); n != before {
		t.Errorf("%d requests about a foreign research went upstream", n-before)
	}
	if used := c.usage(t, other); used.HourlyRequests != 0 {
		t.Errorf("a foreign id was counted: %+v", used)
	}
	db.balanced(c, token)
	c.restart()
	if got := get(token, id); got.status != http.StatusOK {
		t.Errorf("after a restart: status %d: %s", got.status, got.body)
	}
	get(other, id).refused(t, http.StatusNotFound, "research_request_not_found")
	all := up.requests()
	for _, r := range all {
		if r.Header.Get("Authorization") != all[0].Header.Get("Authorization") {
			t.Error("the result was asked for with another key than the one that began the research")
		}
	}
	db.balanced(c, token)
}

// eventServer streams what a test sends into a channel, and tells when its client has left.
type eventServer struct {
	*httptest.Server
	events chan string
	left   chan struct{}
}

func newEventServer(t testing.TB) *eventServer {
	t.Helper()
	s := &eventServer{events: make(chan string), left: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(s.left)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case e, more := <-s.events:
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

// streamed opens a research stream of a core before an event server.
func streamed(t *testing.T, ctx context.Context) (*core, *eventServer, *http.Response, string) {
	t.Helper()
	s := newEventServer(t)
	c := startCore(t, webHCL(s.URL, "", roomy))
	c.addKeys("key-one")
	token := c.token()
	req, err := c.build(request{path: "research", token: token, body: `{"input":"i","stream":true}`,
		header: http.Header{"X-Request-Id": {"streamer"}}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http1.Do(req.WithContext(ctx))
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

func (s *eventServer) send(t *testing.T, event string) {
	t.Helper()
	select {
	case s.events <- event:
	case <-time.After(patience * 5 * time.Second):
		t.Fatal("the event server's client is gone")
	}
}

func (s *eventServer) clientLeft(t *testing.T) {
	t.Helper()
	select {
	case <-s.left:
	case <-time.After(patience * 5 * time.Second):
		t.Fatal("the upstream request goes on")
	}
}

func TestStreamPassesThroughChunkByChunk(t *testing.T) {
	t.Parallel()
	c, s, resp, token := streamed(t, context.Background())
	body := bufio.NewReader(resp.Body)
	// Each event arrives before the next is sent: nothing is held back.
	for i := range 20 {
		event := fmt.Sprintf("event: chat.completion.chunk\ndata: {\"n\": %d.0, \"text\":\"\\u00e9 %s\"}\n\n", i, strings.Repeat("x", i*500))
		s.send(t, event)
		got := make([]byte, len(event))
		if _, err := io.ReadFull(body, got); err != nil || string(got) != event {
			t.Fatalf("event %d: %v: %q", i, err, got)
		}
	}
	s.send(t, "event: done\n")
	close(s.events)
	rest, err := io.ReadAll(body)
	if err != nil || string(rest) != "event: done\n" {
		t.Errorf("the end: %v: %q", err, rest)
	}
	db := c.records(t, storage{})
	if row := db.audit("streamer"); row.outcome != outcomeSuccess || row.status != 200 || row.credits != 50 || row.operation != "research" {
		t.Errorf("audit row %+v", row)
	}
	db.balanced(c, token)
}

func TestStreamGoesOnWhenItsClientHasLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	c, s, resp, token := streamed(t, ctx)
	s.send(t, "data: 1\n\n")
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	leave()
	s.send(t, "data: 2\n\n")
	s.send(t, "cut")
	db := c.records(t, storage{})
	if row := db.audit("streamer"); row.outcome != outcomeFailure || row.credits == 0 {
		t.Errorf("audit row %+v", row)
	}
	db.balanced(c, token)
}

func TestStreamThatIsCutIsCutForTheClient(t *testing.T) {
	t.Parallel()
	c, s, resp, token := streamed(t, context.Background())
	s.send(t, "data: 1\n\n")
	s.send(t, "cut")
	got, err := io.ReadAll(resp.Body)
	if err == nil || !strings.HasPrefix(string(got), "data: 1") {
		t.Errorf("the client takes a cut stream for a whole one: %v: %q", err, got)
	}
	db := c.records(t, storage{})
	if row := db.audit("streamer"); row.outcome != outcomeFailure || row.code != "upstream_unavailable" {
		t.Errorf("audit row %+v", row)
	}
	db.balanced(c, token)
}

func TestStreamOfAKilledPluginIsCutForTheClient(t *testing.T) {
	t.Parallel()
	c, s, resp, token := streamed(t, context.Background())
	s.send(t, "data: 1\n\n")
	if _, err := io.ReadFull(resp.Body, make([]byte, len("data: 1\n\n"))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.plugins()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the client takes a cut stream for a whole one: %q", rest)
	}
	s.clientLeft(t)
	db := c.records(t, storage{})
	if row := db.audit("streamer"); row.outcome != outcomeFailure || row.code != "plugin_unavailable" {
		t.Errorf("audit row %+v", row)
	}
	db.balanced(c, token)
}

func TestStreamThatDoesNotBeginIsAnOrdinaryError(t *testing.T) {
	t.Parallel()
	c, up, token := startWeb(t, "", roomy, "key-one", "key-two")
	db := c.records(t, storage{})
	const body = `{"input":"i","stream":true}`
	up.script(scripted{Fault: "reset"})
	c.post(t, token, "research", body).refused(t, http.StatusBadGateway, "upstream_unavailable")
	up.script(scripted{Status: 400, Body: `{"detail":{"error":"no"}}`})
	if a := c.post(t, token, "research", body); a.status != 400 || a.body != `{"detail":{"error":"no"}}` {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	up.script(scripted{Fault: "stream_cut"})
	if a, err := c.try(request{path: "research", token: token, body: body}); err == nil {
		t.Errorf("a cut stream looks whole: %d %q", a.status, a.body)
	}
	up.script(scripted{Status: 432})
	a := c.post(t, token, "research", body)
	if a.status != http.StatusOK || !strings.Contains(a.body, "event: done") {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	if row := db.audit(a.header.Get("X-Request-Id")); row.tried != 2 || row.credits != 50 {
		t.Errorf("audit row %+v", row)
	}
	db.balanced(c, token)
}
