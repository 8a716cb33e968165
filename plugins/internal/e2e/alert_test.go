package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// signingSecret is that of the receiver.
const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

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
		err = verify(r.Header, body)
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

// verify is the receiver's side of Standard Webhooks.
func verify(header http.Header, body []byte) error {
	at, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return fmt.Errorf("timestamp %q: %v", header.Get("webhook-timestamp"), err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signingSecret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), at, body)
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(raw, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("no signature is right")
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
	eventually(h.t, 40*time.Second, fmt.Sprintf("%d notices of %s arrive", n, kind), func() bool {
		found, _ = h.of(kind)
		return len(found) >= n
	})
	return found
}

// alertHCL is a web instance whose service tells a receiver.
func alertHCL(url string, h *hook) string {
	return webHCL(url, "", endless+"\n  notify = notify.ops") + fmt.Sprintf(`
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
func startAlerts(t *testing.T, s storage, h *hook) (c *core, token string, db records) {
	t.Helper()
	up := startUpstream(t)
	c = startCore(t, s.hcl+alertHCL(up.url, h), "HOOK_SECRET="+signingSecret)
	c.addKeys("key-one", "key-two")
	up.script(scripted{Status: 401})
	return c, c.token(), c.records(t, s)
}

func TestAlertReachesAWebhook(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		h := newHook(t)
		h.up()
		c, token, db := startAlerts(t, s, h)
		c.search(t, token, http.StatusOK)
		n := h.taking("search.key_invalid", 1)[0]
		if n.Status != "raised" || n.Severity != "warning" || n.Title == "" || n.Fields["key_id"] == "" {
			t.Errorf("notice %+v", n)
		}
		eventually(t, 10*time.Second, "the delivery is recorded", func() bool {
			return db.number("SELECT COUNT(*) FROM notify_deliveries d JOIN notify_messages m ON m.id = d.message_id WHERE d.state = 'delivered' AND m.kind = 'search.key_invalid'") == 1
		})
		if strings.Contains(c.logs(), "key-one") || strings.Contains(c.logs(), "key-two") || strings.Contains(c.logs(), signingSecret) {
			t.Error("a secret is in the log")
		}
	})
}

func TestAlertWaitsForAReceiverThatIsDown(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		h := newHook(t)
		c, token, db := startAlerts(t, s, h)
		c.search(t, token, http.StatusOK)
		tries := func(n int) {
			t.Helper()
			eventually(t, 40*time.Second, fmt.Sprintf("%d attempts fail", n), func() bool {
				return db.number(fmt.Sprintf("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'waiting' AND error <> '' AND attempts >= %d",
					n)) == 1
			})
		}
		tries(1)
		// The core dies while the delivery waits.
		c.kill9()
		h.answer(http.StatusServiceUnavailable)
		h.up()
		c.start()
		tries(2)
		h.answer(http.StatusNoContent)
		h.taking("search.key_invalid", 1)
		eventually(t, 10*time.Second, "the delivery is recorded", func() bool {
			return db.number("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'delivered'") == 1
		})
		_, posts := h.of("")
		c.restart()
		c.search(t, token, http.StatusOK)
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
	c, token, db := startAlerts(t, storage{}, h)
	c.search(t, token, http.StatusOK)
	eventually(t, 20*time.Second, "the receiver has the post", func() bool { _, posts := h.of(""); return posts == 1 })
	c.kill9()
	close(h.hold)
	h.mu.Lock()
	h.hold = nil
	h.mu.Unlock()
	c.start()
	eventually(t, 40*time.Second, "the delivery is recorded", func() bool {
		return db.number("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'delivered'") == 1
	})
	// The post was repeated with the same id, by which a receiver knows it.
	if got, posts := h.of("search.key_invalid"); len(got) != 1 || posts != 2 {
		t.Errorf("%d notices in %d posts", len(got), posts)
	}
}
