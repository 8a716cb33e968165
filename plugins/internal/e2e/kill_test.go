package e2e

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestKilledPluginAnswersAgainWithinASecond(t *testing.T) {
	up := startUpstream(t, "-no-history")
	for _, backend := range []string{"search.web", "search.docs"} {
		t.Run(backend, func(t *testing.T) {
			c := localCore(t, bothHCL(up.url, backend))
			c.start()
			t.Cleanup(c.stop)
			c.addKeys("key-one")
			token := c.token()
			c.search(t, token, http.StatusOK)
			l := startLoad(c, token, 16)
			l.after(t, 200)
			for _, pid := range c.plugins() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			killed := time.Now()
			eventually(t, 5*time.Second, "the plugin answers again", func() bool {
				a, err := c.try(request{path: "search", token: token, body: `{"query":"plugin"}`})
				return err == nil && a.status == http.StatusOK
			})
			took := time.Since(killed)
			if took > slower(time.Second) {
				t.Errorf("it took %s until the plugin answered again", took)
			}
			l.after(t, 200)
			failedBy := len(l.failures())
			l.after(t, 500)
			if n := len(l.failures()); n != failedBy {
				t.Errorf("%d requests failed after the plugin was back", n-failedBy)
			}
			for _, outcome := range l.failures() {
				if !strings.HasPrefix(outcome, "502 ") || !strings.Contains(outcome, "plugin_unavailable") {
					t.Errorf("an answer: %s", outcome)
				}
			}
			l.stop()
			t.Logf("%d of %d requests of 16 clients failed, next answer after %s", len(l.failures()), l.answered.Load(), took)
			c.records(t, storage{}).balanced(c, token)
		})
	}
}

func TestRequestInAKilledPluginFailsAlone(t *testing.T) {
	t.Parallel()
	c, up, token := startWeb(t, "", "")
	up.script(scripted{Fault: "hang"})
	ended := make(chan answer, 1)
	go func() {
		a, err := c.try(request{path: "search", token: token, body: `{"query":"q"}`})
		if err != nil {
			t.Error(err)
		}
		ended <- a
	}()
	up.received(1)
	pid := c.plugins()[0]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a := <-ended
	a.refused(t, http.StatusBadGateway, "plugin_unavailable")
	eventually(t, time.Second, "the plugin answers again", func() bool {
		return c.post(t, token, "search", `{"query":"q"}`).status == http.StatusOK
	})
	db := c.records(t, storage{})
	if row := db.audit(a.header.Get("X-Request-Id")); row.outcome != outcomeFailure || row.status != 502 || row.credits != 1 ||
		row.code != "plugin_unavailable" {
		t.Errorf("audit row %+v", row)
	}
	if state := db.text("SELECT state FROM search_keys"); state != "active" {
		t.Errorf("the key is %s", state)
	}
	db.balanced(c, token)
}

func TestKilledCoreLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	up := startUpstream(t)
	c := localCore(t, bothHCL(up.url, "search.web"))
	c.start()
	pids := c.plugins()
	if len(pids) != 2 {
		t.Fatalf("%d plugin processes run, want 2", len(pids))
	}
	killedDirs := c.socketDirs()
	if len(killedDirs) != 1 {
		t.Fatalf("the core has the socket directories %q, want one", killedDirs)
	}
	c.kill9()
	killed := time.Now()
	eventually(t, 2*time.Second, "the plugins are gone", func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	})
	t.Logf("the plugins were gone %s after the core", time.Since(killed).Round(time.Millisecond))
	if left := c.socketDirs(); !slices.Equal(left, killedDirs) {
		t.Fatalf("the killed core leaves the socket directories %q, want %q", left, killedDirs)
	}
	c.start()
	t.Cleanup(c.stop)
	if dirs := c.socketDirs(); len(dirs) != 1 || dirs[0] == killedDirs[0] {
		t.Errorf("the next core has the socket directories %q, want one other than %q", dirs, killedDirs)
	}
	c.stop()
	if left := c.socketDirs(); len(left) != 0 {
		t.Errorf("the socket directories %q are left after an ordinary end", left)
	}
	for _, pid := range c.plugins() {
		t.Errorf("the plugin %d is left after an ordinary end", pid)
	}
}

// TestKilledCoreKeepsItsBooks kills the core in the middle of a thousand concurrent requests of which 300 get a quick
// answer, and the others none.
func TestKilledCoreKeepsItsBooks(t *testing.T) {
	eachStorage(t, func(t *testing.T, s storage) {
		const all, quick = 1000, 300
		up := startUpstream(t)
		c := startCore(t, s.hcl+webHCL(up.url, "", "limits {\n requests_hour = 5000\n credits_hour = 1700\n credits_day = 5000\n }"))
		c.addKeys("key-one")
		token := c.token()
		up.script(scripted{Times: quick, DelayMS: 20}, scripted{Times: -1, DelayMS: 60_000})
		var answered atomic.Int64
		var wg sync.WaitGroup
		for range all {
			wg.Go(func() {
				if a, err := c.try(request{path: "search", token: token, body: `{"query":"q"}`}); err == nil && a.status == http.StatusOK {
					answered.Add(1)
				}
			})
		}
		db := c.records(t, s)
		eventually(t, 20*time.Second, "all requests are on their way", func() bool {
			return answered.Load() == quick && db.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 1") == quick &&
				db.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 0") == all-quick
		})
		c.kill9()
		wg.Wait()
		up.reset()
		c.start()
		open := db.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 0")
		interrupted := db.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 4 AND error_code = 'interrupted'")
		if open != 0 || interrupted != all-quick || db.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 4") != interrupted {
			t.Errorf("%d rows are open, %d interrupted", open, interrupted)
		}
		contains(t, c.logs(), "requests interrupted")
		used := db.balanced(c, token)
		// Nobody saw the end of the interrupted calls, so they cost what they had reserved.
		if used.HourlyRequests != all || used.HourlyCredits != all {
			t.Errorf("usage %+v", used)
		}
		// All that is not used is free: no reservation is left.
		if a := c.post(t, token, "map", `{"url":"https://example.org","limit":7000}`); a.status != http.StatusOK {
			t.Errorf("what is left cannot be used: %d %s", a.status, a.body)
		}
		c.post(t, token, "map", `{"url":"https://example.org","limit":7000}`).refused(t, http.StatusTooManyRequests, "quota_exhausted")
		db.balanced(c, token)
		t.Logf("%d answered, %d interrupted, %d credits in audit, counters and usage", answered.Load(), interrupted, used.HourlyCredits)
	})
}

// TestKilledCoreUnderLoadKeepsItsBooks kills the core at no particular moment, several times.
func TestKilledCoreUnderLoadKeepsItsBooks(t *testing.T) {
	eachStorage(t, func(t *testing.T, s storage) {
		up := startUpstream(t, "-no-history")
		c := startCore(t, s.hcl+webHCL(up.url, "", endless))
		c.addKeys("key-one")
		token := c.token()
		db := c.records(t, s)
		for range 3 {
			l := startLoad(c, token, 32)
			l.after(t, 500)
			c.kill9()
			l.stop()
			c.start()
			db.balanced(c, token)
		}
	})
}

func TestTermLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	c, up, token := startWeb(t, "", roomy)
	up.script(scripted{Times: -1, DelayMS: 1500})
	var wg sync.WaitGroup
	const clients = 20
	answers := make([]answer, clients)
	for i := range clients {
		wg.Go(func() {
			a, err := c.try(request{path: "search", token: token, body: `{"query":"q"}`})
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	up.received(clients)
	c.signal(syscall.SIGTERM)
	c.logged("shutting down")
	eventually(t, time.Second, "new connections are refused", func() bool {
		_, err := c.try(request{method: http.MethodGet, path: "/search/health"})
		return err != nil
	})
	wg.Wait()
	for _, a := range answers {
		if a.status != http.StatusOK {
			t.Errorf("a request that was under way got %d %s", a.status, a.body)
		}
	}
	if status := c.wait(10 * time.Second); status != 0 {
		t.Errorf("exit status %d", status)
	}
	db := c.records(t, storage{})
	if n := db.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 1 AND credits = 1"); n != clients {
		t.Errorf("%d rows say success, want %d", n, clients)
	}
}

func TestTermCutsWhatDoesNotFinish(t *testing.T) {
	t.Parallel()
	up := startUpstream(t)
	c := startCore(t, "core {\n  drain = \"1s\"\n}\n"+webHCL(up.url, "", ""))
	c.addKeys("key-one")
	token := c.token()
	up.script(scripted{Fault: "hang"})
	ended := make(chan error, 1)
	go func() {
		_, err := c.try(request{path: "search", token: token, body: `{"query":"q"}`})
		ended <- err
	}()
	up.received(1)
	began := time.Now()
	c.signal(syscall.SIGTERM)
	if status := c.wait(10 * time.Second); status != 0 {
		t.Errorf("exit status %d", status)
	}
	contains(t, c.logs(), "requests cut off at the drain timeout")
	if took := time.Since(began); took < 900*time.Millisecond || took > slower(5*time.Second) {
		t.Errorf("it took %s", took)
	}
	if err := <-ended; err == nil {
		t.Error("the request that was cut off was answered")
	}
	c.start()
	db := c.records(t, storage{})
	if used := db.balanced(c, token); used.HourlyRequests != 1 || used.HourlyCredits != 1 {
		t.Errorf("usage %+v", used)
	}
}
