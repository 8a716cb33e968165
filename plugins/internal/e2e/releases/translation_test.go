package releases

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/translator/openai/openaitest"
)

// translationOf is a request for a translation as the API answers it.
type translationOf struct {
	RequestID string `json:"request_id"`
	Status    string
	Result    struct {
		Status    string
		BodyMd    string `json:"body_md"`
		ErrorCode string `json:"error_code"`
	}
}

// TestTranslationKilledInBatch ends the core without warning when some sections of releases are translated, others are with the
// model, and others wait. After the restart all requests are completed, and what was translated is not translated again.
func TestTranslationKilledInBatch(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		const count = 4
		hub, model := kit.WordyHub(t, count), openaitest.New(t, kit.ModelKey, "small", "large")
		var mu sync.Mutex
		asked, answered := map[string]int{}, map[string]bool{}
		hold := make(chan struct{})
		model.Reply(func(chat openaitest.Chat) string {
			mu.Lock()
			for _, p := range chat.Parts {
				asked[p.Text]++
			}
			held := len(asked) > 6
			mu.Unlock()
			if held {
				<-hold
			}
			mu.Lock()
			defer mu.Unlock()
			for _, p := range chat.Parts {
				answered[p.Text] = true
			}
			return openaitest.Translate(chat)
		})
		t.Cleanup(sync.OnceFunc(func() {
			select {
			case <-hold:
			default:
				close(hold)
			}
		}))
		// Each call has one section of a release.
		c := kit.StartCore(t, kit.TranslatingHCL(s, hub, model, "batch_tokens = 200"))
		key := c.CLI("user", "create", "-email", "ada@example.com", "-name", "Ada")
		ids := c.ReleaseIDs(t, key, count)
		var items []string
		for _, id := range ids {
			items = append(items, kit.TranslationInput(id))
		}
		var accepted struct{ Requests []translationOf }
		a := c.Post(t, key, "/releases/api/translate/requests", `{"mode":"async","items":[`+strings.Join(items, ",")+`]}`)
		if err := json.Unmarshal([]byte(a.Body), &accepted); err != nil || len(accepted.Requests) != count {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		kit.Eventually(t, kit.StartWithin, "six sections are translated, and others are with the model",
			func() bool { mu.Lock(); defer mu.Unlock(); return len(answered) >= 6 && len(asked) > 6 })
		read := func(id string) (out translationOf) {
			a := c.Send(t, kit.Request{Method: http.MethodGet, Path: "/releases/api/translate/requests/" + id, Token: key})
			if err := json.Unmarshal([]byte(a.Body), &out); err != nil {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			return out
		}
		// What has been answered is stored by then.
		time.Sleep(time.Second)
		mu.Lock()
		before := maps.Clone(answered)
		mu.Unlock()
		c.Kill()
		close(hold)
		c.Start()
		for _, r := range accepted.Requests {
			var got translationOf
			kit.Eventually(t, kit.StartWithin, "a request is completed", func() bool { got = read(r.RequestID); return got.Status == "completed" })
			if got.Result.Status != "ready" || !strings.Contains(got.Result.BodyMd, "译") {
				t.Errorf("%+v", got)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		twice := 0
		for text, n := range asked {
			if n > 1 {
				twice++
			}
			if n > 1 && before[text] {
				t.Errorf("what was translated before the end was translated again: %.60q", text)
			}
		}
		// Calls that were under way when the core ended have no answer: at most three batches are translated at once.
		if len(asked) != count*kit.WordySections || twice < 1 || twice > 3 {
			t.Errorf("%d texts were sent, %d of them twice", len(asked), twice)
		}
	})
}

// TestTranslationByModels asks for translations of real processes: a limit is waited for, garbage is an error, and the budget of a
// day disables.
func TestTranslationByModels(t *testing.T) {
	t.Parallel()
	hub, model := kit.WordyHub(t, 3), openaitest.New(t, kit.ModelKey, "small", "large")
	c := kit.StartCore(t, kit.TranslatingHCL(kit.Storage{}, hub, model, "daily_tokens = 20000"))
	key := c.CLI("user", "create", "-email", "ada@example.com", "-name", "Ada")
	ids := c.ReleaseIDs(t, key, 3)
	ask := func(id string) (out translationOf) {
		a := c.Post(t, key, "/releases/api/translate/requests", `{"mode":"wait","item":`+kit.TranslationInput(id)+`}`)
		if err := json.Unmarshal([]byte(a.Body), &out); err != nil {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return out
	}
	model.Fail(openaitest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Second, Message: "slow down"})
	if got := ask(ids[0]); got.Result.Status != "ready" || !strings.HasPrefix(got.Result.BodyMd, "## 译Release 3, section 1") {
		t.Errorf("after a limit: %+v", got)
	}
	model.Reply(func(openaitest.Chat) string { return "I would rather not." })
	if got := ask(ids[1]); got.Status != "failed" || got.Result.ErrorCode != "unusable_answer" {
		t.Errorf("garbage: %+v", got)
	}
	model.Reply(openaitest.Translate)
	// Three calls have taken 150 tokens each.
	c.Configure(kit.TranslatingHCL(kit.Storage{}, hub, model, "daily_tokens = 460"))
	c.Reload()
	if got := ask(ids[2]); got.Status != "completed" || got.Result.Status != "disabled" || got.Result.ErrorCode != "budget_reached" {
		t.Errorf("above the budget: %+v", got)
	}
	a := c.Post(t, key, "/releases/api/translate/release/detail", fmt.Sprintf(`{"release_id":%q}`, ids[0]))
	if a.Status != http.StatusOK || !strings.Contains(a.Body, `"ready"`) {
		t.Errorf("what is translated stays: %d %s", a.Status, a.Body)
	}
	if a := c.Post(t, key, "/releases/api/translate/results",
		`{"retry_on_error":true,"items":[`+kit.TranslationInput(ids[1])+`]}`); !strings.Contains(a.Body, `"budget_reached"`) ||
		!strings.Contains(a.Body, "额度") {
		t.Errorf("above the budget: %d %s", a.Status, a.Body)
	}
}
