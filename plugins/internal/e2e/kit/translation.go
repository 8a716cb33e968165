package kit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/translator/openai/openaitest"
)

// ModelKey is the API key of the language model.
const ModelKey = "sk-key-of-the-model"

// TranslatingHCL is a release feed of a double of GitHub with a double of a server of language models.
func TranslatingHCL(s Storage, hub *githubtest.Server, model *openaitest.Server, settings string) string {
	return s.HCL + fmt.Sprintf(`
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
`, hub.URL, model.URL(), ModelKey, settings)
}

// WordySections is how many sections notes have.
const WordySections = 4

// makeNotes returns notes of which a call of 200 tokens has room for one section.
func makeNotes(i int) string {
	var b strings.Builder
	for n := range WordySections {
		fmt.Fprintf(&b, "## Release %d, section %d\n\n%s\n\n", i, n+1,
			strings.Repeat(fmt.Sprintf("Words of section %d of release %d and nothing else. ", n+1, i), 12))
	}
	return b.String()
}

// WordyHub is a double of GitHub with releases that have long notes.
func WordyHub(t *testing.T, count int) *githubtest.Server {
	t.Helper()
	hub := githubtest.New(t)
	hub.AddRepo(githubtest.Repo{FullName: "acme/engine"})
	hub.Change(func(s *githubtest.Server) {
		for i := range count {
			s.Content("acme/engine").Releases = append(s.Content("acme/engine").Releases, &githubtest.Release{
				ID: int64(100 - i), Tag: fmt.Sprintf("v1.%d.0", count-i), Name: "", Body: makeNotes(count - i),
				At: time.Now().UTC().Add(-time.Duration(i+1) * time.Hour),
			})
		}
	})
	return hub
}

// ReleaseIDs has the repositories read and returns the ids of their releases.
func (c *Core) ReleaseIDs(t *testing.T, key string, count int) (ids []string) {
	t.Helper()
	if a := c.Post(t, key, "/releases/api/sync/releases", ""); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	Eventually(t, StartWithin, "the releases are read", func() bool {
		var all []struct {
			ID string `json:"release_id"`
		}
		a := c.Send(t, Request{Method: http.MethodGet, Path: "/releases/api/releases", Token: key})
		ids = nil
		if a.Status == http.StatusOK && json.Unmarshal([]byte(a.Body), &all) == nil {
			for _, r := range all {
				ids = append(ids, r.ID)
			}
		}
		return len(ids) == count
	})
	return ids
}

// TranslationInput is a translation request for a release, as JSON.
func TranslationInput(id string) string {
	return fmt.Sprintf(`{"producer_ref":"r%s","kind":"release_detail","variant":"card","entity_id":%q,"target_lang":"zh-CN","max_wait_ms":20000,"source_blocks":[{"slot":"title","text":"x"}],"target_slots":["body_md"]}`, id, id)
}
