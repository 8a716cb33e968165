package giteaserver

import (
	"encoding/base64"
	"testing"

	official "code.gitea.io/sdk/gitea"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// CreateRepo makes a repository with a first commit.
func CreateRepo(t testing.TB, c *official.Client, name string, private bool) *official.Repository {
	t.Helper()
	repo, _, err := c.CreateRepo(official.CreateRepoOption{Name: name, Private: private, AutoInit: true, DefaultBranch: "main"})
	if err != nil {
		t.Fatalf("repository %s: %v", name, err)
	}
	return repo
}

// Commit adds a file to a repository in a commit of its own, whose message is given.
func Commit(t testing.TB, c *official.Client, repo *official.Repository, path, message string) {
	t.Helper()
	_, _, err := c.CreateFile(repo.Owner.UserName, repo.Name, path, official.CreateFileOptions{
		FileOptions: official.FileOptions{Message: message, BranchName: "main"}, Content: base64.StdEncoding.EncodeToString([]byte(message)),
	})
	if err != nil {
		t.Fatalf("commit %q: %v", message, err)
	}
}

// CreateIssue makes an issue of a repository, and returns when reader, who watches the repository, has its notification.
func CreateIssue(t testing.TB, author, reader *official.Client, repo *official.Repository, title string) {
	t.Helper()
	if _, _, err := author.CreateIssue(repo.Owner.UserName, repo.Name, official.CreateIssueOption{Title: title}); err != nil {
		t.Fatalf("issue %q: %v", title, err)
	}
	testkit.Eventually(t, startLimit, func() bool {
		found, _, err := reader.ListNotifications(official.ListNotificationOptions{})
		return err == nil && len(found) > 0 && found[0].Subject.Title == title
	}, "the notification of the issue "+title)
}

// CreateRelease makes a release, and its tag unless it is a draft.
func CreateRelease(t testing.TB, c *official.Client, repo *official.Repository, release official.CreateReleaseOption) *official.Release {
	t.Helper()
	release.Target = "main"
	out, _, err := c.CreateRelease(repo.Owner.UserName, repo.Name, release)
	if err != nil {
		t.Fatalf("release %s: %v", release.TagName, err)
	}
	return out
}
