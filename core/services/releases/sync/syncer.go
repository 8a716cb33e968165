// Package sync reads code hosts: the releases of repositories, and the stars, notifications and followers of users.
package sync

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/singleflight"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// ReleaseReader reads what repositories have.
type ReleaseReader interface {
	codehost.ReleaseHost
	codehost.TagHost
}

// AccountReader reads what an account has.
type AccountReader interface {
	codehost.ViewerHost
	codehost.StarHost
	codehost.NotificationHost
}

// SocialReader reads who stars and follows, and what followed accounts do.
type SocialReader interface {
	codehost.SocialHost
	codehost.EventHost
	codehost.AnnouncementHost
}

// NameResolver tells which repositories an address names.
type NameResolver interface {
	Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error)
}

// Host is a code host.
type Host struct {
	// Ref is the reference of the instance, such as codehost.github.
	Ref      string
	Releases ReleaseReader
	Account  AccountReader
	Social   SocialReader
	// Reactions are those to releases.
	Reactions codehost.ReactionHost
	Names     NameResolver
	// Compare tells what changed between tags.
	Compare codehost.CompareHost
	// OAuth is where people sign in.
	OAuth codehost.OAuthHost
	// Abilities returns what the host can do.
	Abilities func() (client.CodeHostAbilities, error)
}

// NewHost returns the host behind a client.
func NewHost(ref string, c client.CodeHost) Host {
	return Host{Ref: ref, Releases: c, Account: c, Social: c, Reactions: c, Names: c, Compare: c, OAuth: c, Abilities: c.Abilities}
}

// Config is what a Syncer needs.
type Config struct {
	// Store is the database of the other stores.
	Store    *store.Store
	Repos    *repo.Store
	Feed     *feed.Store
	Accounts *account.Store
	State    *State
	// Hosts returns the code hosts in use, the first being that of accounts.
	Hosts func() []Host
	// Interval returns how often a repository is read.
	Interval func() time.Duration
	// OAuth returns the application as which people sign in, with which tokens are refreshed. It may be nil.
	OAuth func() codehost.OAuthClient
	// Locks keep calls for one user or account apart; nil does so in this process alone.
	Locks *cluster.Locks
	// Found is called in the transaction that stores releases that a repository which was read before did not have. It may be nil.
	Found  func(ctx context.Context, r repo.Repo, found []repo.Release) error
	Logger hclog.Logger
	Now    func() time.Time
}

// Syncer reads code hosts into the database. Its methods may be called from several goroutines.
type Syncer struct {
	*hostCaller
	*reactor
	running singleflight.Group
}

// hostCaller calls code hosts for the accounts of users, with tokens that are valid, and leaves hosts alone that ask for it.
type hostCaller struct {
	cfg Config
	// refreshing refreshes each token once.
	refreshing singleflight.Group
}

// reactor reads and leaves reactions.
type reactor struct {
	*hostCaller
}

// New returns a Syncer.
func New(cfg Config) *Syncer {
	cfg.Locks = cmp.Or(cfg.Locks, new(cluster.Locks))
	calls := &hostCaller{cfg: cfg}
	return &Syncer{hostCaller: calls, reactor: &reactor{calls}}
}

// caller is who asks a host: the account whose token is used, or nobody.
type caller struct {
	host Host
	// accountID is the id of the account, which is the user's own for the first one; "" for calls without a token.
	accountID string
	// remoteID is the id of the account at the host.
	remoteID string
	// userID is whose account it is.
	userID string
	token  schema.Secret
	// sealed is the token as it is stored.
	sealed string
}

// callHost makes a call, unless the host asked to be left alone, and takes note of what its answer says about limits.
func callHost[T any](ctx context.Context, s *hostCaller, c caller, metaOf func(T) codehost.Meta, ask func() (T, error)) (out T, err error) {
	until, err := s.cfg.State.PausedUntil(ctx, c.host.Ref, c.accountID, s.cfg.Now())
	if err != nil {
		return out, err
	}
	if !until.IsZero() {
		return out, s.pausedError(until)
	}
	if out, err = ask(); err != nil {
		return out, s.noteFailure(ctx, c, err)
	}
	q := metaOf(out).Quota
	if q != nil {
		if err := s.cfg.State.saveQuota(ctx, c.host.Ref, c.accountID, *q, s.cfg.Now()); err != nil {
			return out, err
		}
	}
	if q == nil || q.Remaining > 0 || !q.ResetAt.After(s.cfg.Now()) {
		return out, nil
	}
	return out, s.pauseHost(ctx, c, q.ResetAt.Sub(s.cfg.Now()))
}

func pageMeta[T any](p *codehost.Page[T]) codehost.Meta { return p.Meta }

// readPages reads the pages of a list, at most limit of them, until take returns false.
func readPages[T any](ctx context.Context, s *hostCaller, c caller, first codehost.PageRequest, limit int,
	ask func(codehost.PageRequest) (*codehost.Page[T], error), take func(*codehost.Page[T]) (bool, error)) error {
	req := first
	for range limit {
		page, err := callHost(ctx, s, c, pageMeta[T], func() (*codehost.Page[T], error) { return ask(req) })
		if page == nil {
			return err
		}
		goOn, failure := take(page)
		if failure != nil || err != nil {
			return errors.Join(failure, err)
		}
		if !goOn || page.NextCursor == "" {
			return nil
		}
		req = codehost.PageRequest{Cursor: page.NextCursor, Size: first.Size}
	}
	return nil
}
