package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// populate gives the world of the tests releases, stars and all the rest.
func populate(s *githubtest.Server) *githubtest.Server {
	s.Change(func(s *githubtest.Server) {
		app := s.Content("me/app")
		app.Releases = []*githubtest.Release{
			{ID: 3, Tag: "v1.2.0", Name: "Third", Body: "## Changes\r\n* all", At: pushed,
				Reactions: map[string][]string{"HEART": {"other", "me"}, "EYES": {"other"}}},
			{ID: 2, Tag: "v1.1.0-rc.1", At: pushed.Add(-time.Hour), Prerelease: true}, {ID: 1, Tag: "v1.0.0", At: pushed.Add(-2 * time.Hour)},
		}
		app.Tags = []string{"v1.2.0", "v1.1.0-rc.1", "v1.0.0"}
		app.Stargazers = []githubtest.Star{{Repo: "other", At: pushed}, {Repo: "ada", At: pushed.Add(time.Hour)}}
		app.Comparisons = map[string][]string{"v1.1.0-rc.1...v1.2.0": {"Fix it", "Add that"}}
		app.Discussions = []githubtest.Discussion{
			{ID: "D1", Category: "announcements", Title: "News", Body: "We *move*.", Author: "ada", At: pushed},
			{ID: "D2", Category: "ideas", Title: "No"},
			{ID: "D3", Category: "announcements", Title: "By a ghost", At: pushed},
		}
		me := s.Account("me")
		me.Scopes = []string{"notifications", "public_repo"}
		me.Starred = []githubtest.Star{{Repo: "team/one", At: pushed}, {Repo: "team/two", At: pushed.Add(time.Hour)},
			{Repo: "other/public", At: pushed.Add(-time.Hour)}}
		me.Followers = []string{"ada", "other"}
		me.Notifications = []githubtest.Notification{
			{ID: "21", Repo: "team/one", Title: "v2", Type: "Release", Reason: "subscribed", SubjectURL: s.URL + "/repos/team/one/releases/5",
				UpdatedAt: pushed, Unread: true},
			{ID: "20", Repo: "team/one", Title: "Broken", Type: "Issue", Reason: "mention", SubjectURL: s.URL + "/repos/team/one/issues/7",
				UpdatedAt: pushed.Add(-time.Hour)},
			{ID: "19", Repo: "team/one", Title: "Better", Type: "PullRequest", Reason: "author", SubjectURL: s.URL + "/repos/team/one/pulls/8",
				UpdatedAt: pushed.Add(-48 * time.Hour)},
		}
		me.Events = []githubtest.Event{
			{ID: "33", Type: "ForkEvent", Actor: "ada", Repo: "team/one", Fork: "ada/one", At: pushed},
			{ID: "32", Type: "WatchEvent", Actor: "ada", Repo: "team/one", At: pushed},
			{ID: "31", Type: "ReleaseEvent", Actor: "other", Repo: "team/two", Tag: "v3", At: pushed},
		}
	})
	return s
}

func TestReleasesAreConditional(t *testing.T) {
	s := populate(world(t))
	s.SetQuota(githubtest.Quota{Limit: 60, Remaining: 60, Reset: time.Now().Add(time.Hour)})
	c := client(t, configOf(s))
	first, err := c.ListReleases(t.Context(), token, "me/app", codehost.PageRequest{Size: 2})
	if err != nil || len(first.Items) != 2 || first.NextCursor != "2" || first.Quota == nil || first.Quota.Remaining != 59 ||
		first.Quota.ResetAt.IsZero() {
		t.Fatalf("%+v, %v", first, err)
	}
	got := first.Items[0]
	want := codehost.Release{
		ID: "3", NodeID: "RE_3", TagName: "v1.2.0", Name: "Third", Body: "## Changes\r\n* all",
		HTMLURL:   "https://github.com/me/app/releases/tag/v1.2.0",
		CreatedAt: pushed, PublishedAt: pushed, Reactions: map[string]int64{"heart": 2, "eyes": 1}, Author: got.Author,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Author.Login != "me" || !first.Items[1].Prerelease {
		t.Errorf("%s, %+v", diff, got.Author)
	}
	for range 5 {
		same, err := c.ListReleases(t.Context(), token, "me/app", codehost.PageRequest{Size: 2, Validators: first.Validators})
		if err != nil || !same.NotModified || len(same.Items) != 0 || same.Validators != first.Validators {
			t.Fatalf("%+v, %v", same, err)
		}
	}
	if left := s.Remaining(); left != 59 {
		t.Errorf("%d requests are left of the quota, want 59: answers without news cost nothing", left)
	}
	last, err := c.ListReleases(t.Context(), token, "me/app", codehost.PageRequest{Size: 2, Cursor: first.NextCursor})
	if err != nil || len(last.Items) != 1 || last.Items[0].ID != "1" || last.NextCursor != "" {
		t.Errorf("%+v, %v", last, err)
	}
	if same, err := c.ListReleases(t.Context(), token, "me/app",
		codehost.PageRequest{Size: 2, Cursor: first.NextCursor, Validators: last.Validators}); err != nil || !same.NotModified {
		t.Errorf("the second page again: %+v, %v", same, err)
	}
	s.Change(func(s *githubtest.Server) { s.Content("me/app").Releases[0].Name = "New" })
	if changed, err := c.ListReleases(t.Context(), token, "me/app",
		codehost.PageRequest{Size: 2, Validators: first.Validators}); err != nil || changed.NotModified || changed.Items[0].Name != "New" {
		t.Errorf("%+v, %v", changed, err)
	}
	if _, err := c.ListReleases(t.Context(), token, "me/app", codehost.PageRequest{Cursor: "x"}); errs.From(err).Source != errs.Caller {
		t.Errorf("a cursor of nowhere: %v", err)
	}
}

func TestLimits(t *testing.T) {
	s := populate(world(t))
	c := client(t, configOf(s))
	s.SetQuota(githubtest.Quota{Limit: 60, Remaining: 1, Reset: time.Now().Add(20 * time.Minute)})
	if got, err := c.ListStarred(t.Context(), token, codehost.PageRequest{}); err != nil || got.Quota.Remaining != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err := c.ListReleases(t.Context(), token, "me/app", codehost.PageRequest{})
	if e := errs.From(err); e.Code != codes.ResourceExhausted || (e.RetryAfter-20*time.Minute).Abs() > 3*time.Second {
		t.Errorf("used up: %+v", e)
	}
	s.SetQuota(githubtest.Quota{Limit: 60, Remaining: 60, RetryAfter: 45 * time.Second})
	for name, err := range map[string]error{
		"REST":    second(c.ListReleases(t.Context(), token, "me/app", codehost.PageRequest{})),
		"GraphQL": second(c.ListStarred(t.Context(), token, codehost.PageRequest{})),
	} {
		if e := errs.From(err); e.Code != codes.ResourceExhausted || e.RetryAfter != 45*time.Second {
			t.Errorf("secondary limit of %s: %+v", name, e)
		}
	}
	limited := `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded ` + token.Reveal() + `"}]}`
	s.Instead(func(*http.Request) *githubtest.Answer {
		return &githubtest.Answer{Status: 200, Body: limited,
			Header: map[string]string{"X-RateLimit-Reset": fmt.Sprint(time.Now().Add(time.Minute).Unix())}}
	})
	e := errs.From(second(c.ListStarred(t.Context(), token, codehost.PageRequest{})))
	if e.Code != codes.ResourceExhausted || (e.RetryAfter-time.Minute).Abs() > 3*time.Second || strings.Contains(e.Message, token.Reveal()) {
		t.Errorf("GraphQL with status 200: %+v", e)
	}
}

func TestStarred(t *testing.T) {
	s := populate(world(t))
	c := client(t, configOf(s))
	var names []string
	for req := (codehost.PageRequest{Size: 2}); ; {
		page, err := c.ListStarred(t.Context(), token, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, star := range page.Items {
			names = append(names, star.Repository.FullName+" "+star.StarredAt.Format(time.RFC3339))
			if star.Repository.ID == "" || star.Repository.Owner.AvatarURL == "" || star.Repository.OpenGraphImageURL == "" ||
				!star.Repository.CustomOpenGraphImage {
				t.Errorf("%+v", star)
			}
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"team/two 2026-05-06T08:08:09Z", "team/one 2026-05-06T07:08:09Z", "other/public 2026-05-06T06:08:09Z"},
		names); diff != "" {
		t.Error(diff)
	}
	owned, err := c.ListOwned(t.Context(), token, codehost.PageRequest{})
	if err != nil || len(owned.Items) != 3 || owned.Items[1].FullName != "me/secret" || !owned.Items[1].Private {
		t.Errorf("%+v, %v", owned, err)
	}
	gazers, err := c.ListStargazers(t.Context(), token, "me/app", codehost.PageRequest{})
	if err != nil || len(gazers.Items) != 2 || gazers.Items[1].Account.Login != "ada" ||
		!gazers.Items[1].StarredAt.Equal(pushed.Add(time.Hour)) {
		t.Errorf("%+v, %v", gazers, err)
	}
}

func TestInbox(t *testing.T) {
	s := populate(world(t))
	c := client(t, configOf(s))
	req := codehost.NotificationsRequest{All: true, Since: pushed.Add(-2 * time.Hour)}
	page, err := c.ListNotifications(t.Context(), token, req)
	if err != nil || len(page.Items) != 2 || page.PollInterval != time.Minute {
		t.Fatalf("%+v, %v", page, err)
	}
	want := codehost.Notification{
		ThreadID: "20", RepoFullName: "team/one", Title: "Broken", SubjectType: "Issue", Reason: "mention", UpdatedAt: pushed.Add(-time.Hour),
		HTMLURL: "https://github.com/team/one/issues/7",
	}
	if diff := cmp.Diff(want, page.Items[1]); diff != "" || page.Items[0].HTMLURL != "https://github.com/team/one/releases" ||
		!page.Items[0].Unread {
		t.Errorf("%s, %+v", diff, page.Items[0])
	}
	req.Validators = page.Validators
	if same, err := c.ListNotifications(t.Context(), token, req); err != nil || !same.NotModified {
		t.Errorf("%+v, %v", same, err)
	}
	events, err := c.ListEvents(t.Context(), token, "me", codehost.PageRequest{})
	if err != nil || len(events.Items) != 2 {
		t.Fatalf("%+v, %v", events, err)
	}
	fork, release := events.Items[0], events.Items[1]
	if fork.Type != codehost.EventFork || fork.TargetFullName != "ada/one" || fork.HTMLURL != "https://github.com/ada/one" ||
		fork.Actor.Login != "ada" {
		t.Errorf("%+v", fork)
	}
	if release.Type != codehost.EventRelease || release.RepoFullName != "team/two" || release.TagName != "v3" {
		t.Errorf("%+v", release)
	}
	news, err := c.ListAnnouncements(t.Context(), token, []string{"me/app", "me/none", "team/one"})
	if err != nil || len(news.Items) != 2 || news.Items[0].Title != "News" || news.Items[0].Author.Login != "ada" ||
		news.Items[1].Author.Login != "" {
		t.Errorf("%+v, %v", news, err)
	}
}

func TestReactions(t *testing.T) {
	s := populate(world(t))
	c := client(t, configOf(s))
	read, err := c.ReadReactions(t.Context(), token, []string{"RE_3", "RE_9", "RE_1"})
	if err != nil || len(read.Items) != 2 {
		t.Fatalf("%+v, %v", read, err)
	}
	want := codehost.Reactions{NodeID: "RE_3", Counts: map[string]int64{"heart": 2, "eyes": 1}, Viewer: []string{"heart"}}
	if diff := cmp.Diff(want, read.Items[0]); diff != "" {
		t.Error(diff)
	}
	set, err := c.SetReaction(t.Context(), token, "RE_3", "heart", false)
	if err != nil || set.Reactions.Counts["heart"] != 1 || len(set.Reactions.Viewer) != 0 {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := c.SetReaction(t.Context(), token, "RE_9", "heart", true); errs.From(err).Code != codes.NotFound ||
		errs.From(err).Source != errs.Upstream {
		t.Errorf("%v", err)
	}
}

func TestCompare(t *testing.T) {
	s := populate(world(t))
	c := client(t, configOf(s))
	got, err := c.Compare(t.Context(), token, "me/app", "v1.1.0-rc.1", "v1.2.0")
	if err != nil || got.Status != "ahead" || got.TotalCommits != 2 || got.Commits[1].Subject != "Add that" ||
		got.Files[0].Path != "main.go" || got.Files[0].Patch == "" {
		t.Errorf("%+v, %v", got, err)
	}
}
