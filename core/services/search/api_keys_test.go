package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// upstreamKeys lets the backend know what it says about keys.
func upstreamKeys(e *env) {
	withKeys(e)
	e.backend.keyStatus = func(_ context.Context, v schema.Secret) (*sdk.KeyStatus, error) {
		switch k := v.Reveal(); {
		case strings.HasPrefix(k, "bad"):
			return &sdk.KeyStatus{Key: sdk.KeyVerdict{State: sdk.KeyInvalid, Reason: "revoked"}}, nil
		case strings.HasPrefix(k, "down"):
			return nil, fault.New(fault.UpstreamUnavailable, "No answer.")
		case strings.HasPrefix(k, "empty"):
			return &sdk.KeyStatus{Used: 10, Limit: 10}, nil
		}
		return &sdk.KeyStatus{Key: sdk.KeyVerdict{State: sdk.KeyOK}, Used: 3, Limit: 1000}, nil
	}
}

func TestKeyAPI(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), upstreamKeys)
		c := newContract(e)
		id := field(t, c.admin(201, "POST", "/api/keys", `{"api_key":"good-key-1234567890-abcdef","group":"g1"}`), "id").(string)
		if again := field(t, c.admin(201, "POST", "/api/keys", `{"api_key":"good-key-1234567890-abcdef"}`), "id"); again != id {
			t.Errorf("the same key has the id %v, then %v", id, again)
		}
		for _, bad := range []string{`{"api_key":" "}`, `{"api_key":"a b"}`, `{}`, `{"api_key":"` + strings.Repeat("k", 513) + `"}`} {
			c.admin(400, "POST", "/api/keys", bad)
		}
		g := c.admin(200, "POST", "/api/keys/batch",
			`{"api_keys":["k-1"," k-1 ","k 2","","good-key-1234567890-abcdef"],"items":[{"api_key":"k-3"}],"group":"g2"}`)
		want := []string{"created", "duplicate_in_input", "failed", "ignored_empty", "existed", "created"}
		for i, w := range want {
			if got := field(t, g, "results", fmt.Sprint(i), "status"); got != w {
				t.Errorf("line %d is %v, want %s", i+1, got, w)
			}
		}
		if strings.Contains(g.body, "good-key-1234567890") || field(t, g, "summary", "created") != 2.0 ||
			field(t, g, "summary", "valid_lines") != 4.0 {
			t.Errorf("got %s", g.body)
		}
		c.admin(400, "POST", "/api/keys/batch", `{}`)
		many := `{"api_keys":["x"` + strings.Repeat(`,"x"`, access.MaxBatch) + `]}`
		if g := c.admin(400, "POST", "/api/keys/batch", many); g.json["code"] != "too_many_items" {
			t.Errorf("got %s", g.body)
		}

		c.admin(200, "POST", "/api/keys/"+id+"/sync-usage", "")
		g = c.admin(200, "GET", "/api/keys/"+id, "")
		if g.json["quota_limit"] != 1000.0 || g.json["quota_remaining"] != 997.0 || g.json["status"] != "active" ||
			g.json["quota_synced_at"] == nil {
			t.Errorf("got %s", g.body)
		}
		if g := c.call(200, "GET", "/search/api/summary", ""); g.json["total_quota_limit"] != 1000.0 || g.json["active_keys"] != 3.0 {
			t.Errorf("got %s", g.body)
		}
		for query, want := range map[string]float64{"": 3, "?group=g1": 1, "?group=g1&group=g2": 3, "?status=active": 3, "?status=invalid": 0,
			"?per_page=1&page=3": 3} {
			if g := c.admin(200, "GET", "/api/keys"+query, ""); g.json["total"] != want {
				t.Errorf("%s: got %s", query, g.body)
			}
		}
		c.admin(400, "GET", "/api/keys?status=fine", "")

		c.admin(204, "POST", "/api/keys/"+id+"/quarantine", `{"reason":"it leaked"}`)
		g = c.admin(200, "GET", "/api/keys/"+id, "")
		if g.json["status"] != "invalid" || field(t, g, "quarantine", "reasonSummary") != "it leaked" {
			t.Errorf("got %s", g.body)
		}
		if _, ok := e.svc.Pool().FindValue(id); ok {
			t.Error("a key in quarantine is used")
		}
		e.clock.Advance(time.Second)
		c.admin(204, "DELETE", "/api/keys/"+id+"/quarantine", "")
		c.admin(204, "PATCH", "/api/keys/"+id+"/status", `{"status":"disabled"}`)
		c.admin(204, "PATCH", "/api/keys/"+id+"/status", `{"status":"active"}`)
		c.admin(400, "PATCH", "/api/keys/"+id+"/status", `{"status":"invalid"}`)
		g = c.admin(200, "GET", "/api/keys/"+id+"/history?limit=3", "")
		for i, op := range []string{"enabled", "disabled", "released"} {
			if field(t, g, "items", fmt.Sprint(i), "operation") != op || field(t, g, "items", fmt.Sprint(i), "actor") != "root" {
				t.Errorf("change %d: got %s", i, g.body)
			}
		}
		g = c.admin(200, "GET", "/api/keys/"+id+"/history?cursor="+field(t, g, "nextCursor").(string), "")
		if field(t, g, "items", "0", "reason") != "it leaked" || g.json["nextCursor"] != nil {
			t.Errorf("got %s", g.body)
		}
		c.admin(400, "GET", "/api/keys/"+id+"/history?cursor=x", "")

		g = c.admin(200, "POST", "/api/keys/bulk-actions", `{"action":"disable","key_ids":["`+id+`","nope"]}`)
		if field(t, g, "summary", "succeeded") != 1.0 || field(t, g, "results", "1", "status") != "failed" {
			t.Errorf("got %s", g.body)
		}
		c.admin(200, "GET", "/api/keys/"+id+"/metrics", "")
		c.admin(204, "DELETE", "/api/keys/"+id, "")
		for _, call := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"GET", "/metrics"}, {"POST", "/sync-usage"}, {"DELETE", "/quarantine"}} {
			c.admin(404, call[0], "/api/keys/"+id+call[1], "")
		}
		c.admin(404, "PATCH", "/api/keys/"+id+"/status", `{"status":"active"}`)
		c.admin(404, "POST", "/api/keys/"+id+"/quarantine", `{}`)
		if back := field(t, c.admin(201, "POST", "/api/keys", `{"api_key":"good-key-1234567890-abcdef"}`), "id"); back != id {
			t.Errorf("a restored key has the id %v", back)
		}
		c.member(403, "GET", "/api/keys", "")
		if strings.Contains(e.logs.String(), "good-key-1234567890-abcdef") {
			t.Error("an upstream key is in the log")
		}
	})
}

func TestKeysAreValidated(t *testing.T) {
	e := newEnv(t, upstreamKeys)
	c := newContract(e)
	c.admin(201, "POST", "/api/keys", `{"api_key":"there"}`)
	body := `{"api_keys":["good","bad-1","down-1","empty","there","good","a b"]}`
	g := c.admin(200, "POST", "/api/keys/validate", body)
	for i, want := range []string{"ok", "unauthorized", "error", "ok_exhausted", "already_exists", "duplicate_in_input", "invalid"} {
		if got := field(t, g, "results", fmt.Sprint(i), "status"); got != want {
			t.Errorf("line %d is %v, want %s", i+1, got, want)
		}
	}
	if field(t, g, "results", "0", "quota_remaining") != 997.0 || field(t, g, "summary", "ok") != 1.0 {
		t.Errorf("got %s", g.body)
	}
	c.admin(400, "POST", "/api/keys/validate", `[]`)
	if g := c.admin(200, "GET", "/api/keys", ""); g.json["total"] != 1.0 {
		t.Errorf("validation has added keys: %s", g.body)
	}

	stream := c.admin(200, "POST", "/api/keys/validate", body, "Accept", "text/event-stream")
	if n := strings.Count(stream.body, "event: result\n"); n != 7 || strings.Count(stream.body, "event: done\n") != 1 {
		t.Errorf("%d results in %s", n, stream.body)
	}

	none := newContract(newEnv(t))
	none.admin(409, "POST", "/api/keys/validate", body)
}

// TestSyncTakesWhatIsDue: a key that was used lately every quarter of an hour, the others once a day.
func TestSyncTakesWhatIsDue(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), upstreamKeys)
		e.addKeys("one", "two", "down-3")
		due := func() int {
			ids, err := e.svc.Keys.Store.KeysToSync(t.Context(), e.clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			return len(ids)
		}
		sync := func() {
			if _, err := e.svc.SyncDue(t.Context(), nil, noProgress{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := due(); n != 3 {
			t.Fatalf("%d keys are due at first", n)
		}
		sync()
		if n := due(); n != 0 {
			t.Fatalf("%d keys are due after a sync", n)
		}
		id := idOf(e.token(nil))
		if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"x"}`); err != nil {
			t.Fatal(err)
		}
		e.flush()
		e.clock.Advance(15 * time.Minute)
		if n := due(); n != 1 {
			t.Fatalf("%d keys are due after a quarter of an hour, want the one that was used", n)
		}
		e.clock.Advance(25 * time.Hour)
		if n := due(); n != 3 {
			t.Fatalf("%d keys are due after a day", n)
		}
	})
}

// TestSyncBringsAKeyBack: an exhausted key whose upstream reports quota again is used before the month is over; one that is
// invalid stays where it is.
func TestSyncBringsAKeyBack(t *testing.T) {
	e := newEnv(t, upstreamKeys)
	ids := e.addKeys("good-1", "bad-2")
	e.svc.Pool().ApplyVerdict(ids[0], sdk.KeyVerdict{State: sdk.KeyExhausted, Reason: "used up"})
	e.svc.Keys.Wait()
	e.clock.Advance(time.Second)
	if err := e.svc.SyncKey(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	if k, err := e.svc.Key(t.Context(), ids[0]); err != nil || k.Status != keys.KeyActive {
		t.Fatalf("got %+v, %v", k, err)
	}
	if _, _, ok := e.svc.Pool().PickKey("web", keys.Caller{Token: "t"}, nil); !ok {
		t.Error("the key is not used again")
	}
	if err := e.svc.SyncKey(t.Context(), ids[1]); err != nil {
		t.Fatal(err)
	}
	e.svc.Keys.Wait()
	if k, err := e.svc.Key(t.Context(), ids[1]); err != nil || k.Status != keys.KeyInvalid {
		t.Fatalf("got %+v, %v", k, err)
	}
	history, err := e.svc.KeyHistory(t.Context(), ids[0], "", 10)
	if err != nil || len(history.Items) != 3 || history.Items[0].Source != "system" || history.Items[0].Before != keys.KeyExhausted {
		t.Errorf("got %+v, %v", history, err)
	}
}

// noProgress is a job's progress that nobody reads.
type noProgress struct{}

func (noProgress) Log(context.Context, string, ...any)   {}
func (noProgress) Step(context.Context, string)          {}
func (noProgress) Percent(context.Context, int)          {}
func (noProgress) Emit(context.Context, string, any)     {}
func (noProgress) Note(context.Context, any)             {}
func (noProgress) Checkpoint(context.Context, any) error { return nil }
