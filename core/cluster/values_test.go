package cluster_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestValues: what one node keeps is taken once, by any node, until its time is over.
func TestValues(t *testing.T) {
	url := testkit.Postgres(t)
	a, b := testkit.SharedStore(t, url), testkit.SharedStore(t, url)
	testkit.Must(t, cluster.PutValue(t.Context(), a, "form/1", "sealed", time.Minute))
	testkit.Must(t, cluster.PutValue(t.Context(), a, "form/2", "sealed", -time.Minute))
	for key, want := range map[string]string{"form/1": "sealed", "form/2": "", "form/3": ""} {
		got, found, err := cluster.TakeValue(t.Context(), b, key)
		if err != nil || got != want || found != (want != "") {
			t.Errorf("%s: %q %v %v", key, got, found, err)
		}
	}
	if _, found, _ := cluster.TakeValue(t.Context(), a, "form/1"); found {
		t.Error("it is taken twice")
	}
}

// TestTurns: one node has a turn at a time, and keeps it until it ends it or its time is over.
func TestTurns(t *testing.T) {
	url := testkit.Postgres(t)
	a, b := testkit.SharedStore(t, url), testkit.SharedStore(t, url)
	take := func(s *store.Store, node string, keep time.Duration, want string) {
		t.Helper()
		if other, err := cluster.TakeTurn(t.Context(), s, "upgrade", node, keep); err != nil || other != want {
			t.Errorf("%s: %q has the turn, want %q: %v", node, other, want, err)
		}
	}
	take(a, "core-1", time.Minute, "")
	take(b, "core-2", time.Minute, "core-1")
	testkit.Must(t, cluster.EndTurn(t.Context(), b, "upgrade", "core-2"))
	take(b, "core-2", time.Minute, "core-1")
	take(a, "core-1", -time.Minute, "")
	take(b, "core-2", time.Minute, "")
	take(a, "core-1", time.Minute, "core-2")
	testkit.Must(t, cluster.EndTurn(t.Context(), b, "upgrade", "core-2"))
	take(a, "core-1", time.Minute, "")
}

// ringOf returns a keyring of keys that are told apart by a byte; the first seals.
func ringOf(t *testing.T, keys ...byte) *secret.Keyring {
	t.Helper()
	var raw [][]byte
	for _, k := range keys {
		raw = append(raw, slices.Repeat([]byte{k}, secret.KeySize))
	}
	ring, err := secret.NewKeyring(raw...)
	testkit.Must(t, err)
	return ring
}

// TestCheckMasterKey: the cores of a database have the same master key. A new one comes beside the old one first.
func TestCheckMasterKey(t *testing.T) {
	url := testkit.Postgres(t)
	a, b := testkit.SharedStore(t, url), testkit.SharedStore(t, url)
	testkit.Must(t, cluster.CheckMasterKey(t.Context(), a, ringOf(t, 1)))
	testkit.Must(t, cluster.CheckMasterKey(t.Context(), b, ringOf(t, 1)))
	if err := cluster.CheckMasterKey(t.Context(), b, ringOf(t, 2)); err == nil || !strings.Contains(err.Error(), "secret_key (SVC_SECRET_KEY)") {
		t.Errorf("another master key: %v", err)
	}
	testkit.Must(t, cluster.CheckMasterKey(t.Context(), a, ringOf(t, 1, 2)))
	testkit.Must(t, cluster.CheckMasterKey(t.Context(), b, ringOf(t, 2, 1)))
	if err := cluster.CheckMasterKey(t.Context(), a, ringOf(t, 1)); err == nil {
		t.Error("a core that cannot read what the others seal starts")
	}
	testkit.Must(t, cluster.CheckMasterKey(t.Context(), a, ringOf(t, 2)))
}

// TestDifferences: a node says what is not as at the running others.
func TestDifferences(t *testing.T) {
	ours := cluster.About{Services: []string{"mail"}, Instances: []string{"dns.main"}, Backups: "/backups"}
	same, other := cluster.Node{ID: "b", State: cluster.Running, About: ours}, cluster.Node{ID: "c", State: cluster.Draining}
	other.Services, other.Instances, other.Backups = []string{"mail", "search"}, ours.Instances, "/elsewhere"
	gone := cluster.Node{ID: "d", State: cluster.Stopped}
	want := `c has other services: "mail search", here "mail"; c has other backup directory: "/elsewhere", here "/backups"`
	if got := strings.Join(ours.Differences([]cluster.Node{same, other, gone}), "; "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestListRunning: the running nodes are known before and after the tables are there.
func TestListRunning(t *testing.T) {
	st := testkit.OpenStore(t, testkit.PostgresConfig(t))
	if ids, err := cluster.ListRunning(context.Background(), st); err != nil || len(ids) > 0 {
		t.Errorf("%v %v", ids, err)
	}
	_, _, st = openPair(t)
	if ids, err := cluster.ListRunning(t.Context(), st); err != nil || strings.Join(ids, " ") != "a b" {
		t.Errorf("%v %v", ids, err)
	}
}
