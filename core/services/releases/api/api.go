// Package api is the HTTP API of the release feed. Its handlers read requests and write answers; what they say is found by the rooms.
package api

import (
	"cmp"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
	"github.com/patchbay-dev/patchbay/core/services/releases/task"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// Config is what the API needs.
type Config struct {
	Readers      *reader.Readers
	Reading      *reading.Reading
	Following    *follow.Following
	Links        *link.Links
	Feeds        *syndication.Feeds
	Translator   *translation.Translator
	Translations *translate.Translations
	Tasks        *task.Tasks
	// Sets returns what declares the endpoints for the caller's own keys.
	Sets func() *account.Sets
	// Origin returns the origin whose pages may call the API that is mounted below a base URL, "" for none.
	Origin func(baseURL string) string
	// Version is the core's own.
	Version string
}

// API is the HTTP API of the service.
type API struct {
	cfg         Config
	readers     *readHandlers
	tasks       *taskHandlers
	accounts    *accountHandlers
	public      *publicHandlers
	reactions   *reactionHandlers
	syndication *syndicationHandlers
	follow      *followHandlers
	translate   *translateHandlers
}

// New returns the API.
func New(cfg Config) *API {
	translate := &translateHandlers{cfg.Readers, cfg.Translator, cfg.Translations}
	return &API{
		cfg: cfg, readers: &readHandlers{cfg.Reading, cfg.Translator}, tasks: &taskHandlers{cfg.Reading, cfg.Tasks, cfg.Translator, translate},
		accounts: &accountHandlers{cfg.Links}, public: &publicHandlers{cfg.Reading}, reactions: &reactionHandlers{cfg.Reading},
		syndication: &syndicationHandlers{cfg.Feeds}, follow: &followHandlers{cfg.Readers, cfg.Following}, translate: translate,
	}
}

// declareOperations declares all endpoints of the service.
func (s *API) declareOperations(baseURL string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay releases", Version: cmp.Or(s.cfg.Version, "0.0.0-dev"), BaseURL: baseURL, Invalid: fault.BadRequest,
		Description: "The releases of the repositories that a person has starred or follows, with notifications and daily briefs.",
		Tags: []*huma.Tag{{Name: tagRead}, {Name: tagSync}, {Name: tagFollow}, {Name: tagReact}, {Name: tagTranslate},
			{Name: tagSyndication}, {Name: tagToken, Description: "For signed-in people, not for API keys."}, {Name: tagAccount}},
	})
	s.readers.declareFeed(a)
	s.readers.declareUpdates(a)
	s.readers.readAPI(a)
	s.tasks.declareTasks(a)
	s.accounts.tokenAPI(a)
	s.accounts.accountsAPI(a)
	s.public.publicAPI(a)
	s.reactions.reactionAPI(a)
	s.syndication.syndicationAPI(a)
	s.follow.followAPI(a)
	s.follow.importAPI(a)
	s.translate.translateAPI(a, s.tasks.serveTask)
	s.cfg.Sets().OwnKeys(a, "/api", "releases")
	return a
}
