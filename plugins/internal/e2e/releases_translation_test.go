package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/translator/openai/openaitest"
)

const modelKey = "sk-key-of-the-model"

// translatingHCL is a release feed of a double of GitHub with a double of a server of language models.
func translatingHCL(s storage, hub *githubtest.Server, model *openaitest.Server, settings string) string {
	return s.hcl + fmt.Sprintf(`
codehost "github" "hub" {
  config { base_url = %q }
}
translator "openai" "main" {
  config {
    base_url = %q
    api_key  = %q
    models   = ["small", "large"]
    price "small" {
      input  = 2
      output = 8
    }
  }
}
service "releases" {
  codehosts  = [codehost.hub]
  repos      = ["acme/engine"]
  translator = translator.main
  translation {
    %s
  }
}
`, hub.URL, model.URL(), modelKey, settings)
}

// sections is how many sections notes have.
const sections = 4

// wordy returns notes of which a call of 200 tokens has room for one section.
func wordy(i int) string {
	var b strings.Builder
	for n := range sections {
		fmt.Fprintf(&b, "## Release %d, section %d\n\n%s\n\n", i, n+1,
			strings.Repeat(fmt.Sprintf("Words of section %d of release %d and nothing else. ", n+1, i), 12))
	}
	return b.String()
}

// wordyHub is a double of GitHub with releases that have long notes.
func wordyHub(t *testing.T, count int) *githubtest.Server {
	t.Helper()
	hub := githubtest.New(t)
	hub.AddRepo(githubtest.Repo{FullName: "acme/engine"})
	hub.Change(func(s *githubtest.Server) {
		for i := range count {
			s.Content("acme/engine").Releases = append(s.Content("acme/engine").Releases, &githubtest.Release{
				ID: int64(100 - i), Tag: fmt.Sprintf("v1.%d.0", count-i), Name: "", Body: wordy(count - i),
				At: time.Now().UTC().Add(-time.Duration(i+1) * time.Hour),
			})
		}
	})
	return hub
}

// releaseIDs has the repositories read and returns the ids of their releases.
func (c *core) releaseIDs(t *testing.T, key string, count int) (ids []string) {
	t.Helper()
	if a := c.post(t, key, "/releases/api/sync/releases", ""); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	eventually(t, startWithin, "the releases are read", func() bool {
		var all []struct {
			ID string `json:"release_id"`
		}
		a := c.send(t, request{method: http.MethodGet, path: "/releases/api/releases", token: key})
		ids = nil
		if a.status == http.StatusOK && json.Unmarshal([]byte(a.body), &all) == nil {
			for _, r := range all {
				ids = append(ids, r.ID)
			}
		}
		return len(ids) == count
	})
	return ids
}

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

func translationInput(id string) string {
	return fmt.Sprintf(`{"producer_ref":"r%s","kind":"release_detail","variant":"card","entity_id":%q,"target_lang":"zh-CN","max_wait_ms":20000,"source_blocks":[{"slot":"title","text":"x"}],"target_slots":["body_md"]}`, id, id)
}

// TestTranslationKilledInBatch ends the core without warning when some sections of releases are translated, others are with the
// model, and others wait. After the restart all requests are completed, and what was translated is not translated again.
func TestTranslationKilledInBatch(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		const count = 4
		hub, model := wordyHub(t, count), openaitest.New(t, modelKey, "small", "large")
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
		c := startCore(t, translatingHCL(s, hub, model, "batch_tokens = 200"))
		key := c.cli("user", "create", "-email", "ada@example.com", "-name", "Ada")
		ids := c.releaseIDs(t, key, count)
		var items []string
		for _, id := range ids {
			items = append(items, translationInput(id))
		}
		var accepted struct{ Requests []translationOf }
		a := c.post(t, key, "/releases/api/translate/requests", `{"mode":"async","items":[`+strings.Join(items, ",")+`]}`)
		if err := json.Unmarshal([]byte(a.body), &accepted); err != nil || len(accepted.Requests) != count {
			t.Fatalf("%d %s", a.status, a.body)
		}
		eventually(t, startWithin, "six sections are translated, and others are with the model",
			func() bool { mu.Lock(); defer mu.Unlock(); return len(answered) >= 6 && len(asked) > 6 })
		read := func(id string) (out translationOf) {
			a := c.send(t, request{method: http.MethodGet, path: "/releases/api/translate/requests/" + id, token: key})
			if err := json.Unmarshal([]byte(a.body), &out); err != nil {
				t.Fatalf("%d %s", a.status, a.body)
			}
			return out
		}
		// What has been answered is stored by then.
		time.Sleep(time.Second)
		mu.Lock()
		before := maps.Clone(answered)
		mu.Unlock()
		c.kill9()
		close(hold)
		c.start()
		for _, r := range accepted.Requests {
			var got translationOf
			eventually(t, startWithin, "a request is completed", func() bool { got = read(r.RequestID); return got.Status == "completed" })
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
		if len(asked) != count*sections || twice < 1 || twice > 3 {
			t.Errorf("%d texts were sent, %d of them twice", len(asked), twice)
		}
	})
}

// TestTranslationByModels asks for translations of real processes: a limit is waited for, garbage is an error, and the budget of a
// day disables.
func TestTranslationByModels(t *testing.T) {
	t.Parallel()
	hub, model := wordyHub(t, 3), openaitest.New(t, modelKey, "small", "large")
	c := startCore(t, translatingHCL(storage{}, hub, model, "daily_tokens = 20000"))
	key := c.cli("user", "create", "-email", "ada@example.com", "-name", "Ada")
	ids := c.releaseIDs(t, key, 3)
	ask := func(id string) (out translationOf) {
		a := c.post(t, key, "/releases/api/translate/requests", `{"mode":"wait","item":`+translationInput(id)+`}`)
		if err := json.Unmarshal([]byte(a.body), &out); err != nil {
			t.Fatalf("%d %s", a.status, a.body)
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
	c.configure(translatingHCL(storage{}, hub, model, "daily_tokens = 460"))
	c.hup()
	if got := ask(ids[2]); got.Status != "completed" || got.Result.Status != "disabled" || got.Result.ErrorCode != "budget_reached" {
		t.Errorf("above the budget: %+v", got)
	}
	a := c.post(t, key, "/releases/api/translate/release/detail", fmt.Sprintf(`{"release_id":%q}`, ids[0]))
	if a.status != http.StatusOK || !strings.Contains(a.body, `"ready"`) {
		t.Errorf("what is translated stays: %d %s", a.status, a.body)
	}
	if a := c.post(t, key, "/releases/api/translate/results",
		`{"retry_on_error":true,"items":[`+translationInput(ids[1])+`]}`); !strings.Contains(a.body, `"budget_reached"`) ||
		!strings.Contains(a.body, "额度") {
		t.Errorf("above the budget: %d %s", a.status, a.body)
	}
}
