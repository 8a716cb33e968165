package core

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// hook is a receiver of webhooks, as an outsider would write it: it verifies the signature, and takes each id once.
type hook struct {
	t    testing.TB
	addr string

	mu     sync.Mutex
	server *http.Server
	// status is what it answers; hold lets a post wait before that.
	status int
	hold   chan struct{}
	taken  map[string]notice
	posts  int
	bad    []string
}

// notice is the part of a payload that the tests look at.
type notice struct {
	ID       string         `json:"id"`
	Kind     string         `json:"kind"`
	Severity string         `json:"severity"`
	Status   string         `json:"status"`
	Title    string         `json:"title"`
	Fields   map[string]any `json:"fields"`
}

func newHook(t testing.TB) *hook {
	t.Helper()
	h := &hook{t: t, addr: testkit.FreeAddress(t), status: http.StatusNoContent, taken: map[string]notice{}}
	t.Cleanup(func() {
		h.down()
		for _, problem := range h.bad {
			t.Error(problem)
		}
	})
	return h
}

// up has it listen, and down no more.
func (h *hook) up() {
	h.t.Helper()
	l, err := net.Listen("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(l) }(h.server)
}

func (h *hook) down() {
	h.mu.Lock()
	s := h.server
	h.server = nil
	h.mu.Unlock()
	if s != nil {
		_ = s.Close()
	}
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = kit.VerifySignature(r.Header, body)
	}
	var n notice
	if err == nil {
		err = json.Unmarshal(body, &n)
	}
	h.mu.Lock()
	h.posts++
	if err != nil || n.ID != r.Header.Get("webhook-id") {
		h.bad = append(h.bad, fmt.Sprintf("a post that cannot be trusted: %v: %s", err, body))
	}
	status, hold := h.status, h.hold
	if status < 300 {
		h.taken[n.ID] = n
	}
	h.mu.Unlock()
	if hold != nil {
		<-hold
	}
	w.WriteHeader(status)
}

// of are the notices of a kind that were taken, and the posts so far.
func (h *hook) of(kind string) (found []notice, posts int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.taken {
		if n.Kind == kind {
			found = append(found, n)
		}
	}
	return found, h.posts
}

// taking waits until n notices of a kind were taken.
func (h *hook) taking(kind string, n int) (found []notice) {
	h.t.Helper()
	kit.Eventually(h.t, 40*time.Second, fmt.Sprintf("%d notices of %s arrive", n, kind), func() bool {
		found, _ = h.of(kind)
		return len(found) >= n
	})
	return found
}

// alertHCL is a web instance whose service tells a receiver.
func alertHCL(url string, h *hook) string {
	return kit.WebHCL(url, "", kit.EndlessLimits+"\n  notify = notify.ops") + fmt.Sprintf(`
notify "webhook" "ops" {
  config {
    url         = "http://%s/hook"
    secrets     = [env("HOOK_SECRET")]
    allow_hosts = [%q]
    timeout     = "5s"
  }
}
`, h.addr, h.addr)
}

// startAlerts runs a core of which one of two keys is about to be refused.
func startAlerts(t *testing.T, s kit.Storage, h *hook) (c *kit.Core, token string, db kit.Records) {
	t.Helper()
	up := kit.StartUpstream(t)
	c = kit.StartCore(t, s.HCL+alertHCL(up.URL, h), "HOOK_SECRET="+kit.SigningSecret)
	c.AddKeys("key-one", "key-two")
	up.Script(kit.Scripted{Status: 401})
	return c, c.Token(), c.Records(t, s)
}

func TestAlertReachesAWebhook(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		h := newHook(t)
		h.up()
		c, token, db := startAlerts(t, s, h)
		c.Search(t, token, http.StatusOK)
		n := h.taking("search.key_invalid", 1)[0]
		if n.Status != "raised" || n.Severity != "warning" || n.Title == "" || n.Fields["key_id"] == "" {
			t.Errorf("notice %+v", n)
		}
		kit.Eventually(t, 10*time.Second, "the delivery is recorded", func() bool {
			return db.Number("SELECT COUNT(*) FROM notify_deliveries d JOIN notify_messages m ON m.id = d.message_id WHERE d.state = 'delivered' AND m.kind = 'search.key_invalid'") == 1
		})
		if strings.Contains(c.Logs(), "key-one") || strings.Contains(c.Logs(), "key-two") || strings.Contains(c.Logs(), kit.SigningSecret) {
			t.Error("a secret is in the log")
		}
	})
}

func TestAlertWaitsForAReceiverThatIsDown(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		h := newHook(t)
		c, token, db := startAlerts(t, s, h)
		c.Search(t, token, http.StatusOK)
		tries := func(n int) {
			t.Helper()
			kit.Eventually(t, 40*time.Second, fmt.Sprintf("%d attempts fail", n), func() bool {
				return db.Number(fmt.Sprintf("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'waiting' AND error <> '' AND attempts >= %d",
					n)) == 1
			})
		}
		tries(1)
		// The core dies while the delivery waits.
		c.Kill()
		h.answer(http.StatusServiceUnavailable)
		h.up()
		c.Start()
		tries(2)
		h.answer(http.StatusNoContent)
		h.taking("search.key_invalid", 1)
		kit.Eventually(t, 10*time.Second, "the delivery is recorded", func() bool {
			return db.Number("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'delivered'") == 1
		})
		_, posts := h.of("")
		c.Restart()
		c.Search(t, token, http.StatusOK)
		if got, after := h.of("search.key_invalid"); len(got) != 1 || after != posts {
			t.Errorf("%d notices, %d posts after %d", len(got), after, posts)
		}
	})
}

func TestAlertThatWasBeingSentWhenTheCoreDied(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	h.hold = make(chan struct{})
	h.up()
	c, token, db := startAlerts(t, kit.Storage{}, h)
	c.Search(t, token, http.StatusOK)
	kit.Eventually(t, 20*time.Second, "the receiver has the post", func() bool { _, posts := h.of(""); return posts == 1 })
	c.Kill()
	close(h.hold)
	h.mu.Lock()
	h.hold = nil
	h.mu.Unlock()
	c.Start()
	kit.Eventually(t, 40*time.Second, "the delivery is recorded", func() bool {
		return db.Number("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'delivered'") == 1
	})
	// The post was repeated with the same id, by which a receiver knows it.
	if got, posts := h.of("search.key_invalid"); len(got) != 1 || posts != 2 {
		t.Errorf("%d notices in %d posts", len(got), posts)
	}
}
