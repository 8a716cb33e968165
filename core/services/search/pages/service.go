package pages

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/alert"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// Service is what the pages show and change. *search.Service implements it.
type Service interface {
	tokenReader
	tokenChanger
	tokenSecrets
	tokenUse
	keyReader
	keyChanger
	keyAsker
	requestReader
	chartReader
	backendCaller
	backendReader
}

// tokenReader reads access tokens.
type tokenReader interface {
	FindTokens(ctx context.Context, f access.TokenFilter, page, perPage int) (access.TokenPage, error)
	Token(ctx context.Context, id string) (access.AuthToken, error)
	TokensOf(ctx context.Context, user string) (access.TokenPage, error)
	TokenNotes(ctx context.Context, ids []string) (map[string]string, error)
	TokenGroups(ctx context.Context) ([]access.TokenGroup, error)
}

// tokenChanger changes access tokens.
type tokenChanger interface {
	CreateToken(ctx context.Context, n access.NewToken) (text string, err error)
	AssignToken(ctx context.Context, id string, c access.TokenChange) error
	SetTokenEnabled(ctx context.Context, id string, enabled bool) error
	DeleteToken(ctx context.Context, id string) error
}

// tokenSecrets shows the texts of access tokens.
type tokenSecrets interface {
	TokenText(ctx context.Context, id string) (string, error)
	RotateToken(ctx context.Context, id string) (string, error)
	Owners(ctx context.Context) ([]auth.User, error)
}

// tokenUse tells what access tokens have used.
type tokenUse interface {
	HasTokens(ctx context.Context) (bool, error)
	ClientSeen() bool
	DashboardOf(ctx context.Context, user string) (access.Dashboard, error)
	TopTokens(ctx context.Context, window string, limit int) ([]access.TopToken, error)
}

// keyReader reads upstream keys.
type keyReader interface {
	FindKeys(ctx context.Context, f keys.KeyFilter, page, perPage int) (keys.KeyPage, error)
	Key(ctx context.Context, id string) (keys.APIKey, error)
	KeyHistory(ctx context.Context, id, cursor string, limit int) (keys.KeyChanges, error)
	KeyStates() map[keys.KeyState]int
	NeedsKeys() bool
}

// keyChanger changes upstream keys.
type keyChanger interface {
	AddKeys(ctx context.Context, group string, values []string) ([]keys.AddedKey, error)
	SetKeyEnabled(ctx context.Context, id string, on bool) error
	QuarantineKey(ctx context.Context, id, reason string) error
	ReleaseKey(ctx context.Context, id string) error
	DeleteKey(ctx context.Context, id string) error
}

// keyAsker asks upstreams about keys, and adds up what they have left.
type keyAsker interface {
	SyncKey(ctx context.Context, id string) error
	Summary(ctx context.Context) (keys.Summary, error)
}

// requestReader reads the log of requests.
type requestReader interface {
	Requests(ctx context.Context, f audit.LogFilter, cursor string, limit int) (audit.LogPage, error)
	Request(ctx context.Context, id int64) (audit.RequestDetails, error)
	Live() *event.Subscription
	LogCatalog() audit.LogCatalog
}

// chartReader draws requests over time.
type chartReader interface {
	Chart(ctx context.Context, window string) (*audit.Chart, error)
	TokenChart(ctx context.Context, id, window string) (*audit.Chart, error)
	KeyChart(ctx context.Context, id, window string) (*audit.Chart, error)
	Totals(ctx context.Context, window string) (audit.ChartSums, error)
}

// backendCaller calls the backends.
type backendCaller interface {
	Operations() []proxy.Operation
	Try(ctx context.Context, t proxy.Trial) (proxy.TrialAnswer, error)
	Reindex(ctx context.Context, backend string) error
}

// backendReader tells about the backends.
type backendReader interface {
	Backends() int
	Indexes(ctx context.Context) []proxy.Index
	FindIndexed(ctx context.Context, text string, limit int) []proxy.IndexedDocument
	Troubles() []alert.Trouble
}
