package task

import (
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// Results of tasks, as answers have them.
type (
	// StarredResult tells how many repositories are starred.
	StarredResult struct {
		Repos int `json:"repos"`
	}
	// ReleasesResult tells how many repositories were read, and how many releases are new or have changed.
	ReleasesResult struct {
		Repos       int      `json:"repos"`
		Releases    int      `json:"releases"`
		FailedRepos []string `json:"failed_repos,omitempty" doc:"Some of those that could not be read."`
	}
	// NotificationsResult tells how many notifications were read, and from which time on.
	NotificationsResult struct {
		Notifications int       `json:"notifications"`
		Since         *api.Time `json:"since" nullable:"true"`
	}
	// SocialResult tells how many items are new in the feed.
	SocialResult struct {
		RepoStars int `json:"repo_stars"`
		Followers int `json:"followers"`
		Events    int `json:"events"`
	}
	// AllResult is the result of all of them.
	AllResult struct {
		Starred       StarredResult       `json:"starred"`
		Releases      ReleasesResult      `json:"releases"`
		Social        SocialResult        `json:"social"`
		Notifications NotificationsResult `json:"notifications"`
		SocialError   string              `json:"social_error,omitempty"`
	}
)
