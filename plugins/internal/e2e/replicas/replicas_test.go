package replicas

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestTokens: what one core knows of tokens, all know within a moment.
func TestTokens(t *testing.T) {
	cores := startCores(t, newSetup(t), 3)
	token := knownToken(t, cores)
	began := time.Now()
	if a := cores[1].Send(t, kit.Request{Method: http.MethodDelete, Path: "/search/api/tokens/" + strings.Split(token, "-")[1]}); a.Status/100 != 2 {
		t.Fatalf("delete the token: %d %s", a.Status, a.Body)
	}
	for _, c := range cores {
		kit.Eventually(t, 3*time.Second, "the token is gone", func() bool {
			return c.Post(t, token, "search", `{"query":"plugin"}`).Status == http.StatusUnauthorized
		})
	}
	t.Logf("all cores refuse it after %s", time.Since(began))
}

// TestQuota: a limit of 50 admits 50 requests over three cores, and no more when one is killed meanwhile.
func TestQuota(t *testing.T) {
	s := newSetup(t)
	cores := startCores(t, s, 3)
	for range choose(200, 2) {
		if admitted, refused := spendAtOnce(t, cores, limitedToken(t, cores), nil); admitted != 50 || refused != 70 {
			t.Errorf("%d admitted, %d refused", admitted, refused)
		}
	}
	for range choose(10, 1) {
		admitted, _ := spendAtOnce(t, cores, limitedToken(t, cores), cores[2].Kill)
		if admitted > 50 {
			t.Errorf("%d admitted", admitted)
		}
		cores[2].Start()
	}
}

// limitedToken makes a token for 50 requests an hour.
func limitedToken(t *testing.T, cores []*kit.Core) string {
	t.Helper()
	return knownToken(t, cores, "-requests-hour", "50")
}

// spendAtOnce sends 40 searches to each of three cores at once. When kill is given, it is called in the middle, and searches may fail.
func spendAtOnce(t *testing.T, cores []*kit.Core, token string, kill func()) (admitted, refused int64) {
	t.Helper()
	var ok, no, answered atomic.Int64
	var all sync.WaitGroup
	for _, c := range cores {
		for range 40 {
			all.Go(func() {
				a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"plugin"}`})
				answered.Add(1)
				switch {
				case err != nil && kill != nil:
				case err == nil && a.Status == http.StatusOK:
					ok.Add(1)
				case err == nil && a.Status == http.StatusTooManyRequests:
					no.Add(1)
				default:
					t.Errorf("status %d: %s, %v", a.Status, a.Body, err)
				}
			})
		}
	}
	if kill != nil {
		kit.Eventually(t, kit.StartWithin, "some are answered", func() bool { return answered.Load() >= 20 })
		kill()
	}
	all.Wait()
	return ok.Load(), no.Load()
}

// TestMailWakes: a message that one core takes in wakes a client that waits at another.
func TestMailWakes(t *testing.T) {
	cores := startCores(t, newSetup(t), 3)
	box := cores[0].CLI("mailbox", "create")
	woken := make(chan kit.Answer, 1)
	go func() {
		woken <- cores[0].Send(t, kit.Request{Method: http.MethodGet, Path: "/mail/api/messages?wait=30&mailbox=" + box})
	}()
	cores[2].SendMail(box, "Subject: Hello", "Your code is 123456.")
	sent := time.Now()
	a := <-woken
	if took := time.Since(sent); a.Status != http.StatusOK || !strings.Contains(a.Body, "Hello") || took > 15*time.Second {
		t.Errorf("after %s: %d %s", took, a.Status, a.Body)
	} else {
		t.Logf("woken after %s", took)
	}
}

// TestComeback: a core that was killed is shown as lost, and comes back under its name.
func TestComeback(t *testing.T) {
	t.Parallel() // it waits for a lease to end
	cores := startCores(t, newSetup(t), 3)
	token := knownToken(t, cores)
	cores[1].Kill()
	kit.Eventually(t, 40*time.Second, "the killed core is lost", func() bool { return nodeState(t, cores[0], "core-2") == "lost" })
	cores[1].Start()
	cores[1].Search(t, token, http.StatusOK)
	for _, id := range []string{"core-1", "core-2", "core-3"} {
		if state := nodeState(t, cores[0], id); state != "running" {
			t.Errorf("%s is %s", id, state)
		}
	}
}

// TestRefusals: what several cores may not differ in is refused with the name of the setting.
func TestRefusals(t *testing.T) {
	s := newSetup(t)
	url := fmt.Sprintf("url = %q", s.url)
	start(t, s.newCore(t, "core-1", url))
	keyless, another := s, s
	keyless.env, another.env = nil, []string{kit.NewMasterKey()}
	alone := s.newCore(t, "core-2", url)
	alone.Env = append(alone.Env, "SVC_REPLICAS=false")
	late := newSetup(t)
	setClockBack(t, late)
	for name, tt := range map[string]struct {
		core *kit.Core
		want string
	}{
		"a clock that is ahead": {late.newCore(t, "core-1", fmt.Sprintf("url = %q", late.url)), "the clock of this machine is 1h0m0s ahead"},
		"another master key":    {another.newCore(t, "core-2", url), "secret_key"},
		"no master key":         {keyless.newCore(t, "core-2", url), "secret_key"},
		"the same id":           {s.newCore(t, "core-1", url), "node_id"},
		"no replicas":           {alone, "replicas"},
	} {
		out := tt.core.Run("", "serve")
		if out.Status == 0 || !strings.Contains(out.Stderr, tt.want) {
			t.Errorf("%s: %d, %s", name, out.Status, kit.LastLines(out.Stderr, 5))
		}
	}
}

// setClockBack makes the clock of a database an hour late, as its cores see it.
func setClockBack(t *testing.T, s setup) {
	t.Helper()
	_, err := openDatabase(t, s).Exec(`CREATE SCHEMA late;
		CREATE FUNCTION late.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() - interval '1 hour' $$;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, late, pg_catalog', current_database()); END $$`)
	kit.Must(t, err)
}
