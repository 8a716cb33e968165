package search

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestTokens(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		ctx := context.Background()
		good := e.token(nil)
		disabled, deleted := e.token(nil), e.token(nil)
		expiring, err := e.svc.CreateToken(ctx, access.NewToken{ExpiresAt: searchtest.Noon.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.svc.SetTokenEnabled(ctx, idOf(disabled), false); err != nil {
			t.Fatal(err)
		}
		if err := e.svc.DeleteToken(ctx, idOf(deleted)); err != nil {
			t.Fatal(err)
		}
		check := func(name, text string, want bool) {
			t.Helper()
			_, err := e.svc.Table().AuthenticateToken(ctx, text)
			if (err == nil) != want || !want && (fault.CodeOf(err) != fault.Unauthorized || strings.Contains(err.Error(), text[8:])) {
				t.Errorf("%s: %v", name, err)
			}
		}
		check("good", good, true)
		check("disabled", disabled, false)
		check("deleted", deleted, false)
		check("unknown", searchtest.SomeToken, false)
		check("wrong secret", good[:8]+strings.Repeat("x", 24), false)
		check("id of bytes that are no text", "th-\xff\xfe\xfd\xfc-"+strings.Repeat("x", 24), false)
		check("before it expires", expiring, true)
		e.clock.Advance(time.Hour)
		check("expired", expiring, false)
		if err := e.svc.SetTokenEnabled(ctx, idOf(disabled), true); err != nil {
			t.Fatal(err)
		}
		check("enabled again", disabled, true)
		if err := e.svc.SetTokenEnabled(ctx, idOf(deleted), true); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a deleted token: %v", err)
		}
		if _, err := e.svc.CreateToken(ctx, access.NewToken{Note: strings.Repeat("n",
			access.MaxNote+1)}); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("a long note: %v", err)
		}
	})
}

// TestForeignTokens: another process writes, and the service follows, at once or by the store's notice.
func TestForeignTokens(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
		ctx, cancel := context.WithCancel(context.Background())
		var watching sync.WaitGroup
		var noticed atomic.Int64
		watching.Go(func() {
			_ = e.store.Watch(ctx, 20*time.Millisecond, func() { noticed.Add(1); _ = e.svc.Refresh(ctx) })
		})
		t.Cleanup(func() { cancel(); watching.Wait() })
		beside := cfg
		beside.Exclusive = false
		admin := NewAdmin(testkit.OpenStore(t, beside, Migrations()), e.ring, e.clock.Now)
		usable := func(text string) bool {
			_, err := e.svc.Table().AuthenticateToken(ctx, text)
			return err == nil
		}
		// The watcher sees what is written after it has begun.
		testkit.Eventually(t, 5*time.Second, func() bool {
			if _, err := admin.CreateToken(ctx, access.NewToken{}); err != nil {
				t.Fatal(err)
			}
			return noticed.Load() > 0
		}, "the watcher has begun")
		text, err := admin.CreateToken(ctx, access.NewToken{})
		if err != nil {
			t.Fatal(err)
		}
		if !usable(text) {
			t.Fatal("a token of another process works at once")
		}
		if err := admin.SetTokenEnabled(ctx, idOf(text), false); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, time.Second, func() bool { return !usable(text) }, "the token is disabled here too")
		if _, err := admin.AddKeys(ctx, "", []string{"some-upstream-key"}); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, time.Second, func() bool { return e.svc.Pool().CountStates()[keys.KeyActive] == 1 }, "the key is here too")
		if err := admin.DeleteToken(ctx, idOf(text)); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, time.Second, func() bool { return e.svc.Table().Get(idOf(text)) == nil }, "the token is gone here too")
	})
}

// TestNewTokenIsRefusedToNobody: requests that use a new token at the same moment all get in.
func TestNewTokenIsRefusedToNobody(t *testing.T) {
	e := newEnv(t)
	for range 20 {
		text, err := NewAdmin(e.store, e.ring, e.clock.Now).CreateToken(context.Background(), access.NewToken{})
		if err != nil {
			t.Fatal(err)
		}
		var refused atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := e.svc.Table().AuthenticateToken(context.Background(), text); err != nil {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if refused.Load() > 0 {
			t.Fatalf("%d of 8 were refused", refused.Load())
		}
	}
}

func TestUnknownIDsAreRemembered(t *testing.T) {
	e := newEnv(t)
	deleted := e.token(nil)
	if err := e.svc.DeleteToken(context.Background(), idOf(deleted)); err != nil {
		t.Fatal(err)
	}
	statements := testkit.WatchStatements(t, e.store)
	ask := func() int {
		return len(statements.During(func() {
			for range 5 {
				for _, text := range []string{searchtest.SomeToken, deleted} {
					_, _ = e.svc.Table().AuthenticateToken(context.Background(), text)
				}
			}
		}))
	}
	if n := ask(); n != 2 {
		t.Errorf("%d look-ups for two unknown ids", n)
	}
	if n := ask(); n != 0 {
		t.Errorf("%d look-ups within the second", n)
	}
	e.clock.Advance(access.UnknownFor)
	if n := ask(); n != 2 {
		t.Errorf("%d look-ups after it", n)
	}
	for i := range access.MaxUnknown + 10 {
		e.svc.Table().Forget(strings.Repeat("x", 3)+string(rune(i)), e.clock.Now())
	}
	if n := len(e.svc.Table().Unknown); n > access.MaxUnknown {
		t.Errorf("%d unknown ids are kept", n)
	}
}

func TestReloadGivesNewDefaultsToTokensWithoutTheirOwn(t *testing.T) {
	e := newEnv(t)
	own := idOf(e.token(&access.Limits{RequestsHour: 1, CreditsHour: 2, CreditsDay: 3, CreditsMonth: 4, RequestsMinute: 0}))
	plain := idOf(e.token(nil))
	set := e.set
	set.Limits = &LimitSet{RequestsHour: 9, CreditsHour: 8, CreditsDay: 7, CreditsMonth: 6}
	if err := e.svc.Reload(set, e.backend); err != nil {
		t.Fatal(err)
	}
	if got := e.svc.Table().Get(own).Limits; got != (access.Limits{RequestsHour: 1, CreditsHour: 2, CreditsDay: 3, CreditsMonth: 4,
		RequestsMinute: 0}) {
		t.Errorf("own limits: %+v", got)
	}
	if got := e.svc.Table().Get(plain).Limits; got != (access.Limits{RequestsHour: 9, CreditsHour: 8, CreditsDay: 7, CreditsMonth: 6,
		RequestsMinute: 0}) {
		t.Errorf("new defaults: %+v", got)
	}
}
