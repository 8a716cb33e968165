// Package follow changes which repositories people see: those that users follow, that everybody sees, and that are published.
package follow

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/repolist"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what Following needs.
type Config struct {
	Store  *store.Store
	Repos  *repo.Store
	Syncer *sync.Syncer
	// Hosts returns the code hosts in use.
	Hosts func() []sync.Host
	// PublicPages reports whether the settings allow public pages.
	PublicPages func() bool
	Now         func() time.Time
}

// Following changes which repositories people see: those that users follow, that everybody sees, and that are published.
type Following struct{ cfg Config }

// New returns what changes which repositories people see.
func New(cfg Config) *Following { return &Following{cfg} }

// followCheckTime bounds how long a code host is asked about a repository before it is followed.
const followCheckTime = 8 * time.Second

// Follow has the caller see a repository, which is named as owner/name or by its address at one of the code hosts. It returns the name that
// the code host has for it.
func (fl *Following) Follow(ctx context.Context, text string) (string, error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return "", err
	}
	site, name, err := repolist.ParseAddress(text)
	if err != nil {
		return "", fault.New(fault.BadRequest, "Write owner/name, or the address of a repository.").With("field", "name").With("reason",
			"no_repository")
	}
	return fl.followAfterCheck(ctx, userID, site, name)
}

// followAfterCheck has a user see a repository of the code host with a site, or of the main one if site is "". One that is private can
// only be starred. Unless it is known already, the code host is asked whether it exists.
func (fl *Following) followAfterCheck(ctx context.Context, userID, site, name string) (string, error) {
	ask, cancel := context.WithTimeout(ctx, followCheckTime)
	defer cancel()
	host, err := fl.cfg.Syncer.MainHost()
	if err == nil && site != "" {
		host, err = fl.findSite(ask, userID, site, name)
	}
	if err != nil {
		return "", err
	}
	private := false
	if known, err := fl.isKnown(ctx, userID, host.Ref, name); err != nil {
		return "", err
	} else if !known {
		found, err := fl.cfg.Syncer.FindAtHost(ask, host, userID, name)
		if err != nil {
			return "", checkFailure(ask, err, name)
		}
		private = found.Private
		if canonical, err := repo.ParseName(found.FullName); err == nil {
			name = canonical
		}
	}
	return name, fl.followAt(ctx, userID, host.Ref, name, private)
}

// findSite returns the code host whose site stands in an address.
func (fl *Following) findSite(ctx context.Context, userID, site, name string) (sync.Host, error) {
	host, owned, err := fl.cfg.Syncer.FindSite(ctx, userID, site, name)
	if err != nil {
		return host, checkFailure(ctx, err, name)
	}
	if !owned {
		return host, fault.New(fault.BadRequest,
			"%s is not a configured code host: only repositories of code hosts can be followed.", site).With("field",
			"name").With("reason", "other_site")
	}
	return host, nil
}

// isKnown reports whether a repository was found at its code host when it was last read, or is seen by the user.
func (fl *Following) isKnown(ctx context.Context, userID, host, name string) (bool, error) {
	r, err := fl.cfg.Repos.FindByName(ctx, host, name)
	if errors.Is(err, repo.ErrNoRepo) {
		return false, nil
	}
	if err != nil || r.RemoteID != "" && r.Failures == 0 {
		return err == nil, err
	}
	return fl.cfg.Repos.Sees(ctx, userID, r.ID)
}

// checkFailure returns what a user is told of a repository that a code host does not show, or could not be asked about within the time of
// ctx.
func checkFailure(ctx context.Context, err error, name string) error {
	tell := func(code fault.Code, reason, format string, args ...any) error {
		return fault.Wrap(err, code, format, args...).With("field", "name").With("reason", reason).WithRetryAfter(fault.As(err).RetryAfter)
	}
	code := fault.As(err).Code
	switch cause := client.CauseOf(err); {
	case code == fault.RateLimited:
		// Its words tell until when.
		return fault.As(err).With("field", "name").With("reason", "host_limited")
	case cause == client.CauseMissing || code == fault.NotFound:
		return tell(fault.NotFound, "no_such_repository",
			"The code host has no repository %s, or your token cannot read it. Nothing was followed.", name)
	case cause == client.CauseDenied:
		return tell(fault.Forbidden, "repository_denied", "Your token cannot read the repository %s. Nothing was followed.", name)
	case cause == client.CauseRefused:
		return tell(fault.BadRequest, "repository_refused", "The code host refuses the repository name %s. Nothing was followed.",
			name)
	case cause == client.CauseUnreachable || ctx.Err() != nil || code == fault.PluginUnavailable || code == fault.UpstreamUnavailable:
		return tell(fault.NotReady, "host_unreachable",
			"The code host is unreachable, so %s was not checked. Nothing was followed: try again later.", name)
	}
	return err
}
