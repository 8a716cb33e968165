package releases

import (
	"cmp"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// The groups of operations in the document.
const (
	tagRead   = "Read"
	tagSync   = "Sync, briefs and tasks"
	tagFollow = "Following"
	tagToken  = "Accounts at the code host"
	tagReact  = "Reactions"
	// tagSyndication has what feed readers read.
	tagSyndication = "Feeds for readers"
	// tagAccount has the name that core/auth/account gives it.
	tagAccount = "Own account"
)

// newAPI declares all endpoints of the service.
func (s *Service) newAPI(baseURL string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay releases", Version: cmp.Or(s.cfg.Version, "0.0.0-dev"), BaseURL: baseURL, Invalid: fault.BadRequest,
		Description: "The releases of the repositories that a person has starred or follows, with notifications and daily briefs.",
		Tags:        []*huma.Tag{{Name: tagRead}, {Name: tagSync}, {Name: tagFollow}, {Name: tagReact}, {Name: tagTranslate}, {Name: tagSyndication}, {Name: tagToken, Description: "For signed-in people, not for API keys."}, {Name: tagAccount}},
	})
	s.declareFeed(a)
	s.declareUpdates(a)
	s.readAPI(a)
	s.declareTasks(a)
	s.tokenAPI(a)
	s.accountsAPI(a)
	s.publicAPI(a)
	s.reactionAPI(a)
	s.syndicationAPI(a)
	s.followAPI(a)
	s.importAPI(a)
	s.translateAPI(a)
	s.state.Load().sets.OwnKeys(a, "/api", ServiceName)
	return a
}

// newOperation begins the declaration of an endpoint.
func newOperation(id, method, path, tag string, policy httpd.Policy, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: policy, Tag: tag, Summary: summary, Errors: errors}
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

// readAPI declares the lists and releases.
func (s *Service) readAPI(a *api.API) {
	op := func(id, path, summary string, errors ...int) api.Operation {
		return newOperation(id, http.MethodGet, path, tagRead, httpd.APIKey, summary, errors...)
	}
	api.Register(a, withText(op("starred", "/api/starred", "Starred repositories"), "At most 2000, the latest star first."), s.listStarred)
	api.Register(a, withText(op("releases", "/api/releases", "The latest releases"), "At most 200, of the repositories that the caller sees."), s.listReleases)
	api.Register(a, withText(op("release", "/api/releases/{release_id}/detail", "A release with its whole text", http.StatusNotFound), "404 for a release of a repository that the caller does not see, unless a brief of the caller names it."), s.getRelease)
	api.Register(a, withText(op("notifications", "/api/notifications", "Notifications"), "At most 200, the latest first."), s.listNotifications)
	s.declareReleaseByTag(a)
}
