package search

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestHardStop copies the database in the middle of requests, as a crash would leave it, and starts on the copy.
func TestHardStop(t *testing.T) {
	release := make(chan struct{})
	e := newEnv(t, withKeys, func(e *env) {
		e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
			if req.Operation == sdk.OpMap {
				<-release
			}
			return reply(200, `{}`), nil
		}
	})
	key := e.addKeys("upstream-key")[0]
	id := idOf(e.token(nil))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { _, _ = e.call(e.svc, id, sdk.OpMap, `{"url":"a"}`) })
		if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return len(e.rows()) == 10 && len(e.backend.seen()) == 10 }, "all rows")
	e.flush()
	path := filepath.Join(t.TempDir(), "copy.sqlite3")
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(e.store.Path() + suffix)
		if err == nil {
			err = os.WriteFile(path+suffix, raw, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	close(release)
	wg.Wait()
	after := newEnvOn(t, testkit.OpenStore(t, store.Config{Dialect: store.SQLite, Path: path}, Migrations()))
	interrupted := 0
	for _, r := range after.rows() {
		if r.Outcome == audit.Open {
			t.Errorf("an open row is left: %+v", r)
		}
		if r.Outcome == audit.Interrupted && r.ErrorCode == "interrupted" {
			interrupted++
			if r.Backend != "search.web" || r.KeyID != key {
				t.Errorf("the interrupted row names backend %q and key %q", r.Backend, r.KeyID)
			}
		}
	}
	u := after.used(after.svc, id)
	if interrupted != 5 || after.sums(id) != (sums{10, 15, 10, 15}) || u.HourlyRequests != 10 || u.HourlyCredits != 15 || u.Reserved != 0 {
		t.Errorf("%d interrupted; %+v; %+v", interrupted, after.sums(id), u)
	}
	if _, err := after.call(after.svc, id, sdk.OpSearch, `{"query":"a"}`); err != nil {
		t.Errorf("the next request: %v", err)
	}
	after.flush()
}

// TestOpenRowFollowsTheChain: a row that was written open names the backend that is being called, also after the first one has
// failed.
func TestOpenRowFollowsTheChain(t *testing.T) {
	written, release := make(chan struct{}), make(chan struct{})
	e := newEnv(t, func(e *env) {
		e.set.Backend = []string{"search.web", "search.second"}
		second := &backend{desc: sdk.Descriptor{Operations: searchtest.Operations()}}
		second.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
			<-release
			return reply(200, `{}`), nil
		}
		e.more = []*backend{second}
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
			<-written
			return nil, fault.New(fault.UpstreamUnavailable, "No connection.")
		}
	})
	id := idOf(e.token(nil))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`) })
	names := func(backend string) func() bool {
		return func() bool {
			rows := e.rows()
			return len(rows) == 1 && rows[0].Outcome == audit.Open && rows[0].Backend == backend
		}
	}
	testkit.Eventually(t, 10*time.Second, names("search.web"), "an open row of the first backend")
	close(written)
	testkit.Eventually(t, 10*time.Second, names("search.second"), "an open row of the second backend")
	close(release)
	wg.Wait()
	e.flush()
	if rows := e.rows(); len(rows) != 1 || rows[0].Outcome != audit.Success || rows[0].Backend != "search.second" || rows[0].Attempts != 2 {
		t.Errorf("got %+v", rows)
	}
	if got := e.sums(id); got != (sums{1, 1, 1, 1}) {
		t.Errorf("counted %+v", got)
	}
}
