package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// patience is how long tests of several cores wait for what should come soon.
const patience = 60 * time.Second

// newNodes makes services of several cores on one database. change may alter what each is made of.
func newNodes(t testing.TB, count int, change ...func(*env)) (nodes []*env) {
	t.Helper()
	url := testkit.Postgres(t)
	for i := range count {
		nodes = append(nodes, newNode(t, testkit.SharedStore(t, url, Migrations(), auth.Migrations()), fmt.Sprintf("node-%d", i), change...))
	}
	return nodes
}

// newNode makes the service of a core that shares the database of a store.
func newNode(t testing.TB, st *store.Store, id string, change ...func(*env)) *env {
	t.Helper()
	c := testkit.OpenCluster(t, st, id, true)
	return newEnvOn(t, st, append([]func(*env){func(e *env) { e.cluster = c }}, change...)...)
}

// accepts reports whether the service lets a token in.
func (e *env) accepts(token string) bool {
	_, err := e.svc.Table().AuthenticateToken(context.Background(), token)
	return err == nil
}

// awaitNode waits until a core has taken something in, and logs how long that took.
func awaitNode(t testing.TB, what string, done func() bool) {
	t.Helper()
	began := time.Now()
	testkit.Eventually(t, patience, done, what)
	t.Logf("%s after %s", what, time.Since(began).Round(time.Millisecond))
}

// changeOnA changes tokens and keys at a, each in its turn, and waits until b knows.
func changeOnA(t *testing.T, a, b *env) {
	t.Helper()
	ctx := t.Context()
	disabled, deleted, owned := a.token(nil), a.token(nil), a.token(nil)
	for _, token := range []string{disabled, deleted, owned} {
		awaitNode(t, "token accepted by b", func() bool { return b.accepts(token) })
	}
	testkit.Must(t, a.svc.SetTokenEnabled(ctx, idOf(disabled), false))
	awaitNode(t, "disabled token refused by b", func() bool { return !b.accepts(disabled) })
	testkit.Must(t, a.svc.SetTokenEnabled(ctx, idOf(disabled), true))
	awaitNode(t, "enabled token accepted by b", func() bool { return b.accepts(disabled) })
	testkit.Must(t, a.svc.DeleteToken(ctx, idOf(deleted)))
	awaitNode(t, "deleted token refused by b", func() bool { return !b.accepts(deleted) })
	key := a.addKeys("tvly-of-a-" + deleted)[0]
	state := func() string {
		if _, usable := b.svc.Pool().FindValue(key); !usable {
			return "gone"
		}
		if b.svc.Pool().HasUsable("web") {
			return "usable"
		}
		return "resting"
	}
	awaitNode(t, "key usable at b", func() bool { return state() == "usable" })
	a.svc.Pool().ApplyVerdict(key, sdk.KeyVerdict{State: sdk.KeyRateLimited, Reason: "slow down"})
	awaitNode(t, "cooling key not used by b", func() bool { return state() == "resting" })
	testkit.Must(t, a.svc.ReleaseKey(ctx, key))
	awaitNode(t, "released key used by b", func() bool { return state() == "usable" })
	testkit.Must(t, a.svc.SetKeyEnabled(ctx, key, false))
	awaitNode(t, "disabled key not used by b", func() bool { return b.svc.KeyStates()[keys.KeyDisabled] == 1 })
	testkit.Must(t, a.svc.DeleteKey(ctx, key))
	awaitNode(t, "deleted key gone from b", func() bool { return state() == "gone" && b.svc.KeyStates()[keys.KeyDisabled] == 0 })
}

// TestChangesReachOtherNodes: what a core changes about tokens and keys is in force at another one, by its news.
func TestChangesReachOtherNodes(t *testing.T) {
	nodes := newNodes(t, 2, withKeys)
	for range 2 {
		changeOnA(t, nodes[0], nodes[1])
	}
}

// newDeafNode makes services of two cores on one database, of which b hears no news.
func newDeafNode(t *testing.T, change ...func(*env)) (a, b *env) {
	t.Helper()
	url := testkit.Postgres(t)
	a = newNode(t, testkit.SharedStore(t, url, Migrations(), auth.Migrations()), "a", change...)
	line := testkit.NewLine(t, url)
	st := testkit.OpenStore(t, store.Config{Dialect: store.Postgres, URL: url, DirectURL: line.URL, Shared: true, MigrateWithoutCopy: true})
	line.Cut(true)
	t.Cleanup(func() { line.Cut(false) })
	return a, newNode(t, st, "b", change...)
}

// TestChangesReachADeafNode: a core that hears no news looks by itself.
func TestChangesReachADeafNode(t *testing.T) {
	a, b := newDeafNode(t, withKeys)
	token, key := a.token(nil), a.addKeys("tvly-of-a")[0]
	awaitNode(t, "token and key known to b", func() bool { return b.accepts(token) && b.svc.Pool().HasUsable("web") })
	testkit.Must(t, a.svc.DeleteToken(t.Context(), idOf(token)))
	testkit.Must(t, a.svc.SetKeyEnabled(t.Context(), key, false))
	awaitNode(t, "both refused by b", func() bool { return !b.accepts(token) && !b.svc.Pool().HasUsable("web") })
}

// TestDisabledUserAtOtherNodes: the tokens of a user who is disabled at one core are refused by another.
func TestDisabledUserAtOtherNodes(t *testing.T) {
	nodes := newNodes(t, 2, func(e *env) {
		users, err := auth.New(auth.Config{Store: e.store, Keyring: e.ring})
		testkit.Must(t, err)
		users.OnChange(func() { _ = e.cluster.Publish(t.Context(), auth.TopicUsers, "") })
		e.people = users
	})
	a, b := nodes[0], nodes[1]
	users := a.people.(*auth.Users)
	_, _, err := users.Create(t.Context(), "first@example.com", "First", auth.Admin)
	testkit.Must(t, err)
	user, _, err := users.Create(t.Context(), "ann@example.com", "Ann", auth.Member)
	testkit.Must(t, err)
	token, err := a.svc.CreateToken(t.Context(), access.NewToken{OwnerID: user.ID})
	testkit.Must(t, err)
	awaitNode(t, "token accepted by b", func() bool { return b.accepts(token) })
	testkit.Must(t, users.Disable(t.Context(), user.Email))
	awaitNode(t, "token of a disabled user refused by b", func() bool { return !b.accepts(token) })
}
