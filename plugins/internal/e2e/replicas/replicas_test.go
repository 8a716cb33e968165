package replicas

import (
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
	cores := startCores(t, 3)
	token := cores[0].Token()
	for _, c := range cores {
		kit.Eventually(t, 3*time.Second, "the token is known", func() bool {
			return c.Post(t, token, "search", `{"query":"plugin"}`).Status == http.StatusOK
		})
	}
	id := strings.Split(token, "-")[1]
	cores[1].CLI("token", "delete", id)
	for _, c := range cores {
		kit.Eventually(t, 3*time.Second, "the token is gone", func() bool {
			return c.Post(t, token, "search", `{"query":"plugin"}`).Status == http.StatusUnauthorized
		})
	}
}

// TestQuota: a limit of 50 admits 50 requests over three cores.
func TestQuota(t *testing.T) {
	cores := startCores(t, 3)
	token := cores[0].CLI("token", "create", "-note", "limited", "-requests-hour", "50")
	for _, c := range cores {
		kit.Eventually(t, 3*time.Second, "the token is known", func() bool {
			return c.Send(t, kit.Request{Method: http.MethodGet, Path: "usage", Token: token}).Status == http.StatusOK
		})
	}
	var admitted, refused atomic.Int64
	var all sync.WaitGroup
	for _, c := range cores {
		for range 40 {
			all.Go(func() {
				switch a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"plugin"}`}); {
				case err != nil:
					t.Error(err)
				case a.Status == http.StatusOK:
					admitted.Add(1)
				case a.Status == http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Errorf("status %d: %s", a.Status, a.Body)
				}
			})
		}
	}
	all.Wait()
	if admitted.Load() != 50 || refused.Load() != 70 {
		t.Errorf("%d admitted, %d refused", admitted.Load(), refused.Load())
	}
}

// TestMailWakes: a message that one core takes in wakes a client that waits at another.
func TestMailWakes(t *testing.T) {
	cores := startCores(t, 3)
	box := cores[0].CLI("mailbox", "create")
	woken := make(chan kit.Answer, 1)
	began := time.Now()
	go func() {
		woken <- cores[0].Send(t, kit.Request{Method: http.MethodGet, Path: "/mail/api/messages?wait=30&mailbox=" + box})
	}()
	cores[2].SendMail(box, "Subject: Hello", "Your code is 123456.")
	a := <-woken
	if a.Status != http.StatusOK || !strings.Contains(a.Body, "Hello") || time.Since(began) > 15*time.Second {
		t.Errorf("after %s: %d %s", time.Since(began), a.Status, a.Body)
	}
}

// TestKill: the others go on when one is killed, and it comes back.
func TestKill(t *testing.T) {
	cores := startCores(t, 3)
	token := cores[0].Token()
	cores[1].Kill()
	for _, c := range []*kit.Core{cores[0], cores[2]} {
		kit.Eventually(t, 3*time.Second, "the others serve", func() bool {
			return c.Post(t, token, "search", `{"query":"plugin"}`).Status == http.StatusOK
		})
	}
	kit.Eventually(t, 40*time.Second, "the killed core is lost", func() bool {
		return strings.Contains(cores[0].CLI("node", "list", "-json"), `"state": "lost"`)
	})
	cores[1].Start()
	cores[1].Search(t, token, http.StatusOK)
	if list := cores[0].CLI("node", "list", "-json"); strings.Count(list, `"state": "running"`) != 3 {
		t.Error(list)
	}
}

// TestRefusals: what several cores may not differ in is refused with the name of the setting.
func TestRefusals(t *testing.T) {
	hcl, env := newCluster(t)
	first := kit.LocalCore(t, hcl, append([]string{"SVC_NODE_ID=core-1"}, env...)...)
	first.Start()
	t.Cleanup(first.Stop)
	for name, tt := range map[string]struct {
		hcl  string
		env  []string
		want string
	}{
		"another master key": {hcl, []string{"SVC_NODE_ID=core-2", "SVC_SECRET_KEY=" + newKey()}, "secret_key"},
		"no master key":      {hcl, []string{"SVC_NODE_ID=core-2"}, "secret_key"},
		"the same id":        {hcl, append([]string{"SVC_NODE_ID=core-1"}, env...), "node_id"},
	} {
		c := kit.LocalCore(t, tt.hcl, tt.env...)
		out := c.Run("", "serve")
		if out.Status == 0 || !strings.Contains(out.Stderr, tt.want) {
			t.Errorf("%s: %d, %s", name, out.Status, kit.LastLines(out.Stderr, 5))
		}
	}
}
