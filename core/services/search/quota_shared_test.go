package search

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/store"
)

// many is a limit that no test reaches.
const many = 1 << 40

// tryMany makes requests with a token at each node, several at once, and returns how many were let through.
func tryMany(t testing.TB, nodes []*env, token string, each int) int64 {
	t.Helper()
	var admitted atomic.Int64
	var all sync.WaitGroup
	for _, n := range nodes {
		awaitKnown(t, n, token)
		for range each {
			all.Go(func() {
				_, err := n.call(n.svc, idOf(token), "search", `{"query":"q"}`)
				switch {
				case err == nil:
					admitted.Add(1)
				case !strings.Contains(err.Error(), "has used its") && !strings.Contains(err.Error(), "call reserves"):
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	return admitted.Load()
}

// awaitKnown waits until a core knows a token.
func awaitKnown(t testing.TB, e *env, token string) {
	t.Helper()
	testkit.Eventually(t, patience, func() bool { return e.accepts(token) }, "token known")
}

// everyLimit returns limits of 50, by what they limit.
func everyLimit() map[string]access.Limits {
	return map[string]access.Limits{
		"requests of an hour":   {RequestsHour: 50, CreditsHour: many, CreditsDay: many, CreditsMonth: many},
		"requests of a minute":  {RequestsHour: many, CreditsHour: many, CreditsDay: many, CreditsMonth: many, RequestsMinute: 50},
		"credits of an hour":    {RequestsHour: many, CreditsHour: 50, CreditsDay: many, CreditsMonth: many},
		"credits of a day":      {RequestsHour: many, CreditsHour: many, CreditsDay: 50, CreditsMonth: many},
		"credits of a month":    {RequestsHour: many, CreditsHour: many, CreditsDay: many, CreditsMonth: 50},
		"requests, and credits": {RequestsHour: 50, CreditsHour: 50, CreditsDay: 50, CreditsMonth: 50},
	}
}

// TestQuotaOverNodes: three cores together let exactly as much through as one would, whichever limit it is.
func TestQuotaOverNodes(t *testing.T) {
	nodes := newNodes(t, 3)
	for name, limits := range everyLimit() {
		for round := range 8 {
			token := nodes[round%3].token(&limits)
			if got := tryMany(t, nodes, token, 40); got != 50 {
				t.Errorf("%s: %d of 120 requests were let through, the limit is 50", name, got)
			}
			if got := tryMany(t, nodes, token, 1); got != 0 {
				t.Errorf("%s: %d more were let through", name, got)
			}
		}
	}
}

// TestQuotaWithOtherClocks: cores whose clocks differ let exactly as much through as one would, whichever limit it is.
func TestQuotaWithOtherClocks(t *testing.T) {
	url := testkit.Postgres(t)
	var nodes []*env
	for i, ahead := range []time.Duration{-time.Minute, 0, time.Minute, 32 * 24 * time.Hour} {
		nodes = append(nodes, newNode(t, testkit.SharedStore(t, url, Migrations()), fmt.Sprintf("node-%d", i), func(e *env) {
			e.now = func() time.Time { return time.Now().Add(ahead) }
		}))
	}
	for name, limits := range everyLimit() {
		token, admitted := nodes[1].token(&limits), int64(0)
		for _, n := range nodes {
			admitted += tryMany(t, []*env{n}, token, 30)
		}
		if admitted != 50 {
			t.Errorf("%s: %d requests were let through, the limit is 50", name, admitted)
		}
	}
}

// realTime gives a core the clock of this machine.
func realTime(e *env) { e.now = time.Now }

// TestQuotaOfALoneCore: what a core alone has counted is part of what several cores count after it, and the other way round.
func TestQuotaOfALoneCore(t *testing.T) {
	url := testkit.Postgres(t)
	cfg := store.Config{Dialect: store.Postgres, URL: url, Exclusive: true, MigrateWithoutCopy: true}
	limits := access.Limits{RequestsHour: 50, CreditsHour: 50, CreditsDay: 50, CreditsMonth: 50}
	var token string
	t.Run("alone", func(t *testing.T) {
		alone := newEnvOn(t, testkit.OpenStore(t, cfg, cluster.Migrations(), Migrations()), realTime)
		token = alone.token(&limits)
		if got := tryMany(t, []*env{alone}, token, 20); got != 20 {
			t.Errorf("%d of 20 requests were let through", got)
		}
	})
	t.Run("three", func(t *testing.T) {
		var nodes []*env
		for i := range 3 {
			nodes = append(nodes, newNode(t, testkit.SharedStore(t, url, Migrations()), fmt.Sprintf("node-%d", i), realTime))
		}
		if got := tryMany(t, nodes, token, 5); got != 15 {
			t.Errorf("%d of 15 requests were let through", got)
		}
		for _, n := range nodes {
			n.flush()
		}
		for _, n := range nodes {
			testkit.Must(t, n.svc.RefreshUse(t.Context()))
			if u := n.used(n.svc, idOf(token)); u.HourlyRequests != 35 || u.MonthlyCredits != 35 {
				t.Errorf("a core shows %+v", u)
			}
		}
	})
	t.Run("alone again", func(t *testing.T) {
		alone := newEnvOn(t, testkit.OpenStore(t, cfg, cluster.Migrations(), Migrations()), realTime)
		if got := tryMany(t, []*env{alone}, token, 20); got != 15 {
			t.Errorf("%d of 20 requests were let through, 15 are left", got)
		}
	})
}

// envSpender has the token that a process of the test spends, envSpenderURL the database.
const (
	envSpender    = "PATCHBAY_TEST_SPENDER"
	envSpenderURL = "PATCHBAY_TEST_SPENDER_URL"
)

// spendForever is a core that makes requests with a token, and says so after each, until it is killed.
func spendForever(tokenID, url string) error {
	ctx := context.Background()
	st, err := store.Open(ctx, store.Config{Dialect: store.Postgres, URL: url, Shared: true})
	if err != nil {
		return err
	}
	c, err := cluster.Open(ctx, cluster.Config{Store: st, ID: "killed", Shared: true, Lease: time.Second, Beat: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	a := access.New(access.Config{Store: st, Cluster: c, Now: time.Now, Defaults: access.DefaultLimits()})
	if err := a.LoadTokens(ctx, []string{tokenID}); err != nil {
		return err
	}
	if err := a.RestoreCounters(ctx); err != nil {
		return err
	}
	for tok := a.Table().Get(tokenID); ; {
		_, x, err := tok.Reserve(ctx, time.Now(), 1)
		if err != nil {
			return err
		}
		if x == nil {
			fmt.Println("let through")
		}
	}
}

// TestQuotaOfAKilledCore: what a core had taken when it was killed counts as used: the others never let more through than the limit.
func TestQuotaOfAKilledCore(t *testing.T) {
	url := testkit.Postgres(t)
	var nodes []*env
	for i := range 2 {
		nodes = append(nodes, newNode(t, testkit.SharedStore(t, url, Migrations()), fmt.Sprintf("node-%d", i), realTime))
	}
	program, err := os.Executable()
	testkit.Must(t, err)
	for range 3 {
		limits := access.Limits{RequestsHour: 500, CreditsHour: many, CreditsDay: many, CreditsMonth: many}
		token := nodes[0].token(&limits)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), envSpender+"="+idOf(token), envSpenderURL+"="+url)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		testkit.Must(t, err)
		testkit.Must(t, cmd.Start())
		said := bufio.NewScanner(out)
		spent := int64(0)
		for spent < 20 && said.Scan() {
			spent++
		}
		admitted := make(chan int64)
		go func() { admitted <- tryMany(t, nodes, token, 20) }()
		testkit.Must(t, cmd.Process.Kill())
		for said.Scan() {
			spent++
		}
		_ = cmd.Wait()
		others := <-admitted
		for more := int64(1); more > 0; others += more {
			more = tryMany(t, nodes, token, 50)
		}
		if others+spent > 500 || spent < 20 {
			t.Errorf("the killed core let %d through, the others %d; the limit is 500", spent, others)
		}
		t.Logf("the killed core let %d through, the others %d", spent, others)
	}
}

// BenchmarkSharedQuota decides about requests of one token at three cores, for 24 callers.
func BenchmarkSharedQuota(b *testing.B) {
	nodes := newNodes(b, 3)
	token := nodes[0].token(&access.Limits{RequestsHour: many, CreditsHour: many, CreditsDay: many, CreditsMonth: many})
	for _, n := range nodes {
		awaitKnown(b, n, token)
	}
	var next atomic.Int64
	var callers sync.WaitGroup
	b.ResetTimer()
	for i := range 24 {
		n := nodes[i%3]
		callers.Go(func() {
			for tok := n.svc.Table().Get(idOf(token)); next.Add(1) <= int64(b.N); {
				if _, x, err := tok.Reserve(context.Background(), n.clock.Now(), 1); x != nil || err != nil {
					b.Error(x, err)
				}
			}
		})
	}
	callers.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
