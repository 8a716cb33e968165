package releases

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	official "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/giteaserver"
)

// followedHost is a code host on which ada has starred acme/engine, owns ada/notes, and has a notification of acme/engine with the
// title "Patterns are lost". Both repositories have the release v1.0.0.
type followedHost struct {
	// hcl configures its instance, codehost.hub; token is ada's.
	hcl, token string
	// others are items of the feed about acme/engine besides releases.
	others []string
	// change publishes the release v1.1.0 of acme/engine, and has grace star ada/notes and follow ada; unstar takes ada's star back.
	change, unstar func()
}

// feedPage is what the tests read of a page of the feed.
type feedPage struct {
	Items []struct {
		Kind         string
		ID           string
		RepoFullName string `json:"repo_full_name"`
		Title        string
		Actor        struct{ Login string }
	}
}

// readFeed returns what the feed shows for a query: the kind of each item, its repository, and its title or actor, sorted.
func readFeed(b *kit.Browser, query string) (shown []string) {
	b.T.Helper()
	var page feedPage
	if err := json.Unmarshal([]byte(b.FetchReleases(http.MethodGet, "feed?"+query, "")), &page); err != nil {
		b.T.Fatal(err)
	}
	for _, i := range page.Items {
		shown = append(shown, strings.Join(strings.Fields(i.Kind+" "+i.RepoFullName+" "+i.Title+" "+i.Actor.Login), " "))
	}
	slices.Sort(shown)
	return shown
}

// checkFlow connects ada's account and reads the feed in every scope, before and after news at the code host.
func checkFlow(t *testing.T, host followedHost) *kit.Browser {
	t.Helper()
	c := kit.NewCore(t, host.hcl+"\nservice \"releases\" {\n  codehosts = [codehost.hub]\n}\n", "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	b.SetUp(c)
	b.Open("/releases/settings")
	b.FetchReleases(http.MethodPut, "reaction-token", fmt.Sprintf(`{"token":%q}`, host.token))
	b.FetchReleases(http.MethodPost, "sync/all", "")
	const engine, news, notes, star, follower = "release acme/engine v1.0.0", "release acme/engine v1.1.0", "release ada/notes v1.0.0",
		"repo_star_received ada/notes grace", "follower_received grace"
	of := func(items ...string) []string { return slices.Sorted(slices.Values(append(items, host.others...))) }
	b.FetchReleases(http.MethodPut, "repos/ada/notes/following", "")
	b.FetchReleases(http.MethodPost, "sync/all", "")
	if got, want := readFeed(b, "types=all"), of(engine, notes); !cmp.Equal(got, want) {
		t.Errorf("at first: got %q, want %q", got, want)
	}
	host.change()
	// What was read less than a minute ago is not read again, and a sync costs requests of the host's limit.
	kit.Eventually(t, 2*time.Minute, "the news are in the feed", func() bool {
		time.Sleep(2 * time.Second)
		b.FetchReleases(http.MethodPost, "sync/all", "")
		return cmp.Equal(readFeed(b, "types=all"), of(engine, news, notes, star, follower))
	})
	for query, want := range map[string][]string{
		"types=releases": {engine, news, notes}, "types=stars": {star}, "types=followers": {follower},
		"scope=repo&items=acme/engine":            of(engine, news),
		"scope=repos&items=acme/engine,ada/notes": of(engine, news, notes, star), "scope=org&org=acme": of(engine, news),
		"scope=mine": {notes, star}, "scope=mine&types=releases": {notes},
	} {
		if got := readFeed(b, query); !cmp.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for path, want := range map[string]string{"starred": `"acme/engine"`, "notifications": "Patterns are lost"} {
		if got := b.FetchReleases(http.MethodGet, path, ""); !strings.Contains(got, want) {
			t.Errorf("%s without %q: %s", path, want, got)
		}
	}
	host.unstar()
	kit.Eventually(t, 2*time.Minute, "a repository whose star was taken back is not in the feed", func() bool {
		b.FetchReleases(http.MethodPost, "sync/starred", "")
		return cmp.Equal(readFeed(b, "types=releases"), []string{notes})
	})
	return b
}

// TestReleasesOfGitea reads the feed of an account of a real Gitea.
func TestReleasesOfGitea(t *testing.T) {
	t.Parallel()
	forge := giteaserver.Start(t)
	token := forge.CreateUser(t, "ada")
	ada, grace := forge.Client(t, token), forge.Client(t, forge.CreateUser(t, "grace"))
	_, _, err := grace.CreateOrg(official.CreateOrgOption{Name: "acme"})
	kit.Must(t, err)
	engine, _, err := grace.CreateOrgRepo("acme", official.CreateRepoOption{Name: "engine", AutoInit: true, DefaultBranch: "main"})
	kit.Must(t, err)
	notes := giteaserver.CreateRepo(t, ada, "notes", false)
	giteaserver.CreateRelease(t, grace, engine, official.CreateReleaseOption{TagName: "v1.0.0", Title: "v1.0.0"})
	giteaserver.CreateRelease(t, ada, notes, official.CreateReleaseOption{TagName: "v1.0.0", Title: "v1.0.0"})
	_, err = ada.StarRepo("acme", "engine")
	kit.Must(t, err)
	_, err = ada.WatchRepo("acme", "engine")
	kit.Must(t, err)
	giteaserver.CreateIssue(t, grace, ada, engine, "Patterns are lost")
	checkFlow(t, followedHost{
		hcl: fmt.Sprintf("codehost \"gitea\" \"hub\" {\n  config { base_url = %q }\n}\n", forge.URL), token: token,
		change: func() {
			giteaserver.CreateRelease(t, grace, engine, official.CreateReleaseOption{TagName: "v1.1.0", Title: "v1.1.0"})
			_, err := grace.StarRepo("ada", "notes")
			kit.Must(t, err)
			_, err = grace.Follow("ada")
			kit.Must(t, err)
		},
		unstar: func() {
			_, err := ada.UnStarRepo("acme", "engine")
			kit.Must(t, err)
		},
	})
}
