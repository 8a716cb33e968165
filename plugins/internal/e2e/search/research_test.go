package search

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

type researchAnswer struct {
	RequestID string `json:"request_id"`
	Status    string
}

func TestResearchBelongsToItsToken(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", kit.RoomyLimits, "key-one", "key-two", "key-three")
	db := c.Records(t, kit.Storage{})
	other := c.Token()
	a := c.Post(t, token, "research", `{"input":"plugins","model":"mini"}`)
	if a.Status != http.StatusCreated {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	id := kit.Decode[researchAnswer](t, a.Body).RequestID
	get := func(token, id string) kit.Answer {
		return c.Send(t, kit.Request{Method: http.MethodGet, Path: "research/" + id, Token: token})
	}
	if got := get(token, id); got.Status != http.StatusAccepted || kit.Decode[researchAnswer](t, got.Body).Status != "in_progress" {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	if got := get(token, id); got.Status != http.StatusOK || !strings.Contains(got.Body, "On plugins") {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	before := len(up.Requests())
	get(other, id).Refused(t, http.StatusNotFound, "research_request_not_found")
	get(token, "00000000-0000-4000-8000-00000000ffff").Refused(t, http.StatusNotFound, "research_request_not_found")
	get("", id).Refused(t, http.StatusUnauthorized, "unauthorized")
	if n := len(up.Requests()); n != before {
		t.Errorf("%d requests about a foreign research went upstream", n-before)
	}
	if used := c.Usage(t, other); used.HourlyRequests != 0 {
		t.Errorf("a foreign id was counted: %+v", used)
	}
	db.Balanced(c, token)
	c.Restart()
	if got := get(token, id); got.Status != http.StatusOK {
		t.Errorf("after a restart: status %d: %s", got.Status, got.Body)
	}
	get(other, id).Refused(t, http.StatusNotFound, "research_request_not_found")
	all := up.Requests()
	for _, r := range all {
		if r.Header.Get("Authorization") != all[0].Header.Get("Authorization") {
			t.Error("the result was asked for with another key than the one that began the research")
		}
	}
	db.Balanced(c, token)
}

func clientLeft(t *testing.T, s *kit.EventServer) {
	t.Helper()
	select {
	case <-s.Left:
	case <-time.After(kit.Patience * 5 * time.Second):
		t.Fatal("the upstream request goes on")
	}
}

func TestStreamPassesThroughChunkByChunk(t *testing.T) {
	t.Parallel()
	c, s, resp, token := kit.OpenResearchStream(t, context.Background())
	body := bufio.NewReader(resp.Body)
	// Each event arrives before the next is sent: nothing is held back.
	for i := range 20 {
		event := fmt.Sprintf("event: chat.completion.chunk\ndata: {\"n\": %d.0, \"text\":\"\\u00e9 %s\"}\n\n", i, strings.Repeat("x", i*500))
		s.Send(t, event)
		got := make([]byte, len(event))
		if _, err := io.ReadFull(body, got); err != nil || string(got) != event {
			t.Fatalf("event %d: %v: %q", i, err, got)
		}
	}
	s.Send(t, "event: done\n")
	close(s.Events)
	rest, err := io.ReadAll(body)
	if err != nil || string(rest) != "event: done\n" {
		t.Errorf("the end: %v: %q", err, rest)
	}
	db := c.Records(t, kit.Storage{})
	if row := db.Audit("streamer"); row.Outcome != kit.OutcomeSuccess || row.Status != 200 || row.Credits != 50 || row.Operation != "research" {
		t.Errorf("audit row %+v", row)
	}
	db.Balanced(c, token)
}

func TestStreamGoesOnWhenItsClientHasLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	c, s, resp, token := kit.OpenResearchStream(t, ctx)
	s.Send(t, "data: 1\n\n")
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	leave()
	s.Send(t, "data: 2\n\n")
	s.Send(t, "cut")
	db := c.Records(t, kit.Storage{})
	if row := db.Audit("streamer"); row.Outcome != kit.OutcomeFailure || row.Credits == 0 {
		t.Errorf("audit row %+v", row)
	}
	db.Balanced(c, token)
}

func TestStreamThatIsCutIsCutForTheClient(t *testing.T) {
	t.Parallel()
	c, s, resp, token := kit.OpenResearchStream(t, context.Background())
	s.Send(t, "data: 1\n\n")
	s.Send(t, "cut")
	got, err := io.ReadAll(resp.Body)
	if err == nil || !strings.HasPrefix(string(got), "data: 1") {
		t.Errorf("the client takes a cut stream for a whole one: %v: %q", err, got)
	}
	db := c.Records(t, kit.Storage{})
	if row := db.Audit("streamer"); row.Outcome != kit.OutcomeFailure || row.Code != "upstream_unavailable" {
		t.Errorf("audit row %+v", row)
	}
	db.Balanced(c, token)
}

func TestStreamOfAKilledPluginIsCutForTheClient(t *testing.T) {
	t.Parallel()
	c, s, resp, token := kit.OpenResearchStream(t, context.Background())
	s.Send(t, "data: 1\n\n")
	if _, err := io.ReadFull(resp.Body, make([]byte, len("data: 1\n\n"))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.Plugins()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the client takes a cut stream for a whole one: %q", rest)
	}
	clientLeft(t, s)
	db := c.Records(t, kit.Storage{})
	if row := db.Audit("streamer"); row.Outcome != kit.OutcomeFailure || row.Code != "plugin_unavailable" {
		t.Errorf("audit row %+v", row)
	}
	db.Balanced(c, token)
}

func TestStreamThatDoesNotBeginIsAnOrdinaryError(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", kit.RoomyLimits, "key-one", "key-two")
	db := c.Records(t, kit.Storage{})
	const body = `{"input":"i","stream":true}`
	up.Script(kit.Scripted{Fault: "reset"})
	c.Post(t, token, "research", body).Refused(t, http.StatusBadGateway, "upstream_unavailable")
	up.Script(kit.Scripted{Status: 400, Body: `{"detail":{"error":"no"}}`})
	if a := c.Post(t, token, "research", body); a.Status != 400 || a.Body != `{"detail":{"error":"no"}}` {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
	up.Script(kit.Scripted{Fault: "stream_cut"})
	if a, err := c.Try(kit.Request{Path: "research", Token: token, Body: body}); err == nil {
		t.Errorf("a cut stream looks whole: %d %q", a.Status, a.Body)
	}
	up.Script(kit.Scripted{Status: 432})
	a := c.Post(t, token, "research", body)
	if a.Status != http.StatusOK || !strings.Contains(a.Body, "event: done") {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
	if row := db.Audit(a.Header.Get("X-Request-Id")); row.Tried != 2 || row.Credits != 50 {
		t.Errorf("audit row %+v", row)
	}
	db.Balanced(c, token)
}
