package kit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
)

// FetchReleases calls the API of releases with the session of the page, and returns the body of a success.
func (b *Browser) FetchReleases(method, path, body string) string {
	b.T.Helper()
	options := fmt.Sprintf(`method: %q, headers: {"Content-Type": "application/json"}`, method)
	if body != "" {
		options += fmt.Sprintf(", body: %q", body)
	}
	text, err := Evaluate[string](b, fmt.Sprintf(`fetch("/releases/api/%s", {%s}).then(async r => r.status + " " + await r.text())`, path,
		options))
	if err != nil {
		b.T.Fatal(err)
	}
	status, answer, _ := strings.Cut(text, " ")
	if status != "200" && status != "204" {
		b.T.Fatalf("%s %s: %s", method, path, text)
	}
	return answer
}

// ReleasesHCL is a release feed of a double of GitHub.
func ReleasesHCL(hub *githubtest.Server, repos string) string {
	return fmt.Sprintf(`
codehost "github" "hub" {
  config { base_url = %q }
}
service "releases" {
  codehosts = [codehost.hub]
  repos     = [%s]
}
`, hub.URL, repos)
}

const hostileNotes = "## What is new\n\n- A [link](javascript:parent.ran=1) and `code`\n\n![pixel](https://images.example.com/pixel.png)\n\n" +
	"<script>window.ran = 1</script><img src=x onerror=\"window.ran=1\"><iframe src=\"https://example.com/\"></iframe><p style=\"position:fixed\">text</p>\n\n" +
	"```go\nfunc main() { fmt.Println(\"hello\") }\n```\n\n| Before | After |\n|---|---|\n| 12 ms | 3 ms |\n"

// FillHub puts two repositories with releases, a stargazer and a follower into the double.
func FillHub(t *testing.T) *githubtest.Server {
	t.Helper()
	hub := githubtest.New(t)
	now := time.Now().UTC().Truncate(time.Second)
	for _, name := range []string{"acme/engine", "acme/loom", "ada/notes"} {
		hub.AddRepo(githubtest.Repo{FullName: name})
	}
	hub.Token("ghp_a_token_of_ada_lovelace", "ada")
	hub.Change(func(s *githubtest.Server) {
		s.Content("acme/engine").Releases = []*githubtest.Release{
			{ID: 12, Tag: "v2.0.0-rc.1", Name: "Second edition, first candidate", Body: hostileNotes, At: now.Add(-time.Hour), Prerelease: true},
			{ID: 11, Tag: "v1.4.0", Name: "Punched cards", Body: "Cards are read twice as fast.", At: now.Add(-30 * time.Hour)},
		}
		s.Content("acme/loom").Releases = []*githubtest.Release{{ID: 21, Tag: "v0.9.1", Body: "", At: now.Add(-26 * time.Hour)}}
		s.Account("ada").Starred = []githubtest.Star{{Repo: "acme/loom", At: now.Add(-100 * time.Hour)}}
		s.Account("ada").Followers = []string{"grace"}
		s.Account("ada").Notifications = []githubtest.Notification{{ID: "5", Repo: "acme/loom", Title: "Patterns are lost", Type: "Issue",
			Reason: "mention", UpdatedAt: now.Add(-2 * time.Hour), Unread: true}}
		s.Content("ada/notes").Stargazers = []githubtest.Star{{Repo: "grace", At: now.Add(-3 * time.Hour)}}
	})
	return hub
}

// ReleasesAPI calls the API of releases.
func (c *Core) ReleasesAPI(t testing.TB, key, method, path, body string) Answer {
	t.Helper()
	return c.Send(t, Request{Method: method, Path: "/releases/api/" + path, Token: key, Body: body})
}
