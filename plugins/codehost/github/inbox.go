package github

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// thread is a notification as the API has it.
type thread struct {
	ID        string    `json:"id"`
	Unread    bool      `json:"unread"`
	Reason    string    `json:"reason"`
	UpdatedAt time.Time `json:"updated_at"`
	Subject   struct {
		Title string `json:"title"`
		URL   string `json:"url"`
		Type  string `json:"type"`
	} `json:"subject"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
}

// ListNotifications implements codehost.NotificationHost.
func (h *host) ListNotifications(ctx context.Context, token schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	query := url.Values{}
	if req.All {
		query.Set("all", "true")
	}
	if !req.Since.IsZero() {
		query.Set("since", req.Since.UTC().Format(time.RFC3339))
	}
	// The API gives at most 50 notifications at once.
	req.Size = min(pageSize(req.PageRequest), 50)
	c := pageCall{token: token, query: query, path: []string{"notifications"}, page: req.PageRequest}
	return fetchPage(ctx, h, c, func(t *thread) (codehost.Notification, bool) {
		return codehost.Notification{
			ThreadID: t.ID, RepoFullName: t.Repository.FullName, Title: t.Subject.Title, SubjectType: t.Subject.Type, Reason: t.Reason,
			UpdatedAt: t.UpdatedAt.UTC(), Unread: t.Unread, HTMLURL: h.threadURL(t),
		}, t.ID != ""
	})
}

// subjectPath is the path of a notification's subject in the API, below the repository.
var subjectPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/repos/([^/]+/[^/]+)/(issues|pulls|commits|discussions)/([0-9a-f]+)$`)
})

// pageWords are the words of the API's paths in the addresses of pages.
var pageWords = map[string]string{"issues": "issues", "pulls": "pull", "commits": "commit", "discussions": "discussions"}

// threadURL returns the page for people of a notification: that of its subject, or the place in the repository where its
// kind of subject is.
func (h *host) threadURL(t *thread) string {
	if u, err := url.Parse(t.Subject.URL); err == nil && t.Subject.URL != "" {
		if m := subjectPath().FindStringSubmatch(strings.TrimPrefix(u.Path, h.base.Path)); m != nil && reponame.IsFullName(m[1]) {
			return h.webURL(m[1] + "/" + pageWords[m[2]] + "/" + m[3])
		}
	}
	if !reponame.IsFullName(t.Repository.FullName) {
		return h.webURL("notifications")
	}
	switch t.Subject.Type {
	case "Release":
		return h.webURL(t.Repository.FullName + "/releases")
	case "Discussion":
		return h.webURL(t.Repository.FullName + "/discussions")
	case "CheckSuite", "WorkflowRun":
		return h.webURL(t.Repository.FullName + "/actions")
	}
	return h.webURL(t.Repository.FullName)
}

// event is one of the events that an account receives.
type event struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Actor struct {
		ID        int64  `json:"id"`
		Login     string `json:"login"`
		AvatarURL string `json:"avatar_url"`
	} `json:"actor"`
	Repo struct {
		Name string `json:"name"`
	} `json:"repo"`
	Payload struct {
		Action string `json:"action"`
		Forkee struct {
			FullName string `json:"full_name"`
			HTMLURL  string `json:"html_url"`
		} `json:"forkee"`
		Release release `json:"release"`
	} `json:"payload"`
	CreatedAt time.Time `json:"created_at"`
}

// ListEvents implements codehost.EventHost. A page may have fewer items than were asked for: other events are left out.
func (h *host) ListEvents(ctx context.Context, token schema.Secret, login string,
	page codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
	if !reponame.IsOwner(login) {
		return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the login is not one of this host")
	}
	c := pageCall{token: token, path: []string{"users", login, "received_events"}, page: page}
	return fetchPage(ctx, h, c, h.convertEvent)
}

func (h *host) convertEvent(e *event) (codehost.Event, bool) {
	out := codehost.Event{
		ID: e.ID, RepoFullName: e.Repo.Name, CreatedAt: e.CreatedAt.UTC(),
		Actor: codehost.Account{ID: formatID(e.Actor.ID), Login: e.Actor.Login, AvatarURL: e.Actor.AvatarURL, HTMLURL: h.webURL(e.Actor.Login)},
	}
	switch {
	case e.ID == "" || !reponame.IsFullName(e.Repo.Name):
		return out, false
	case e.Type == "ForkEvent":
		out.Type, out.TargetFullName, out.HTMLURL = codehost.EventFork, e.Payload.Forkee.FullName, e.Payload.Forkee.HTMLURL
		if out.HTMLURL == "" && out.TargetFullName != "" {
			out.HTMLURL = h.webURL(out.TargetFullName)
		}
	case e.Type == "ReleaseEvent" && e.Payload.Action == "published":
		out.Type, out.Title, out.TagName, out.HTMLURL = codehost.EventRelease, e.Payload.Release.Name, e.Payload.Release.TagName,
			e.Payload.Release.HTMLURL
		if out.HTMLURL == "" {
			out.HTMLURL = h.webURL(e.Repo.Name + "/releases")
		}
	default:
		return out, false
	}
	return out, true
}
