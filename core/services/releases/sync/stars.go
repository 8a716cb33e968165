package sync

import (
	"context"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	listSize = 100
	// maxStarPages bounds the stars and the own repositories that are read.
	maxStarPages = 50
	// fullEvery is how often the whole list of stars is read although its beginning has not changed.
	fullEvery = 24 * time.Hour
	starList  = "starred"
)

// starState is what was kept of a list of stars.
type starState struct {
	Host       string              `json:"host"`
	Validators codehost.Validators `json:"validators"`
	FullAt     int64               `json:"full_at"`
	Repos      int                 `json:"repos"`
}

// The codes of faults about personal access tokens.
const (
	CodeTokenRequired fault.Code = "pat_required"
	CodeTokenInvalid  fault.Code = "pat_invalid"
)

// errNoAccount is for a user without a token.
func errNoAccount() error {
	return fault.New(CodeTokenRequired, "Save a personal access token of the code host in the settings first.").WithStatus(http.StatusForbidden)
}

// tokenRefused returns the error of a token that the code host refuses.
func tokenRefused(cause error) error {
	return fault.Wrap(cause, CodeTokenInvalid,
		"The code host refuses the personal access token: save another one in the settings.").WithStatus(http.StatusUnprocessableEntity)
}

// HasAccount reports whether a user has saved a token.
func (s *Syncer) HasAccount(ctx context.Context, userID string) (bool, error) {
	_, ok, err := s.cfg.Accounts.Find(ctx, userID)
	return ok, err
}

// Viewer returns whose a token is.
func (s *Syncer) Viewer(ctx context.Context, token schema.Secret) (codehost.ViewerInfo, error) {
	h, err := s.MainHost()
	if err != nil {
		return codehost.ViewerInfo{}, err
	}
	can, err := h.Abilities()
	if err != nil {
		return codehost.ViewerInfo{}, err
	}
	if !can.Viewer {
		return codehost.ViewerInfo{}, fault.New(fault.BadRequest, "The code host %s has no accounts.", h.Ref)
	}
	// The token that is checked is not the one that the user may have saved: its limits are its own.
	info, err := h.Account.Viewer(ctx, token)
	if err != nil {
		return codehost.ViewerInfo{}, err
	}
	return *info, nil
}

// Starred reads which repositories a user has starred. It returns how many there are, of all accounts.
func (s *Syncer) Starred(ctx context.Context, userID string) (count int, err error) {
	err = s.withAccounts(ctx, userID, readsStars, func(c caller, _ account.Account) error {
		n, err := s.readStarred(ctx, c)
		count += n
		return err
	})
	return count, err
}

// readStarred reads which repositories one account has starred. It returns how many there are.
func (s *Syncer) readStarred(ctx context.Context, c caller) (int, error) {
	can, err := c.host.Abilities()
	if err != nil || !can.Starred {
		return 0, err
	}
	var known starState
	if _, err := s.cfg.State.read(ctx, c.accountID, starList, &known); err != nil {
		return 0, err
	}
	now := s.cfg.Now()
	req := codehost.PageRequest{Size: listSize}
	if known.Host == c.host.Ref && store.IsWithin(now, known.FullAt, fullEvery) {
		req.Validators = known.Validators
	}
	var all []codehost.Starred
	unchanged := false
	next := starState{Host: c.host.Ref, FullAt: store.Millis(now)}
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
		return c.host.Account.ListStarred(ctx, c.token, req)
	}
	err = readPages(ctx, s.hostCaller, c, req, maxStarPages, ask, func(page *codehost.Page[codehost.Starred]) (bool, error) {
		if unchanged = page.NotModified; unchanged {
			return false, nil
		}
		if len(all) == 0 {
			next.Validators = page.Validators
		}
		all = append(all, page.Items...)
		return true, nil
	})
	if err != nil || unchanged {
		return known.Repos, err
	}
	repos := make([]*repo.Repo, len(all))
	for i, star := range all {
		r := newRepo(c.host.Ref, star.Repository)
		repos[i] = &r
	}
	// What locks the account, such as a sign-in, does not wait for the repositories.
	if err := s.cfg.Repos.SaveAll(ctx, repos, now); err != nil {
		return 0, err
	}
	stars := make([]repo.Starred, len(all))
	for i, star := range all {
		stars[i] = repo.Starred{RepoID: repos[i].ID, StarredAt: store.Millis(star.StarredAt)}
	}
	err = s.storeRead(ctx, c, readsStars, "store stars", func(ctx context.Context) error {
		next.Repos = len(stars)
		if err := s.cfg.Repos.ReplaceStarred(ctx, c.userID, c.accountID, stars); err != nil {
			return err
		}
		return s.cfg.State.keep(ctx, c.accountID, starList, next)
	})
	return next.Repos, err
}

// ReleasesResult is what reading the repositories of a user has brought.
type ReleasesResult struct {
	// Repos were read, Releases are new or have changed, and Failed are the names of those that could not be read.
	Repos, Releases int
	Failed          []string
}

const (
	// freshFor is how long a repository counts as read.
	freshFor = time.Minute
	// readAtOnce is how many repositories are read at once.
	readAtOnce = 6
	// maxFailures is how many names of repositories that could not be read are told.
	maxFailures = 20
)

// Releases reads the releases of the repositories that a user sees. progress is called after each.
func (s *Syncer) Releases(ctx context.Context, userID string, progress func(done, total int)) (ReleasesResult, error) {
	all, err := s.cfg.Repos.VisibleTo(ctx, userID)
	if err != nil {
		return ReleasesResult{}, err
	}
	return s.readAll(ctx, all, s.cfg.Now().Add(-freshFor), progress)
}

// Due reads repositories that are due, those that wait longest first, at most limit.
func (s *Syncer) Due(ctx context.Context, limit int) (ReleasesResult, error) {
	all, err := s.cfg.Repos.Due(ctx, s.cfg.Now(), limit)
	if err != nil {
		return ReleasesResult{}, err
	}
	return s.readAll(ctx, all, s.cfg.Now(), func(int, int) {})
}
