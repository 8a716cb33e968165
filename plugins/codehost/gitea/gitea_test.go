package gitea_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	official "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/codehost/gitea"
	"github.com/patchbay-dev/patchbay/plugins/codehost/gitea/giteatest"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const token = schema.Secret("0123456789abcdef-token-of-the-tests")

var at = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

func configOf(s *giteatest.Server) string { return fmt.Sprintf(`{"base_url":%q}`, s.URL) }

func client(t *testing.T, s *giteatest.Server) *codehost.Client {
	t.Helper()
	l := plugintest.Load(t, gitea.Plugin())
	return codehost.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, codehost.Kind, "forge", configOf(s))))
}

// world is a double with repositories of two people.
func world(t *testing.T) *giteatest.Server {
	t.Helper()
	s := giteatest.New(t)
	s.Token(token.Reveal(), "ada")
	var releases []giteatest.Release
	for i := range 5 {
		releases = append(releases, giteatest.Release{ID: int64(9 - i), Tag: fmt.Sprintf("v1.%d.0", 4-i), Name: "Engine", Body: "**Notes**",
			At: at.Add(-time.Duration(i) * time.Hour), Prerelease: i == 0, Draft: i == 1})
	}
	s.AddRepo(giteatest.Repo{
		ID: 7, FullName: "ada/engine", UpdatedAt: at, Releases: releases,
		Tags: []giteatest.Tag{{Name: "v1.4.0", At: at}, {Name: "pkg/v2", At: at}}, Stargazers: []string{"bob", "grace"},
		Commits: map[string][]string{"v1.3.0...v1.4.0": {"Cards are read\n\nTwice as fast.", "Fix"}, "v1.2.0...v1.4.0": {"Fix"}},
	})
	s.AddRepo(giteatest.Repo{FullName: "ada/secret", Private: true, UpdatedAt: at})
	s.AddRepo(giteatest.Repo{FullName: "ada/old", Archived: true, UpdatedAt: at})
	s.AddRepo(giteatest.Repo{FullName: "bob/loom", UpdatedAt: at})
	s.SetAccount("ada", giteatest.Account{
		Starred: []string{"bob/loom", "ada/engine"}, Followers: []string{"bob"},
		Notifications: []giteatest.Notification{
			{ID: 3, Repo: "bob/loom", Title: "Patterns are lost", Type: "Issue", UpdatedAt: at, Unread: true},
			{ID: 2, Repo: "ada/engine", Title: "Old", Type: "Pull", UpdatedAt: at.Add(-48 * time.Hour)},
		},
	})
	return s
}

// TestConformance runs the checks of the kind.
func TestConformance(t *testing.T) {
	s := world(t)
	conformance.TestCodeHost(t, gitea.Plugin(), conformance.CodeHostConfig{
		JSON: configOf(s),
		Invalid: []string{`{}`, `{"base_url":"x"}`, `{"base_url":"https://u:p@host"}`, `{"base_url":"https://host/api/v1"}`,
			`{"base_url":"https://host","timeout":"0s"}`, `{"base_url":"https://host","timeout":"1h"}`},
		Token: token, ReleasesOf: "ada/engine", Missing: "ada/none",
		Inputs: map[string]string{"ada/engine": codehost.KindRepo, "ada": codehost.KindOwner, s.URL + "/ada/engine/releases": codehost.KindRepo},
	})
}

func TestLists(t *testing.T) {
	s := world(t)
	s.SetMaxPage(2)
	c, ctx := client(t, s), t.Context()
	var tags []string
	req := codehost.PageRequest{Size: 50}
	for {
		page, err := c.ListReleases(ctx, token, "Ada/Engine", req)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			tags = append(tags, r.TagName)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if want := []string{"v1.4.0", "v1.3.0", "v1.2.0", "v1.1.0", "v1.0.0"}; !cmp.Equal(tags, want) {
		t.Errorf("got %q, want every page of a server with a lower limit", tags)
	}
	first, err := c.ListReleases(ctx, "", "ada/engine", codehost.PageRequest{})
	want := codehost.Release{
		ID: "9", TagName: "v1.4.0", Name: "Engine", Body: "**Notes**", HTMLURL: s.URL + "/ada/engine/releases/tag/v1.4.0", CreatedAt: at,
		PublishedAt: at, Prerelease: true,
		Author: codehost.Account{ID: first.Items[0].Author.ID, Login: "ada", AvatarURL: "https://avatars.example.com/ada",
			HTMLURL: s.URL + "/ada"},
	}
	if diff := cmp.Diff(want, first.Items[0]); err != nil || diff != "" || first.Items[1].Draft {
		t.Errorf("%v, %s", err, diff)
	}
	again, err := c.ListReleases(ctx, "", "ada/engine", codehost.PageRequest{Validators: first.Validators})
	if err != nil || !again.NotModified || len(again.Items) != 0 {
		t.Errorf("the same page again: %+v, %v", again, err)
	}
	s.Change("ada/engine", func(r *giteatest.Repo) { r.Releases[0].Body = "Edited" })
	if again, err = c.ListReleases(ctx, "", "ada/engine", codehost.PageRequest{Validators: first.Validators}); err != nil ||
		again.NotModified || again.Items[0].Body != "Edited" {
		t.Errorf("a page that has changed: %+v, %v", again, err)
	}
	listed, err := c.ListTags(ctx, "", "ada/engine", codehost.PageRequest{})
	if err != nil || len(listed.Items) != 2 || listed.Items[1].Name != "pkg/v2" || len(listed.Items[1].Commit) != 40 ||
		!listed.Items[1].CreatedAt.Equal(at) {
		t.Errorf("tags: %+v, %v", listed, err)
	}
	starred, err := c.ListStarred(ctx, token, codehost.PageRequest{})
	if err != nil || len(starred.Items) != 2 || starred.Items[0].Repository.FullName != "bob/loom" ||
		starred.Items[0].Repository.HTMLURL != s.URL+"/bob/loom" {
		t.Errorf("stars: %+v, %v", starred, err)
	}
	all := codehost.NotificationsRequest{All: true, Since: at.Add(-time.Hour)}
	inbox, err := c.ListNotifications(ctx, token, all)
	if err != nil || len(inbox.Items) != 1 || inbox.Items[0].ThreadID != "3" || !inbox.Items[0].Unread ||
		inbox.Items[0].HTMLURL != s.URL+"/bob/loom/issues/1" || inbox.Items[0].RepoFullName != "bob/loom" {
		t.Errorf("notifications: %+v, %v", inbox, err)
	}
	compared, err := c.Compare(ctx, token, "ada/engine", "v1.3.0", "v1.4.0")
	if err != nil || compared.TotalCommits != 2 || compared.Commits[0].Subject != "Cards are read" || compared.Status != "ahead" {
		t.Errorf("comparison: %+v, %v", compared, err)
	}
	checkSocial(t, s, c)
}

// checkSocial looks at who stars and follows, and at what the token does not open.
func checkSocial(t *testing.T, s *giteatest.Server, c *codehost.Client) {
	t.Helper()
	ctx := t.Context()
	s.SetMaxPage(50)
	owned, err := c.ListOwned(ctx, token, codehost.PageRequest{})
	if err != nil || len(owned.Items) != 3 || owned.Items[1].FullName != "ada/secret" || !owned.Items[1].Private || owned.Items[0].Stars != 2 {
		t.Errorf("own repositories: %+v, %v", owned, err)
	}
	gazers, err := c.ListStargazers(ctx, token, "ada/engine", codehost.PageRequest{})
	if err != nil || len(gazers.Items) != 2 || gazers.Items[1].Account.Login != "grace" {
		t.Errorf("stargazers: %+v, %v", gazers, err)
	}
	followers, err := c.ListFollowers(ctx, token, codehost.PageRequest{})
	if err != nil || len(followers.Items) != 1 || followers.Items[0].Login != "bob" {
		t.Errorf("followers: %+v, %v", followers, err)
	}
	for name, tc := range map[string]struct {
		err  func() error
		code codes.Code
	}{
		"hidden":  {func() error { _, err := c.FindRepository(ctx, "", "ada/secret"); return err }, codes.NotFound},
		"unknown": {func() error { _, err := c.Viewer(ctx, "a-token-of-nobody"); return err }, codes.Unauthenticated},
		"cursor":  {func() error { _, err := c.ListStarred(ctx, token, codehost.PageRequest{Cursor: "x"}); return err }, codes.InvalidArgument},
		"name":    {func() error { _, err := c.FindRepository(ctx, token, "a/../b"); return err }, codes.InvalidArgument},
		"site":    {func() error { _, err := c.Resolve(ctx, token, "https://elsewhere.example/ada/engine"); return err }, codes.InvalidArgument},
	} {
		if e := errs.From(tc.err()); e == nil || e.Code != tc.code || strings.Contains(e.Error(), token.Reveal()) {
			t.Errorf("%s: %v, want %s", name, e, tc.code)
		}
	}
	s.Instead(func(*http.Request) (int, map[string]string, string) {
		return 429, map[string]string{"Retry-After": "90"}, `{"message":"slow down"}`
	})
	_, err = c.ListStarred(ctx, token, codehost.PageRequest{})
	if e := errs.From(err); e == nil || e.Code != codes.ResourceExhausted || e.RetryAfter != 90*time.Second {
		t.Errorf("a limit: %v", err)
	}
}

func TestResolve(t *testing.T) {
	s := world(t)
	c := client(t, s)
	public := func(name string) codehost.Repo {
		return codehost.Repo{FullName: name, Visibility: "public", LastActivity: at}
	}
	one := &codehost.Resolution{Kind: codehost.KindRepo, Owner: "ada", Repos: []codehost.Repo{public("ada/engine")}}
	for input, want := range map[string]*codehost.Resolution{
		"ada/engine": one, "ADA/Engine": one, s.URL + "/ada/engine.git": one, s.URL + "/ada/engine/releases/tag/v1": one,
		"ada": {Kind: codehost.KindOwner, Owner: "ada",
			Repos:    []codehost.Repo{public("ada/engine"), {FullName: "ada/secret", Visibility: "private", LastActivity: at}},
			Warnings: []string{"1 archived repositories are left out"}},
	} {
		got, err := c.Resolve(t.Context(), token, input)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, %s", input, err, diff)
		}
	}
}

// TestStandInSpeaksTheAPI reads the answers of the stand-in with the official client, whose types follow the published
// description: the stand-in and the plugin could otherwise be wrong together.
func TestStandInSpeaksTheAPI(t *testing.T) {
	s := world(t)
	c, err := official.NewClient(s.URL, official.SetToken(token.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	if asked := s.Requests(); len(asked) != 1 || asked[0] != "GET /api/v1/version" {
		t.Errorf("making a client has asked for %q", asked)
	}
	page := official.ListOptions{Page: 1, PageSize: 2}
	releases, res, err := c.ListReleases("ada", "engine", official.ListReleasesOptions{ListOptions: page})
	if err != nil || len(releases) != 2 || res.NextPage != 2 || releases[0].TagName != "v1.4.0" || !releases[0].PublishedAt.Equal(at) ||
		releases[0].Publisher.UserName != "ada" || !releases[1].IsDraft {
		t.Errorf("releases: %+v, %v", releases, err)
	}
	repo, _, err := c.GetRepo("ada", "engine")
	if err != nil || repo.ID != 7 || repo.FullName != "ada/engine" || repo.Stars != 2 || repo.Owner.UserName != "ada" ||
		!repo.Updated.Equal(at) {
		t.Errorf("repository: %+v, %v", repo, err)
	}
	tags, _, err := c.ListRepoTags("ada", "engine", official.ListRepoTagsOptions{})
	if err != nil || len(tags) != 2 || tags[0].Name != "v1.4.0" || len(tags[0].Commit.SHA) != 40 || !tags[0].Commit.Created.Equal(at) {
		t.Errorf("tags: %+v, %v", tags, err)
	}
	starred, _, err := c.GetMyStarredRepos()
	if err != nil || len(starred) != 2 || starred[0].FullName != "bob/loom" {
		t.Errorf("stars: %+v, %v", starred, err)
	}
	threads, _, err := c.ListNotifications(official.ListNotificationOptions{Since: at.Add(-time.Hour)})
	if err != nil || len(threads) != 1 || threads[0].ID != 3 || threads[0].Repository.FullName != "bob/loom" ||
		threads[0].Subject.HTMLURL == "" || !threads[0].Unread {
		t.Errorf("notifications: %+v, %v", threads, err)
	}
	me, _, err := c.GetMyUserInfo()
	if err != nil || me.UserName != "ada" || me.AvatarURL != "https://avatars.example.com/ada" {
		t.Errorf("viewer: %+v, %v", me, err)
	}
	if _, res, err := c.GetRepo("ada", "none"); err == nil || res.StatusCode != 404 {
		t.Errorf("a missing repository: %v", err)
	}
}
