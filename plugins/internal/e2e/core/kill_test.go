package core

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

func TestKilledPluginAnswersAgainWithinASecond(t *testing.T) {
	up := kit.StartUpstream(t, "-no-history")
	for _, backend := range []string{"search.web", "search.docs"} {
		t.Run(backend, func(t *testing.T) {
			c := kit.LocalCore(t, bothHCL(up.URL, backend))
			c.Start()
			t.Cleanup(c.Stop)
			c.AddKeys("key-one")
			token := c.Token()
			c.Search(t, token, http.StatusOK)
			l := kit.StartLoad(c, token, 16)
			l.After(t, 200)
			for _, pid := range c.Plugins() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			killed := time.Now()
			kit.Eventually(t, 5*time.Second, "the plugin answers again", func() bool {
				a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"plugin"}`})
				return err == nil && a.Status == http.StatusOK
			})
			took := time.Since(killed)
			if took > kit.Slower(time.Second) {
				t.Errorf("it took %s until the plugin answered again", took)
			}
			l.After(t, 200)
			failedBy := len(l.Failures())
			l.After(t, 500)
			if n := len(l.Failures()); n != failedBy {
				t.Errorf("%d requests failed after the plugin was back", n-failedBy)
			}
			for _, outcome := range l.Failures() {
				if !strings.HasPrefix(outcome, "502 ") || !strings.Contains(outcome, "plugin_unavailable") {
					t.Errorf("an answer: %s", outcome)
				}
			}
			l.Stop()
			t.Logf("%d of %d requests of 16 clients failed, next answer after %s", len(l.Failures()), l.Answered.Load(), took)
			c.Records(t, kit.Storage{}).Balanced(c, token)
		})
	}
}

func TestRequestInAKilledPluginFailsAlone(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "")
	up.Script(kit.Scripted{Fault: "hang"})
	ended := make(chan kit.Answer, 1)
	go func() {
		a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`})
		if err != nil {
			t.Error(err)
		}
		ended <- a
	}()
	up.Received(1)
	pid := c.Plugins()[0]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a := <-ended
	a.Refused(t, http.StatusBadGateway, "plugin_unavailable")
	kit.Eventually(t, time.Second, "the plugin answers again", func() bool {
		return c.Post(t, token, "search", `{"query":"q"}`).Status == http.StatusOK
	})
	db := c.Records(t, kit.Storage{})
	if row := db.Audit(a.Header.Get("X-Request-Id")); row.Outcome != kit.OutcomeFailure || row.Status != 502 || row.Credits != 1 ||
		row.Code != "plugin_unavailable" {
		t.Errorf("audit row %+v", row)
	}
	if state := db.Text("SELECT state FROM search_keys"); state != "active" {
		t.Errorf("the key is %s", state)
	}
	db.Balanced(c, token)
}

func TestKilledCoreLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.LocalCore(t, bothHCL(up.URL, "search.web"))
	c.Start()
	pids := c.Plugins()
	if len(pids) != 2 {
		t.Fatalf("%d plugin processes run, want 2", len(pids))
	}
	killedDirs := socketDirs(c)
	if len(killedDirs) != 1 {
		t.Fatalf("the core has the socket directories %q, want one", killedDirs)
	}
	c.Kill()
	killed := time.Now()
	kit.Eventually(t, 2*time.Second, "the plugins are gone", func() bool {
		for _, pid := range pids {
			if kit.IsAlive(pid) {
				return false
			}
		}
		return true
	})
	t.Logf("the plugins were gone %s after the core", time.Since(killed).Round(time.Millisecond))
	if left := socketDirs(c); !slices.Equal(left, killedDirs) {
		t.Fatalf("the killed core leaves the socket directories %q, want %q", left, killedDirs)
	}
	c.Start()
	t.Cleanup(c.Stop)
	if dirs := socketDirs(c); len(dirs) != 1 || dirs[0] == killedDirs[0] {
		t.Errorf("the next core has the socket directories %q, want one other than %q", dirs, killedDirs)
	}
	c.Stop()
	if left := socketDirs(c); len(left) != 0 {
		t.Errorf("the socket directories %q are left after an ordinary end", left)
	}
	for _, pid := range c.Plugins() {
		t.Errorf("the plugin %d is left after an ordinary end", pid)
	}
}

// TestKilledCoreKeepsItsBooks kills the core in the middle of a thousand concurrent requests of which 300 get a quick
// answer, and the others none.
func TestKilledCoreKeepsItsBooks(t *testing.T) {
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		const all, quick = 1000, 300
		up := kit.StartUpstream(t)
		c := kit.StartCore(t, s.HCL+kit.WebHCL(up.URL, "", "limits {\n requests_hour = 5000\n credits_hour = 1700\n credits_day = 5000\n }"))
		c.AddKeys("key-one")
		token := c.Token()
		up.Script(kit.Scripted{Times: quick, DelayMS: 20}, kit.Scripted{Times: -1, DelayMS: 60_000})
		var answered atomic.Int64
		var wg sync.WaitGroup
		for range all {
			wg.Go(func() {
				if a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`}); err == nil && a.Status == http.StatusOK {
					answered.Add(1)
				}
			})
		}
		db := c.Records(t, s)
		kit.Eventually(t, 20*time.Second, "all requests are on their way", func() bool {
			return answered.Load() == quick && db.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 1") == quick &&
				db.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 0") == all-quick
		})
		c.Kill()
		wg.Wait()
		up.Reset()
		c.Start()
		open := db.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 0")
		interrupted := db.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 4 AND error_code = 'interrupted'")
		if open != 0 || interrupted != all-quick || db.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 4") != interrupted {
			t.Errorf("%d rows are open, %d interrupted", open, interrupted)
		}
		kit.Contains(t, c.Logs(), "requests interrupted")
		used := db.Balanced(c, token)
		// Nobody saw the end of the interrupted calls, so they cost what they had reserved.
		if used.HourlyRequests != all || used.HourlyCredits != all {
			t.Errorf("usage %+v", used)
		}
		// All that is not used is free: no reservation is left.
		if a := c.Post(t, token, "map", `{"url":"https://example.org","limit":7000}`); a.Status != http.StatusOK {
			t.Errorf("what is left cannot be used: %d %s", a.Status, a.Body)
		}
		c.Post(t, token, "map", `{"url":"https://example.org","limit":7000}`).Refused(t, http.StatusTooManyRequests, "quota_exhausted")
		db.Balanced(c, token)
		t.Logf("%d answered, %d interrupted, %d credits in audit, counters and usage", answered.Load(), interrupted, used.HourlyCredits)
	})
}

// TestKilledCoreUnderLoadKeepsItsBooks kills the core at no particular moment, several times.
func TestKilledCoreUnderLoadKeepsItsBooks(t *testing.T) {
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		up := kit.StartUpstream(t, "-no-history")
		c := kit.StartCore(t, s.HCL+kit.WebHCL(up.URL, "", kit.EndlessLimits))
		c.AddKeys("key-one")
		token := c.Token()
		db := c.Records(t, s)
		for range 3 {
			l := kit.StartLoad(c, token, 32)
			l.After(t, 500)
			c.Kill()
			l.Stop()
			c.Start()
			db.Balanced(c, token)
		}
	})
}

func TestTermLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", kit.RoomyLimits)
	up.Script(kit.Scripted{Times: -1, DelayMS: 1500})
	var wg sync.WaitGroup
	const clients = 20
	answers := make([]kit.Answer, clients)
	for i := range clients {
		wg.Go(func() {
			a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`})
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	up.Received(clients)
	c.Signal(syscall.SIGTERM)
	c.Logged("shutting down")
	kit.Eventually(t, time.Second, "new connections are refused", func() bool {
		_, err := c.Try(kit.Request{Method: http.MethodGet, Path: "/search/health"})
		return err != nil
	})
	wg.Wait()
	for _, a := range answers {
		if a.Status != http.StatusOK {
			t.Errorf("a request that was under way got %d %s", a.Status, a.Body)
		}
	}
	if status := waitForExit(c, 10*time.Second); status != 0 {
		t.Errorf("exit status %d", status)
	}
	db := c.Records(t, kit.Storage{})
	if n := db.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 1 AND credits = 1"); n != clients {
		t.Errorf("%d rows say success, want %d", n, clients)
	}
}

func TestTermCutsWhatDoesNotFinish(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.StartCore(t, "core {\n  drain = \"1s\"\n}\n"+kit.WebHCL(up.URL, "", ""))
	c.AddKeys("key-one")
	token := c.Token()
	up.Script(kit.Scripted{Fault: "hang"})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`})
		ended <- err
	}()
	up.Received(1)
	began := time.Now()
	c.Signal(syscall.SIGTERM)
	if status := waitForExit(c, 10*time.Second); status != 0 {
		t.Errorf("exit status %d", status)
	}
	kit.Contains(t, c.Logs(), "requests cut off at the drain timeout")
	if took := time.Since(began); took < 900*time.Millisecond || took > kit.Slower(5*time.Second) {
		t.Errorf("it took %s", took)
	}
	if err := <-ended; err == nil {
		t.Error("the request that was cut off was answered")
	}
	c.Start()
	db := c.Records(t, kit.Storage{})
	if used := db.Balanced(c, token); used.HourlyRequests != 1 || used.HourlyCredits != 1 {
		t.Errorf("usage %+v", used)
	}
}
