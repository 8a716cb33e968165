package search

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// countRows returns how many requests of a token have ended as stated.
func (e *env) countRows(token string, outcome audit.Outcome) (n int64) {
	e.Helper()
	testkit.Must(e, e.store.DB(e.Context()).Raw("SELECT COUNT(*) FROM search_requests WHERE token_id = ? AND outcome = ?", idOf(token),
		outcome).Row().Scan(&n))
	return n
}

// everRequests returns what the roll-ups have added up for a token.
func (e *env) everRequests(token string) (requests, credits int64) {
	e.Helper()
	testkit.Must(e, e.store.DB(e.Context()).Raw(`SELECT COALESCE(SUM(requests), 0), COALESCE(SUM(credits), 0) FROM search_rollups
		WHERE scope = 'token' AND subject = ? AND step = 0`, idOf(token)).Row().Scan(&requests, &credits))
	return requests, credits
}

// TestAuditOfNodes: what three cores write at once is there whole, with ids in the order of time, and added up once.
func TestAuditOfNodes(t *testing.T) {
	nodes := newNodes(t, 3)
	token := nodes[0].token(nil)
	if got := tryMany(t, nodes, token, 60); got != 180 {
		t.Fatalf("%d of 180 requests were let through", got)
	}
	for _, n := range nodes {
		n.flush()
	}
	if got := nodes[0].countRows(token, audit.Success); got != 180 {
		t.Errorf("%d of 180 requests are in the audit", got)
	}
	if s := nodes[0].sums(idOf(token)); s.Requests != 180 || s.Credits != 180 {
		t.Errorf("the counters hold %+v", s)
	}
	if requests, credits := nodes[0].everRequests(token); requests != 180 || credits != 180 {
		t.Errorf("the roll-ups hold %d requests and %d credits", requests, credits)
	}
	page, err := nodes[1].svc.Requests(t.Context(), audit.LogFilter{Since: nodes[1].clock.Now().Add(-time.Minute)}, "", 200)
	if err != nil || len(page.Items) != 180 {
		t.Errorf("the log of another core has %d of 180 requests, %v", len(page.Items), err)
	}
}

// heldBackend makes the backend one whose answers wait.
func heldBackend(hold chan struct{}, held chan struct{}) func(*env) {
	return func(e *env) {
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
			held <- struct{}{}
			<-hold
			return reply(200, `{}`), nil
		}
	}
}

// TestOpenRequestsOfNodes: the open requests of a core that was taken for dead are ended and charged once, those of others are left alone.
// A core that comes back writes on, and what it had under way stays as it was ended.
func TestOpenRequestsOfNodes(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	url := testkit.Postgres(t)
	join := func(id string) *env {
		return newNode(t, testkit.SharedStore(t, url, Migrations()), id, heldBackend(hold, held))
	}
	nodes := []*env{join("node-0"), join("node-1")}
	dead, live := nodes[0], nodes[1]
	ofDead, ofLive := dead.token(nil), live.token(nil)
	ended := make(chan error, 2)
	for e, token := range map[*env]string{dead: ofDead, live: ofLive} {
		awaitKnown(t, e, token)
		go func() {
			_, err := e.call(e.svc, idOf(token), "search", `{"query":"q"}`)
			ended <- err
		}()
		<-held
		testkit.Eventually(t, patience, func() bool { return e.countRows(token, audit.Open) == 1 }, "open request written")
	}
	testkit.Execute(t, live.store, "UPDATE core_nodes SET ended_at = seen_at, epoch = epoch + 1 WHERE id = 'node-0'")
	awaitNode(t, "request of the lost core interrupted", func() bool { return live.countRows(ofDead, audit.Interrupted) == 1 })
	join("node-2") // its start ends nothing of the others
	if live.countRows(ofLive, audit.Open) != 1 {
		t.Error("the open request of a core that lives was ended")
	}
	close(hold)
	for range 2 {
		testkit.Must(t, <-ended)
	}
	for range 2 {
		go func() { <-held }()
		_, err := dead.call(dead.svc, idOf(ofDead), "search", `{"query":"q"}`)
		testkit.Must(t, err)
	}
	for _, e := range nodes {
		e.flush()
	}
	if live.countRows(ofDead, audit.Interrupted) != 1 || live.countRows(ofDead, audit.Success) != 2 ||
		live.countRows(ofLive, audit.Success) != 1 {
		t.Error("the requests have not ended as they should")
	}
	for token, want := range map[string]int64{ofDead: 3, ofLive: 1} {
		if s := live.sums(idOf(token)); s.Requests != want || s.Credits != want {
			t.Errorf("the counters hold %+v, not %d", s, want)
		}
		if requests, credits := live.everRequests(token); requests != want || credits != want {
			t.Errorf("the roll-ups hold %d requests and %d credits, not %d", requests, credits, want)
		}
	}
	// The writer that has ended goes after its last request.
	for _, tt := range []struct {
		later   time.Duration
		writers int64
	}{{live.set.Retention, 4}, {2 * time.Hour, 3}} {
		live.clock.Advance(tt.later)
		testkit.Must(t, live.svc.PurgeOldRecords(t.Context(), live.set.Retention))
		var n int64
		testkit.Must(t, live.store.DB(t.Context()).Table("search_writers").Count(&n).Error)
		if n != tt.writers {
			t.Errorf("%s later: %d writers, want %d", tt.later, n, tt.writers)
		}
	}
}

// TestLiveLogOfNodes: who reads the live log at one core sees the requests of another one, once each.
func TestLiveLogOfNodes(t *testing.T) {
	nodes := newNodes(t, 2)
	a, b := nodes[0], nodes[1]
	token := b.token(nil)
	sub := a.svc.Live()
	defer sub.Close()
	seen := map[string]int{}
	testkit.Eventually(t, patience, func() bool {
		_, err := b.call(b.svc, idOf(token), "search", `{"query":"q"}`)
		testkit.Must(t, err)
		b.flush()
		select {
		case ev := <-sub.Events():
			if r, ok := ev.Data.(audit.RequestLog); ok {
				seen[r.RequestID]++
				return r.TokenID == idOf(token) && r.ResultStatus == "success"
			}
		default:
		}
		return false
	}, "a request of the other core is seen")
	for id, times := range seen {
		if times != 1 {
			t.Errorf("the request %s is seen %d times", id, times)
		}
	}
}
