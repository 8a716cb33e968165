package pages

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/auth"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// Service is what the pages show and change. *releases.Service implements it.
type Service interface {
	overviewReader
	feedReader
	releaseReader
	reactionChanger
	publicReader
	briefWriter
	translationStarter
	repoFollower
	repoPublisher
	preferenceKeeper
	accountLinker
	feedTokenKeeper
	signInKeeper
	browserReader
}

// overviewReader tells how the service is doing.
type overviewReader interface {
	StatusOf(ctx context.Context) (service.Status, error)
	OverviewOf(ctx context.Context) (service.Overview, error)
	ModelUse(ctx context.Context, cursor string) (translation.ModelUse, error)
}

// feedReader reads the feed and the notifications, and has them read anew.
type feedReader interface {
	ListFeedAndReads(ctx context.Context, choice feed.Choice) (feed.Page, error)
	TranslateItems(ctx context.Context, items []feed.Item) (map[int64]translation.Translated, error)
	Notifications(ctx context.Context) ([]reading.NotificationItem, error)
	SetRead(ctx context.Context, id string, read bool) error
	StartSync(ctx context.Context) error
}

// releaseReader reads releases.
type releaseReader interface {
	Release(ctx context.Context, repoName, tag, language string) (reading.ReleaseDetail, error)
	ReleaseByID(ctx context.Context, id, language string) (reading.ReleaseDetail, error)
}

// reactionChanger reads and leaves reactions.
type reactionChanger interface {
	ReactionsTo(ctx context.Context, releaseID string) (reading.ReactionBar, error)
	RefreshReactions(ctx context.Context, releaseID string) (reading.ReactionBar, error)
	ToggleReaction(ctx context.Context, releaseID, content string) (reading.ReactionItem, error)
}

// publicReader reads what everybody may.
type publicReader interface {
	AllowPublic(address string) error
	PublicReleases(ctx context.Context, fullName, content, cursor string, count int) (reading.PublicPage, error)
	PublicRelease(ctx context.Context, fullName, tag string) (reading.ReleaseDetail, error)
}

// briefWriter reads and writes briefs.
type briefWriter interface {
	Briefs(ctx context.Context) ([]reading.BriefSummary, error)
	Brief(ctx context.Context, id string) (reading.BriefDetail, error)
	WriteBrief(ctx context.Context) (string, error)
}

// translationStarter has releases translated.
type translationStarter interface {
	StartTranslation(ctx context.Context, id string, summary bool) error
}

// repoFollower changes which repositories the caller sees.
type repoFollower interface {
	Followed(ctx context.Context) ([]follow.FollowedRepo, error)
	Follow(ctx context.Context, text string) (string, error)
	Unfollow(ctx context.Context, owner, name string) error
	SetFilter(ctx context.Context, owner, name string, chosen follow.RepoFilter) (follow.RepoFilter, error)
	ImportRepos(ctx context.Context, format, content string) (follow.ImportResult, error)
}

// repoPublisher changes which repositories everybody may read.
type repoPublisher interface {
	PublicState(ctx context.Context) (follow.PublicState, error)
	PublishRepo(ctx context.Context, text string) error
	UnpublishRepo(ctx context.Context, name string) error
}

// preferenceKeeper keeps what the caller has chosen.
type preferenceKeeper interface {
	Preferences(ctx context.Context) (reader.Preferences, error)
	SavePreferences(ctx context.Context, p reader.Preferences) error
}

// accountLinker keeps the caller's accounts at the code hosts.
type accountLinker interface {
	Accounts(ctx context.Context) ([]link.Account, error)
	AddAccount(ctx context.Context, token string) (link.Account, error)
	SetAccountReads(ctx context.Context, id string, reads link.AccountReads) (link.Account, error)
	DeleteAccount(ctx context.Context, id string) error
}

// feedTokenKeeper keeps the caller's feeds for feed readers.
type feedTokenKeeper interface {
	FeedTokens(ctx context.Context) ([]syndication.FeedToken, error)
	AddFeedToken(ctx context.Context, name string, of syndication.FeedSelection) (syndication.NewFeedToken, error)
	DeleteFeedToken(ctx context.Context, id string) error
	HasPasskey(ctx context.Context) (bool, error)
}

// signInKeeper lets people sign in at the code host.
type signInKeeper interface {
	SignInName() string
	BeginSignIn(ctx context.Context, p *auth.Principal, from auth.Origin, next string) (signin.SignInStart, error)
	FinishSignIn(ctx context.Context, p *auth.Principal, from auth.Origin, answer signin.SignInAnswer) (signin.SignInResult, error)
}

// browserReader tells who makes a request, and by which way it has come.
type browserReader interface {
	Recognise(r *http.Request) *auth.Principal
	IsSecure(r *http.Request) bool
	Origin(r *http.Request) string
}
