package gitea_test

import (
	"fmt"
	"testing"

	official "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/codehost/gitea"
	"github.com/patchbay-dev/patchbay/plugins/internal/giteaserver"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// forge is a real Gitea with repositories of two people.
type forge struct {
	*giteaserver.Server

	ada, bob *official.Client
	token    schema.Secret
	engine   *official.Repository
}

// newForge starts a Gitea and fills it with what world puts into the double.
func newForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{Server: giteaserver.Start(t)}
	f.token = schema.Secret(f.CreateUser(t, "ada"))
	f.ada, f.bob = f.Client(t, f.token.Reveal()), f.Client(t, f.CreateUser(t, "bob"))
	f.engine = giteaserver.CreateRepo(t, f.ada, "engine", false)
	for i := range 4 {
		tag := fmt.Sprintf("v1.%d.0", i)
		giteaserver.Commit(t, f.ada, f.engine, tag+".txt", "Changes of "+tag+"\n\nIn detail.")
		giteaserver.CreateRelease(t, f.ada, f.engine,
			official.CreateReleaseOption{TagName: tag, Title: "Engine " + tag, Note: "**Notes**", IsPrerelease: i == 3})
	}
	giteaserver.CreateRelease(t, f.ada, f.engine, official.CreateReleaseOption{TagName: "v2.0.0", Title: "Not yet", IsDraft: true})
	giteaserver.CreateRepo(t, f.ada, "secret", true)
	old := giteaserver.CreateRepo(t, f.ada, "old", false)
	archived := true
	_, _, err := f.ada.EditRepo("ada", old.Name, official.EditRepoOption{Archived: &archived})
	require(t, err)
	giteaserver.CreateRepo(t, f.bob, "loom", false)
	for _, star := range []struct {
		by          *official.Client
		owner, name string
	}{{f.ada, "bob", "loom"}, {f.ada, "ada", "engine"}, {f.bob, "ada", "engine"}} {
		_, err := star.by.StarRepo(star.owner, star.name)
		require(t, err)
	}
	_, err = f.bob.Follow("ada")
	require(t, err)
	giteaserver.CreateIssue(t, f.bob, f.ada, f.engine, "Patterns are lost")
	return f
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *forge) config() string { return fmt.Sprintf(`{"base_url":%q}`, f.URL) }

// TestServer runs the checks of the kind against a real Gitea, and reads from it what the double gives.
func TestServer(t *testing.T) {
	f := newForge(t)
	conformance.TestCodeHost(t, gitea.Plugin(), conformance.CodeHostConfig{
		JSON: f.config(), Token: f.token, ReleasesOf: "ada/engine", Missing: "ada/none",
		Inputs: map[string]string{"ada/engine": codehost.KindRepo, "ada": codehost.KindOwner, f.URL + "/ada/engine/releases": codehost.KindRepo},
	})
	l := plugintest.Load(t, gitea.Plugin())
	c := codehost.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, codehost.Kind, "forge", f.config())))
	t.Run("releases", func(t *testing.T) { checkReleases(t, f, c) })
	t.Run("people", func(t *testing.T) { checkPeople(t, f, c) })
	t.Run("refusals", func(t *testing.T) { checkRefusals(t, c) })
}

func checkReleases(t *testing.T, f *forge, c *codehost.Client) {
	ctx := t.Context()
	var releases []codehost.Release
	for req := (codehost.PageRequest{Size: 2}); ; {
		page, err := c.ListReleases(ctx, "", "ada/engine", req)
		require(t, err)
		releases = append(releases, page.Items...)
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	var tags []string
	for _, r := range releases {
		tags = append(tags, r.TagName)
		if r.Draft || r.ID == "" || r.CreatedAt.IsZero() || r.PublishedAt.IsZero() || r.Prerelease != (r.TagName == "v1.3.0") ||
			r.Name != "Engine "+r.TagName || r.Body != "**Notes**" ||
			r.Author.Login != "ada" || r.HTMLURL != f.URL+"/ada/engine/releases/tag/"+r.TagName {
			t.Errorf("release %+v", r)
		}
	}
	if want := []string{"v1.3.0", "v1.2.0", "v1.1.0", "v1.0.0"}; !cmp.Equal(tags, want) {
		t.Errorf("got %q, want %q, without the draft", tags, want)
	}
	first, err := c.ListReleases(ctx, f.token, "ada/engine", codehost.PageRequest{})
	require(t, err)
	if again, err := c.ListReleases(ctx, f.token, "ada/engine", codehost.PageRequest{Validators: first.Validators}); err != nil ||
		!again.NotModified {
		t.Errorf("the same page again: %+v, %v", again, err)
	}
	listed, err := c.ListTags(ctx, "", "ada/engine", codehost.PageRequest{})
	if err != nil || len(listed.Items) != 4 || len(listed.Items[0].Commit) != 40 || listed.Items[0].CreatedAt.IsZero() {
		t.Errorf("tags: %+v, %v", listed, err)
	}
	compared, err := c.Compare(ctx, "", "ada/engine", "v1.1.0", "v1.3.0")
	if err != nil || compared.Status != "ahead" || compared.TotalCommits != 2 || len(compared.Commits) != 2 ||
		compared.Commits[0].Subject != "Changes of v1.3.0" {
		t.Errorf("comparison: %+v, %v", compared, err)
	}
	if same, err := c.Compare(ctx, "", "ada/engine", "v1.1.0", "v1.1.0"); err != nil || same.Status != "identical" {
		t.Errorf("a tag compared with itself: %+v, %v", same, err)
	}
}

func checkPeople(t *testing.T, f *forge, c *codehost.Client) {
	ctx := t.Context()
	me, err := c.Viewer(ctx, f.token)
	if err != nil || me.Account.Login != "ada" || me.Account.ID == "" {
		t.Errorf("viewer: %+v, %v", me, err)
	}
	starred, err := c.ListStarred(ctx, f.token, codehost.PageRequest{})
	names := map[string]bool{}
	if err == nil {
		for _, s := range starred.Items {
			names[s.Repository.FullName] = s.Repository.HTMLURL == f.URL+"/"+s.Repository.FullName
		}
	}
	if want := map[string]bool{"bob/loom": true, "ada/engine": true}; err != nil || !cmp.Equal(names, want) {
		t.Errorf("stars: %v, %v", names, err)
	}
	gazers, err := c.ListStargazers(ctx, "", "ada/engine", codehost.PageRequest{})
	if err != nil || len(gazers.Items) != 2 {
		t.Errorf("stargazers: %+v, %v", gazers, err)
	}
	followers, err := c.ListFollowers(ctx, f.token, codehost.PageRequest{})
	if err != nil || len(followers.Items) != 1 || followers.Items[0].Login != "bob" {
		t.Errorf("followers: %+v, %v", followers, err)
	}
	owned, err := c.ListOwned(ctx, f.token, codehost.PageRequest{})
	if err != nil || len(owned.Items) != 3 {
		t.Errorf("own repositories: %+v, %v", owned, err)
	}
	inbox, err := c.ListNotifications(ctx, f.token, codehost.NotificationsRequest{})
	if err != nil || len(inbox.Items) != 1 || inbox.Items[0].Title != "Patterns are lost" || !inbox.Items[0].Unread ||
		inbox.Items[0].RepoFullName != "ada/engine" || inbox.Items[0].HTMLURL != f.URL+"/ada/engine/issues/1" {
		t.Errorf("notifications: %+v, %v", inbox, err)
	}
	resolved, err := c.Resolve(ctx, f.token, "ada")
	if err != nil || len(resolved.Repos) != 2 || len(resolved.Warnings) != 1 {
		t.Errorf("repositories of ada, without the archived one: %+v, %v", resolved, err)
	}
}

func checkRefusals(t *testing.T, c *codehost.Client) {
	ctx := t.Context()
	_, hidden := c.FindRepository(ctx, "", "ada/secret")
	_, unknown := c.Viewer(ctx, "0123456789012345678901234567890123456789")
	_, missing := c.Compare(ctx, "", "ada/engine", "v1.0.0", "v9.9.9")
	for name, tc := range map[string]struct {
		err  error
		code codes.Code
	}{"hidden": {hidden, codes.NotFound}, "unknown": {unknown, codes.Unauthenticated}, "missing": {missing, codes.NotFound}} {
		if e := errs.From(tc.err); e == nil || e.Code != tc.code {
			t.Errorf("%s: %v, want %s", name, tc.err, tc.code)
		}
	}
}
