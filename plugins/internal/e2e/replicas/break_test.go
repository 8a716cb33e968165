package replicas

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// nodeState returns the state of a node as another core tells it.
func nodeState(t *testing.T, c *kit.Core, id string) string {
	t.Helper()
	list := kit.Decode[struct{ Nodes []struct{ ID, State string } }](t, c.CLI("node", "list", "-json"))
	for _, n := range list.Nodes {
		if n.ID == id {
			return n.State
		}
	}
	return ""
}

// isReady reports whether a core takes part, as its own /readyz says.
func isReady(c *kit.Core) bool {
	resp, err := kit.HTTPClient.Get(c.Admin + "/readyz")
	return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// TestKills kills one of three cores under load, again and again: only searches fail that were in flight there, no question does, no
// mail is lost.
func TestKills(t *testing.T) {
	s := newSetup(t)
	cores, l := startUnderLoad(t, s)
	kills := choose(20, 3)
	for round := range kills {
		victim := cores[round%3]
		l.after(50)
		before, _ := l.failures()
		victim.Kill()
		l.after(100)
		victim.Start()
		failed, failedGets := l.failures()
		if lost := failed[len(before):]; len(lost) > posters {
			t.Errorf("kill %d: %d searches failed, and at most %d were in flight:\n%s", round, len(lost), posters, strings.Join(lost, "\n"))
		}
		if len(failedGets) > 0 {
			t.Fatalf("kill %d: questions failed:\n%s", round, strings.Join(failedGets, "\n"))
		}
	}
	l.stop()
	failed, _ := l.failures()
	t.Logf("%d searches failed", len(failed))
	// The audit is written every few milliseconds: what a killed core had answered last may lack.
	expectBooks(t, s, l, int64(kills*posters))
}

// expectBooks compares what the audit says with what was asked; so many rows may lack.
func expectBooks(t *testing.T, s setup, l *load, lacking int64) {
	t.Helper()
	db := openDatabase(t, s)
	failed, _ := l.failures()
	answered := l.posts.Load() - int64(len(failed))
	var audited, open int64
	kit.Eventually(t, 10*time.Second, "no request is open in the audit", func() bool {
		kit.Must(t, db.QueryRow(`SELECT count(*) FILTER (WHERE outcome IN (1, 4)), count(*) FILTER (WHERE outcome = 0) FROM search_requests`).
			Scan(&audited, &open))
		return open == 0
	})
	if audited < answered-lacking || audited > l.posts.Load() {
		t.Errorf("the audit has %d searches that were successful or interrupted; %d of %d were answered", audited, answered, l.posts.Load())
	}
}

// TestRollingRestart restarts the cores one after the other under load: nothing fails.
func TestRollingRestart(t *testing.T) {
	s := newSetup(t)
	cores, l := startUnderLoad(t, s)
	for range choose(3, 1) {
		for i, c := range cores {
			l.after(50)
			cores[(i+1)%3].CLI("node", "drain", fmt.Sprintf("core-%d", i+1))
			kit.Eventually(t, kit.StartWithin, "the core drains", func() bool { return !isReady(c) })
			c.Stop()
			l.after(50)
			c.Start()
		}
	}
	l.stop()
	if failed, failedGets := l.failures(); len(failed)+len(failedGets) > 0 {
		t.Errorf("%d searches and %d questions failed:\n%s", len(failed), len(failedGets), strings.Join(append(failed, failedGets...), "\n"))
	}
	expectBooks(t, s, l, 0)
}

// TestPause stops a core as a machine that is suspended: the others take over, and it takes part again.
func TestPause(t *testing.T) {
	t.Parallel() // it waits for a lease to end
	cores := startCores(t, newSetup(t), 3)
	token := knownToken(t, cores, "-requests-hour", "60")
	spend := func(c *kit.Core) (ok bool) {
		a := c.Post(t, token, "search", `{"query":"plugin"}`)
		if a.Status != http.StatusOK && a.Status != http.StatusTooManyRequests {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.Status == http.StatusOK
	}
	admitted := 0
	for i := range 30 {
		if spend(cores[i%3]) {
			admitted++
		}
	}
	cores[1].Signal(syscall.SIGSTOP)
	defer cores[1].Signal(syscall.SIGCONT)
	kit.Eventually(t, 30*time.Second, "the paused core is lost", func() bool { return nodeState(t, cores[0], "core-2") == "lost" })
	for i := range 20 {
		if spend(cores[2*(i%2)]) {
			admitted++
		}
	}
	cores[1].Signal(syscall.SIGCONT)
	kit.Eventually(t, 30*time.Second, "the paused core takes part again", func() bool {
		return isReady(cores[1]) && nodeState(t, cores[0], "core-2") == "running"
	})
	for i := range 60 {
		if spend(cores[i%3]) {
			admitted++
		}
	}
	if admitted > 60 || admitted < 55 {
		t.Errorf("%d of 60 admitted", admitted)
	}
}

// TestLostConnections ends each connection of the cores to the database, several times, under load: what was in flight may fail, and
// everything goes on.
func TestLostConnections(t *testing.T) {
	s := newSetup(t)
	db := openDatabase(t, s)
	cores, l := startUnderLoad(t, s)
	for range choose(10, 2) {
		l.after(50)
		_, err := db.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		kit.Must(t, err)
	}
	l.after(50)
	failed, failedGets := l.failures()
	t.Logf("%d searches and %d questions failed", len(failed), len(failedGets))
	l.after(100)
	if after, afterGets := l.failures(); len(after) > len(failed) || len(afterGets) > len(failedGets) {
		t.Errorf("requests still fail:\n%s", strings.Join(append(after[len(failed):], afterGets[len(failedGets):]...), "\n"))
	}
	l.stop()
	for i, c := range cores {
		if !isReady(c) || nodeState(t, c, fmt.Sprintf("core-%d", i+1)) != "running" {
			t.Errorf("core-%d does not take part", i+1)
		}
	}
	expectBooks(t, s, l, 0)
}

// link is a connection to the database that can be cut.
type link struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

// newLink returns a way to the database, and its URL.
func newLink(t *testing.T, database string) (link, string) {
	t.Helper()
	u, err := url.Parse(database)
	kit.Must(t, err)
	p := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), t.Name(), "127.0.0.1:0", u.Host)
	kit.Must(t, p.Start())
	t.Cleanup(p.Stop)
	u.Host = p.Listen
	return link{t, p}, u.String()
}

// cut lets nothing through in the directions until the function that it returns is called.
func (l link) cut(directions ...string) (mend func()) {
	l.t.Helper()
	for _, d := range directions {
		_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
			`{"name":"cut-%s","type":"timeout","stream":"%s","attributes":{"timeout":0}}`, d, d)))
		kit.Must(l.t, err)
	}
	return func() { l.proxy.Toxics.ResetToxics(context.Background()) }
}

// TestCut cuts one core off its database, in each direction: it says so, the others go on, and it takes part again.
func TestCut(t *testing.T) {
	s := newSetup(t)
	cores := startCores(t, s, 2)
	way, through := newLink(t, s.url)
	cores = append(cores, start(t, s.newCore(t, "core-3", fmt.Sprintf("url = %q", through))))
	token := knownToken(t, cores)
	for _, directions := range [][]string{{"upstream", "downstream"}, {"upstream"}, {"downstream"}} {
		mend := way.cut(directions...)
		kit.Eventually(t, 30*time.Second, "the core says that it is cut off", func() bool { return !isReady(cores[2]) })
		if isWhole || len(directions) == 2 {
			kit.Eventually(t, 30*time.Second, "the core is lost", func() bool { return nodeState(t, cores[0], "core-3") == "lost" })
		}
		cores[0].Search(t, token, http.StatusOK)
		mend()
		kit.Eventually(t, 30*time.Second, "the core takes part again", func() bool {
			return isReady(cores[2]) && nodeState(t, cores[0], "core-3") == "running"
		})
		cores[2].Search(t, token, http.StatusOK)
	}
}

// TestDeafCore cuts the connection on which a core hears of the others: it still learns what changes, within some seconds.
func TestDeafCore(t *testing.T) {
	s := newSetup(t)
	cores := startCores(t, s, 1)
	way, through := newLink(t, s.url)
	cores = append(cores, start(t, s.newCore(t, "core-2", fmt.Sprintf("url = %q", s.url), fmt.Sprintf("direct_url = %q", through))))
	way.cut("downstream")
	token := knownToken(t, cores)
	began := time.Now()
	cores[0].CLI("token", "delete", strings.Split(token, "-")[1])
	kit.Eventually(t, 3*time.Second, "the token is gone", func() bool {
		return cores[1].Post(t, token, "search", `{"query":"plugin"}`).Status == http.StatusUnauthorized
	})
	t.Logf("after %s", time.Since(began))
}
