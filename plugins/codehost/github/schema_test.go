package github_test

import (
	"testing"
	"time"

	official "github.com/google/go-github/v84/github"
)

// TestStandInSpeaksTheAPI reads the answers of the stand-in with google/go-github, whose types follow the published
// description: the stand-in and the plugin could otherwise be wrong together.
func TestStandInSpeaksTheAPI(t *testing.T) {
	s := populate(world(t))
	c, err := official.NewClient(nil).WithAuthToken(token.Reveal()).WithEnterpriseURLs(s.URL, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c.BaseURL.Path = "/"
	ctx := t.Context()
	releases, res, err := c.Repositories.ListReleases(ctx, "me", "app", &official.ListOptions{PerPage: 2})
	if err != nil || len(releases) != 2 || res.NextPage != 2 || releases[0].GetID() != 3 || releases[0].GetNodeID() != "RE_3" ||
		!releases[0].GetPublishedAt().Equal(official.Timestamp{Time: pushed}) {
		t.Errorf("releases: %+v, %v", releases, err)
	}
	tags, _, err := c.Repositories.ListTags(ctx, "me", "app", nil)
	if err != nil || len(tags) != 3 || tags[0].GetName() != "v1.2.0" || len(tags[0].GetCommit().GetSHA()) != 40 {
		t.Errorf("tags: %+v, %v", tags, err)
	}
	threads, _, err := c.Activity.ListNotifications(ctx, &official.NotificationListOptions{All: true, Since: pushed.Add(-2 * time.Hour)})
	if err != nil || len(threads) != 2 || threads[1].GetSubject().GetType() != "Issue" ||
		threads[1].GetRepository().GetFullName() != "team/one" {
		t.Errorf("notifications: %+v, %v", threads, err)
	}
	events, _, err := c.Activity.ListEventsReceivedByUser(ctx, "me", false, nil)
	if err != nil || len(events) != 3 {
		t.Fatalf("events: %+v, %v", events, err)
	}
	payload, err := events[0].ParsePayload()
	if fork, ok := payload.(*official.ForkEvent); err != nil || !ok || fork.GetForkee().GetFullName() != "ada/one" {
		t.Errorf("fork: %+v, %v", payload, err)
	}
	payload, err = events[2].ParsePayload()
	if release, ok := payload.(*official.ReleaseEvent); err != nil || !ok || release.GetAction() != "published" ||
		release.GetRelease().GetTagName() != "v3" {
		t.Errorf("release: %+v, %v", payload, err)
	}
	gazers, _, err := c.Activity.ListStargazers(ctx, "me", "app", nil)
	if err != nil || len(gazers) != 2 || gazers[1].GetUser().GetLogin() != "ada" {
		t.Errorf("stargazers: %+v, %v", gazers, err)
	}
	comparison, _, err := c.Repositories.CompareCommits(ctx, "me", "app", "v1.1.0-rc.1", "v1.2.0", nil)
	if err != nil || comparison.GetStatus() != "ahead" || len(comparison.Files) != 1 || comparison.Files[0].GetFilename() != "main.go" {
		t.Errorf("comparison: %+v, %v", comparison, err)
	}
	viewer, res, err := c.Users.Get(ctx, "")
	if err != nil || viewer.GetLogin() != "me" || res.Header.Get("X-OAuth-Scopes") != "notifications, public_repo" {
		t.Errorf("viewer: %+v, %v", viewer, err)
	}
}
