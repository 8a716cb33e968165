package releases

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// fillMany puts repositories with two releases each into a double of GitHub, starred by ada, and returns their names.
func fillMany(t *testing.T, count int) (hub *githubtest.Server, names []string) {
	t.Helper()
	hub = githubtest.New(t)
	hub.Token("ghp_a_token_of_ada_lovelace", "ada")
	at := time.Now().UTC().Truncate(time.Second).Add(-24 * time.Hour)
	for i := range count {
		names = append(names, fmt.Sprintf("acme/r%03d", i))
		hub.AddRepo(githubtest.Repo{FullName: names[i], ID: int64(1 + i)})
	}
	hub.Change(func(s *githubtest.Server) {
		for i, name := range names {
			s.Content(name).Releases = []*githubtest.Release{
				{ID: int64(2*i + 2), Tag: "v1.1.0", Body: "Changes", At: at.Add(time.Duration(i) * time.Second)},
				{ID: int64(2*i + 1), Tag: "v1.0.0", Body: "First", At: at.Add(-time.Hour)},
			}
			s.Account("ada").Starred = append(s.Account("ada").Starred, githubtest.Star{Repo: name, At: at})
		}
	})
	return hub, names
}

// countRequests counts the requests for lists of releases, for single repositories and for pages of stars, among those since the
// last call.
func countRequests(hub *githubtest.Server) (lists, repos, others int) {
	for _, r := range hub.Requests() {
		switch {
		case strings.HasPrefix(r, "GET /repos/") && strings.Contains(r, "/releases?"):
			lists++
		case strings.HasPrefix(r, "GET /repos/") && strings.Count(r, "/") == 3:
			repos++
		default:
			others++
		}
	}
	return lists, repos, others
}

// TestReleasesSyncIsCounted: 500 starred repositories are read with one request each, of which those without news cost no quota.
func TestReleasesSyncIsCounted(t *testing.T) {
	t.Parallel()
	const count, quota = 500, 5000
	hub, _ := fillMany(t, count)
	hub.SetQuota(githubtest.Quota{Limit: quota, Remaining: quota, Reset: time.Now().Add(time.Hour)})
	c := kit.NewCore(t, kit.ReleasesHCL(hub, ""), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	b.SetUp(c)
	b.Open("/releases/settings")
	// fetched calls the API with the session of the page, and returns status and body.
	fetched := func(method, path, body string) string {
		t.Helper()
		text, err := kit.Evaluate[string](b, fmt.Sprintf(`fetch("/releases/api/%s", {method: %q, headers: {"Content-Type": "application/json"}, body: %q}).then(async r => r.status + " " + await r.text())`, path, method, body))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got := fetched(http.MethodPut, "reaction-token", `{"token":"ghp_a_token_of_ada_lovelace"}`); !strings.HasPrefix(got, "200 ") {
		t.Fatal(got)
	}
	if got := fetched(http.MethodPost, "sync/starred", ""); got != fmt.Sprintf(`200 {"repos":%d}`, count) {
		t.Fatal(got)
	}
	began := time.Now()
	if got := fetched(http.MethodPost, "sync/releases", ""); !strings.HasPrefix(got, fmt.Sprintf(`200 {"repos":%d`, count)) {
		t.Fatal(got)
	}
	ended := time.Now()
	lists, repos, others := countRequests(hub)
	t.Logf("first sync of %d repositories: %d lists of releases, %d repositories, %d other requests, %d of the quota, %s", count, lists,
		repos, others, quota-hub.Remaining(), ended.Sub(began).Round(time.Millisecond))
	if lists != count || repos != 0 {
		t.Errorf("%d lists of releases and %d repositories were asked for, want one list of each and no repository", lists, repos)
	}
	// What was read less than a minute ago is not read again.
	time.Sleep(61*time.Second - time.Since(ended))
	before := hub.Remaining()
	began = time.Now()
	if got := fetched(http.MethodPost, "sync/releases", ""); got != fmt.Sprintf(`200 {"repos":%d,"releases":0}`, count) {
		t.Error(got)
	}
	lists, repos, others = countRequests(hub)
	spent := before - hub.Remaining()
	t.Logf("second sync: %d lists of releases, %d repositories, %d other requests, %d of the quota, %s", lists, repos, others, spent,
		time.Since(began).Round(time.Millisecond))
	// The schedule may read the account beside it, which is not conditional.
	if lists != count || repos != 0 || spent > others {
		t.Errorf("%d lists of releases, %d repositories, and %d of the quota for %d other requests", lists, repos, spent, others)
	}
}

// releasesKey makes a user and returns the key.
func releasesKey(c *kit.Core) string { return strings.TrimSpace(c.User("ada@example.com", "member")) }

// TestReleasesPause: a code host that answers 403 with Retry-After is not called before that time, neither by syncs nor by the
// schedule, nor after a kill -9.
func TestReleasesPause(t *testing.T) {
	t.Parallel()
	const pause = 12 * time.Second
	hub, names := fillMany(t, 3)
	c := kit.StartCore(t, kit.ReleasesHCL(hub, ""))
	key := releasesKey(c)
	if got := c.ReleasesAPI(t, key, http.MethodPost, "repos/import",
		`{"content":"`+strings.Join(names, " ")+`"}`); got.Status != http.StatusOK {
		t.Fatal(got.Body)
	}
	hub.SetQuota(githubtest.Quota{Limit: 60, Remaining: 60, Reset: time.Now().Add(time.Hour), RetryAfter: pause})
	hub.Requests()
	got := c.ReleasesAPI(t, key, http.MethodPost, "sync/releases", "")
	limited := time.Now()
	wait, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if got.Status != http.StatusTooManyRequests || err != nil || wait < 1 || wait > int(pause.Seconds())+1 {
		t.Fatalf("got %d, Retry-After %q: %s", got.Status, got.Header.Get("Retry-After"), got.Body)
	}
	// Those that were under way together were refused together.
	if n := len(hub.Requests()); n < 1 || n > len(names) {
		t.Errorf("%d requests until the code host asked for a pause", n)
	}
	for time.Since(limited) < pause/2 {
		if got := c.ReleasesAPI(t, key, http.MethodPost, "sync/releases", ""); got.Status != http.StatusTooManyRequests {
			t.Errorf("got %d %s", got.Status, got.Body)
		}
		time.Sleep(500 * time.Millisecond)
	}
	c.Kill()
	c.Start()
	for time.Since(limited) < pause-2*time.Second {
		if got := c.ReleasesAPI(t, key, http.MethodPost, "sync/releases", ""); got.Status != http.StatusTooManyRequests {
			t.Errorf("after the kill: got %d %s", got.Status, got.Body)
		}
		time.Sleep(500 * time.Millisecond)
	}
	if asked := hub.Requests(); len(asked) != 0 {
		t.Errorf("the code host was asked during the pause: %q", asked)
	}
	hub.SetQuota(githubtest.Quota{Limit: 60, Remaining: 60, Reset: time.Now().Add(time.Hour)})
	kit.Eventually(t, 2*pause, "the repositories are read after the pause", func() bool {
		return c.ReleasesAPI(t, key, http.MethodPost, "sync/releases", "").Status == http.StatusOK
	})
	if took := time.Since(limited); took < pause-time.Second {
		t.Errorf("the repositories were read after %s", took)
	}
}

// TestReleasesSyncKilled: a sync that is cut off by a kill -9 ends after the next start, with each release once.
func TestReleasesSyncKilled(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		const count = 60
		hub, names := fillMany(t, count)
		hub.Instead(func(r *http.Request) *githubtest.Answer {
			if strings.HasSuffix(r.URL.Path, "/releases") {
				time.Sleep(50 * time.Millisecond)
			}
			return nil
		})
		c := kit.StartCore(t, s.HCL+kit.ReleasesHCL(hub, ""))
		key := releasesKey(c)
		if got := c.ReleasesAPI(t, key, http.MethodPost, "repos/import",
			`{"content":"`+strings.Join(names, " ")+`"}`); got.Status != http.StatusOK {
			t.Fatal(got.Body)
		}
		accepted := c.ReleasesAPI(t, key, http.MethodPost, "sync/releases?return_mode=task_id", "")
		task := kit.Decode[struct {
			TaskID string `json:"task_id"`
		}](t, accepted.Body).TaskID
		releases := func() (tags map[string]int) {
			tags = map[string]int{}
			for _, r := range kit.Decode[[]struct {
				FullName string `json:"full_name"`
				TagName  string `json:"tag_name"`
			}](t, c.ReleasesAPI(t, key, http.MethodGet, "releases", "").Body) {
				tags[r.FullName+" "+r.TagName]++
			}
			return tags
		}
		kit.Eventually(t, kit.StartWithin, "the sync has begun", func() bool { return len(releases()) >= 10 })
		c.Kill()
		c.Start()
		stored := len(releases())
		if stored < 10 || stored == 2*count {
			t.Errorf("%d releases are there after the kill", stored)
		}
		events := c.ReleasesAPI(t, key, http.MethodGet, "tasks/"+task+"/events", "")
		if !strings.Contains(events.Body, "event: task.completed") || !strings.Contains(events.Body, `"status":"succeeded"`) {
			t.Errorf("the task ended with %s", kit.LastLines(events.Body, 4))
		}
		all := releases()
		for key, n := range all {
			if n != 1 {
				t.Errorf("%s is there %d times", key, n)
			}
		}
		if len(all) != 2*count {
			t.Errorf("%d releases, want %d", len(all), 2*count)
		}
		lists, _, _ := countRequests(hub)
		t.Logf("killed after %d of %d releases; %d lists were asked for in all", stored, 2*count, lists)
		if lists > count+6+2 {
			t.Errorf("%d lists were asked for, want those under way at the kill again and no other", lists)
		}
	})
}
