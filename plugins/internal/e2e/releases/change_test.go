package releases

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	official "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/giteaserver"
)

// listTags returns the tags of all releases of a repository in the feed, sorted, and their ids.
func listTags(b *kit.Browser, repo string) (tags []string, ids map[string]string) {
	b.T.Helper()
	ids = map[string]string{}
	for cursor := ""; ; {
		var page struct {
			feedPage
			Next *string `json:"next_cursor"`
		}
		path := "feed?types=releases&limit=100&scope=repo&items=" + repo + "&cursor=" + url.QueryEscape(cursor)
		if err := json.Unmarshal([]byte(b.FetchReleases(http.MethodGet, path, "")), &page); err != nil {
			b.T.Fatal(err)
		}
		for _, i := range page.Items {
			tags, ids[i.Title] = append(tags, i.Title), i.ID
		}
		if page.Next == nil {
			slices.Sort(tags)
			return tags, ids
		}
		cursor = *page.Next
	}
}

// TestReleasesOfGiteaChange has a real Gitea rename, transfer and hide repositories, publish a release of an old commit behind drafts in
// a list of 500, and make one anew. The feed follows.
func TestReleasesOfGiteaChange(t *testing.T) {
	t.Parallel()
	const long = 500
	forge := giteaserver.Start(t)
	token := forge.CreateUser(t, "ada")
	ada, grace := forge.Client(t, token), forge.Client(t, forge.CreateUser(t, "grace"))
	_, _, err := grace.CreateOrg(official.CreateOrgOption{Name: "acme"})
	kit.Must(t, err)
	repos, first := map[string]*official.Repository{}, map[string]string{}
	for _, name := range []string{"long", "renamed", "moved", "hidden", "anew"} {
		repos[name] = giteaserver.CreateRepo(t, grace, name, false)
		branch, _, err := grace.GetRepoBranch("grace", name, "main")
		kit.Must(t, err)
		first[name] = branch.Commit.ID
		giteaserver.Commit(t, grace, repos[name], "later.txt", "Later")
		giteaserver.CreateRelease(t, grace, repos[name], official.CreateReleaseOption{TagName: "v1", Title: "v1"})
		_, err = ada.StarRepo("grace", name)
		kit.Must(t, err)
	}
	want := []string{"v1"}
	for i := range long - 1 {
		title := fmt.Sprint("v1.", i)
		giteaserver.CreateRelease(t, grace, repos["long"], official.CreateReleaseOption{TagName: title, Title: title})
		want = append(want, title)
	}

	c := kit.NewCore(t, fmt.Sprintf("codehost \"gitea\" \"hub\" {\n  config { base_url = %q }\n}\nservice \"releases\" {\n  codehosts = [codehost.hub]\n}\n", forge.URL), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false", "SVC_SCHEDULES=true")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	b.SetUp(c)
	b.Open("/releases/settings")
	b.FetchReleases(http.MethodPut, "reaction-token", fmt.Sprintf(`{"token":%q}`, token))
	b.FetchReleases(http.MethodPost, "sync/all", "")
	slices.Sort(want)
	var all []string
	kit.Eventually(t, 3*time.Minute, "a list of 500 releases is read in the background", func() bool {
		all, _ = listTags(b, "grace/long")
		return len(all) == long
	})
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("of the long list is known (-want +got):\n%s", diff)
	}
	_, before := listTags(b, "grace/anew")

	for i := range 60 {
		giteaserver.CreateRelease(t, grace, repos["long"],
			official.CreateReleaseOption{TagName: fmt.Sprint("draft", i), Title: fmt.Sprint("draft", i), IsDraft: true})
	}
	_, _, err = grace.CreateRelease("grace", "long", official.CreateReleaseOption{TagName: "v0.9.1", Title: "v0.9.1", Target: first["long"]})
	kit.Must(t, err)
	renamed, private := "other", true
	_, _, err = grace.EditRepo("grace", "renamed", official.EditRepoOption{Name: &renamed})
	kit.Must(t, err)
	_, _, err = grace.TransferRepo("grace", "moved", official.TransferRepoOption{NewOwner: "acme"})
	kit.Must(t, err)
	_, _, err = grace.EditRepo("grace", "hidden", official.EditRepoOption{Private: &private})
	kit.Must(t, err)
	_, err = grace.DeleteReleaseByTag("grace", "anew", "v1")
	kit.Must(t, err)
	giteaserver.CreateRelease(t, grace, repos["anew"], official.CreateReleaseOption{TagName: "v1", Title: "v1", Note: "Anew"})

	is := func(repo string, want ...string) bool {
		got, _ := listTags(b, repo)
		return slices.Equal(got, want)
	}
	kit.Eventually(t, 3*time.Minute, "the feed follows", func() bool {
		time.Sleep(2 * time.Second) // a sync costs requests, and reads nothing that was read less than a minute ago
		b.FetchReleases(http.MethodPost, "sync/all", "")
		got, _ := listTags(b, "grace/long")
		return slices.Contains(got, "v0.9.1") && is("grace/other", "v1") && is("grace/renamed") && is("acme/moved", "v1") && is("grace/moved") &&
			is("grace/hidden")
	})
	if got, _ := listTags(b, "grace/long"); len(got) != long+1 {
		t.Errorf("%d releases are known, want the new one and no draft", len(got))
	}
	if got, after := listTags(b, "grace/anew"); !slices.Equal(got, []string{"v1"}) || after["v1"] != before["v1"] {
		t.Errorf("after v1 was made anew the feed has %q with the ids %v, before %v", got, after, before)
	}
}
