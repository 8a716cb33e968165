package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestAlone: a core alone leads at once, hears its own news, and drains when it is told to, on both databases.
func TestAlone(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, cluster.Migrations())
		c := open(t, cluster.Config{Store: st, ID: "only.one", About: cluster.About{Version: "1.2.3"}})
		if state, _ := stateOf(t, st, "only.one"); state != cluster.Running || c.Ready() != nil || c.Epoch() != 1 {
			t.Errorf("state %s, ready %v, epoch %d", state, c.Ready(), c.Epoch())
		}
		ctx, stop := context.WithCancel(t.Context())
		leads, heard, done := make(chan bool), make(chan []string, 10), make(chan bool)
		go func() {
			c.Lead(ctx, "work", func(ctx context.Context) error {
				testkit.Must(t, c.FenceRole(ctx))
				leads <- true
				<-ctx.Done()
				leads <- false
				return nil
			})
			close(done)
		}()
		go c.Follow(ctx, "thing", func(_ context.Context, bodies []string) { heard <- bodies })
		if !<-leads || <-heard != nil {
			t.Error("it does not begin to lead, or to look")
		}
		testkit.Must(t, st.Tx(ctx, "change", func(ctx context.Context) error { return c.Publish(ctx, "thing", "a") }))
		if got := <-heard; len(got) != 1 || got[0] != "a" {
			t.Errorf("heard %q", got)
		}
		if err := c.Publish(ctx, "thing", strings.Repeat("a", cluster.MaxNews+1)); err == nil {
			t.Error("news of any length are taken")
		}
		testkit.Must(t, cluster.SetDrain(ctx, st, "only.one", true))
		testkit.Must(t, c.Refresh(ctx))
		if state, _ := stateOf(t, st, "only.one"); <-leads || state != cluster.Draining || c.Ready() == nil || !c.Draining() {
			t.Errorf("it is asked to drain: state %s, ready %v", state, c.Ready())
		}
		testkit.Must(t, cluster.SetDrain(ctx, st, "only.one", false))
		testkit.Must(t, c.Refresh(ctx))
		if !<-leads || c.Ready() != nil {
			t.Error("it does not work again")
		}
		stop()
		<-leads
		<-done
		if err := cluster.SetDrain(t.Context(), st, "nobody", true); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
			t.Errorf("an unknown node drains: %v", err)
		}
		c.Close()
		if state, _ := stateOf(t, st, "only.one"); state != cluster.Stopped {
			t.Errorf("after its end it is %s", state)
		}
		again := open(t, cluster.Config{Store: st, ID: "only.one"})
		if again.Epoch() != 2 || again.Draining() {
			t.Errorf("epoch %d, draining %v", again.Epoch(), again.Draining())
		}
	})
}

// TestBadInput: what cannot be right is refused, and the error names the setting.
func TestBadInput(t *testing.T) {
	sqlite := testkit.OpenStore(t, testkit.SQLiteConfig(t), cluster.Migrations())
	for name, c := range map[string]struct {
		cfg  cluster.Config
		want string
	}{
		"no id":       {cluster.Config{Store: sqlite}, "id of a node"},
		"odd id":      {cluster.Config{Store: sqlite, ID: "a b"}, "dots, dashes"},
		"long id":     {cluster.Config{Store: sqlite, ID: strings.Repeat("a", 65)}, "1 to 64"},
		"SQLite only": {cluster.Config{Store: sqlite, ID: "a", Shared: true}, "replicas = false"},
	} {
		if opened, err := cluster.Open(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, opened, err)
		}
	}
}

// TestSameID: a second core with the id of one that runs is refused, and told where the other is.
func TestSameID(t *testing.T) {
	url := testkit.Postgres(t)
	open(t, cluster.Config{Store: testkit.SharedStore(t, url), ID: "a", Shared: true, Lease: longLease, Beat: beat})
	_, err := cluster.Open(t.Context(), cluster.Config{Store: testkit.SharedStore(t, url), ID: "a", Shared: true, Lease: lease, Beat: beat})
	if !errors.Is(err, cluster.ErrNodeTaken) || !strings.Contains(err.Error(), "SVC_NODE_ID") {
		t.Errorf("a second node a: %v", err)
	}
}

// TestNews: what a node publishes is heard by the others, in order, and only on its topic.
func TestNews(t *testing.T) {
	a, b, _ := openPair(t)
	awaitNews(t, a, b)
	sub := b.Subscribe("mail/")
	defer sub.Close()
	const count = 50 // a subscriber takes as many at once
	go func() {
		for i := range count {
			_ = a.Publish(t.Context(), "mail/arrived", strings.Repeat("x", 20*i))
			_ = a.Publish(t.Context(), "other", "not for b")
		}
	}()
	for i := range count {
		if ev := <-sub.Events(); ev.Type != "mail/arrived" || ev.Lagged || len(ev.Data.(string)) != 20*i {
			t.Fatalf("heard %+v as number %d", ev, i)
		}
	}
}

// TestNewsAfterABreak: a follower whose connection was ended is told to look by itself, and hears news again.
func TestNewsAfterABreak(t *testing.T) {
	a, b, st := openPair(t)
	awaitNews(t, a, b)
	sub := b.Subscribe("thing")
	defer sub.Close()
	for range 3 {
		testkit.Must(t, a.Publish(t.Context(), "thing", "1"))
		if ev := <-sub.Events(); ev.Data != "1" {
			t.Fatalf("heard %+v", ev)
		}
		testkit.Execute(t, st, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'patchbay news'
			AND datname = current_database()`)
		if ev := <-sub.Events(); !ev.Lagged {
			t.Fatalf("heard %+v, not that news may be lost", ev)
		}
	}
}

// awaitNews waits until b hears what a publishes.
func awaitNews(t *testing.T, a, b *cluster.Cluster) {
	t.Helper()
	sub := b.Subscribe("probe")
	defer sub.Close()
	testkit.Eventually(t, patience, func() bool {
		testkit.Must(t, a.Publish(t.Context(), "probe", ""))
		select {
		case ev := <-sub.Events():
			return !ev.Lagged
		default:
			return false
		}
	}, "b hears a")
}

// TestLeadMoves: a role is held by one node, and by another when that one drains, stops, or leaves it.
func TestLeadMoves(t *testing.T) {
	a, b, st := openPair(t)
	var inside, twice atomic.Int64
	leads := make(chan string)
	lead := func(c *cluster.Cluster) func() {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() {
			c.Lead(ctx, "work", func(ctx context.Context) error {
				if inside.Add(1) > 1 {
					twice.Add(1)
				}
				defer inside.Add(-1)
				select {
				case leads <- c.ID():
				case <-ctx.Done():
				}
				<-ctx.Done()
				return nil
			})
			close(done)
		}()
		return func() { stop(); <-done }
	}
	stopA := lead(a)
	if who := <-leads; who != "a" {
		t.Fatalf("%s leads", who)
	}
	stopB := lead(b)
	if _, roles := stateOf(t, st, "a"); len(roles) != 1 || roles[0] != "work" {
		t.Errorf("the roles of a are %q", roles)
	}
	testkit.Must(t, cluster.SetDrain(t.Context(), st, "a", true))
	if who := <-leads; who != "b" {
		t.Errorf("while a drains, %s leads", who)
	}
	testkit.Must(t, cluster.SetDrain(t.Context(), st, "a", false))
	testkit.Eventually(t, patience, func() bool { return a.Ready() == nil }, "a takes work again")
	stopB()
	if who := <-leads; who != "a" {
		t.Errorf("after b has left, %s leads", who)
	}
	stopA()
	if twice.Load() > 0 {
		t.Errorf("two nodes led at once, %d times", twice.Load())
	}
}

// TestCutOff: a node that does not reach the database ends its work before others take it over, and begins anew, in another epoch, when it
// reaches it again.
func TestCutOff(t *testing.T) {
	url := testkit.Postgres(t)
	line := testkit.NewLine(t, url)
	ended := make(chan string, 1)
	// Three seconds lie between the end of its work and that of its lease.
	a := open(t, cluster.Config{Store: testkit.SharedStore(t, line.URL), ID: "a", Shared: true, Lease: 9 * time.Second, Beat: beat})
	st := testkit.SharedStore(t, url)
	open(t, cluster.Config{Store: st, ID: "b", Shared: true, Lease: longLease, Beat: beat, Ended: func(_ context.Context, node string) error {
		ended <- node
		return nil
	}})
	alive, epoch := a.Alive()
	line.Cut(true)
	<-alive.Done()
	if len(ended) > 0 || a.Ready() == nil {
		t.Errorf("it was taken for dead while it worked, or takes requests: %v", a.Ready())
	}
	if got := <-ended; got != "a" {
		t.Errorf("%s was taken for dead", got)
	}
	if state, _ := stateOf(t, st, "a"); state != cluster.Lost {
		t.Errorf("its state is %s", state)
	}
	line.Cut(false)
	testkit.Eventually(t, patience, func() bool { again, now := a.Alive(); return again.Err() == nil && now > epoch }, "it works in another epoch")
	err := a.Fence(t.Context(), epoch)
	if !errors.Is(err, cluster.ErrFenced) || a.Fence(t.Context(), a.Epoch()) != nil {
		t.Errorf("what it writes for its former epoch: %v", err)
	}
}

// TestShortOutage: a database that is away for less than the patience of a node ends nothing.
func TestShortOutage(t *testing.T) {
	line := testkit.NewLine(t, testkit.Postgres(t))
	c := open(t, cluster.Config{Store: testkit.SharedStore(t, line.URL), ID: "a", Shared: true, Lease: longLease, Beat: beat})
	alive, epoch := c.Alive()
	line.Cut(true)
	hanging, cancel := context.WithTimeout(t.Context(), 2*beat)
	defer cancel()
	if err := c.Refresh(hanging); err == nil {
		t.Error("the database answers through a line that was cut")
	}
	line.Cut(false)
	testkit.Eventually(t, patience, func() bool { return c.Refresh(t.Context()) == nil }, "the database answers")
	if _, now := c.Alive(); now != epoch || alive.Err() != nil {
		t.Errorf("epoch %d after %d, %v", now, epoch, alive.Err())
	}
}
