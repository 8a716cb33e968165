package sync

import (
	"context"
	"errors"
	"hash/fnv"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	pageSize = 50
	// maxBackoff bounds the pause after failures.
	maxBackoff = 24 * time.Hour
)

// RepoResult is what reading a repository has brought.
type RepoResult struct {
	// New and Updated count releases.
	New, Updated int
	// Incomplete says that the list goes on after what was read of it.
	Incomplete bool
}

// isUnauthenticated reports whether a code host refused the token itself.
func isUnauthenticated(err error) bool {
	var e *errs.Error
	return errors.As(err, &e) && e.Source == errs.Upstream && e.Code == codes.Unauthenticated
}

// Repo reads the releases of a repository and notes when it is due again, unless somebody else has read it since a time: then
// the result is what has changed since began. Calls for the same repository at once are one.
func (s *Syncer) Repo(ctx context.Context, id int64, unlessSince, began time.Time) (RepoResult, error) {
	v, err, _ := s.running.Do(strconv.FormatInt(id, 10), func() (any, error) { return s.syncRepo(ctx, id, unlessSince, began) })
	out, _ := v.(RepoResult)
	return out, err
}

func (s *Syncer) syncRepo(ctx context.Context, id int64, unlessSince, began time.Time) (RepoResult, error) {
	r, err := s.cfg.Repos.Find(ctx, id)
	if err != nil {
		return RepoResult{}, err
	}
	if r.SyncedAt >= store.Millis(unlessSince) {
		changed, err := s.cfg.Repos.CountChanged(ctx, id, began)
		return RepoResult{Updated: changed}, err
	}
	out, err := s.readRepo(ctx, &r)
	now := s.cfg.Now()
	if err == nil {
		r.SyncedAt, r.Failures, r.ErrorCode, r.Error = store.Millis(now), 0, "", ""
		r.DueAt = store.Millis(NextDue(strconv.FormatInt(r.ID, 10), now, s.cfg.Interval()))
		if out.Incomplete {
			r.DueAt = store.Millis(now)
		}
		return out, s.cfg.Repos.SetSynced(ctx, r)
	}
	if ctx.Err() != nil {
		return out, err
	}
	err = explainFailure(err, r)
	f := fault.As(err)
	r.ErrorCode, r.Error = string(f.Code), f.Message
	wait := s.cfg.Interval()
	if f.Code == fault.RateLimited && f.RetryAfter > 0 {
		// It is not the repository's failure.
		wait = f.RetryAfter + jitter(strconv.FormatInt(r.ID, 10), time.Minute)
	} else {
		r.Failures++
		wait = min(wait<<min(r.Failures-1, 10), max(wait, maxBackoff))
	}
	r.DueAt = store.Millis(now.Add(wait))
	return out, errors.Join(err, s.cfg.Repos.SetSynced(ctx, r))
}

// explainFailure says of an error of a code host what is wrong, in words for those who see the repository.
func explainFailure(err error, r repo.Repo) error {
	f := fault.As(err)
	if f.Code == fault.RateLimited {
		return err // its words tell until when
	}
	switch client.CauseOf(err) {
	case client.CauseMissing:
		return fault.Wrap(err, fault.NotFound, "The code host has no repository %s, or no account here can read it.", r.FullName)
	case client.CauseDenied:
		return fault.Wrap(err, fault.Forbidden, "No account here can read %s at the code host.", r.FullName)
	case client.CauseUnreachable:
		return fault.Wrap(err, fault.NotReady, "The code host is unreachable: %s", f.Message)
	}
	return err
}

// NextDue returns when what has an id is read next: once in each interval, at a moment of its own.
func NextDue(id string, now time.Time, interval time.Duration) time.Time {
	next := now.Truncate(interval).Add(jitter(id, interval))
	// The first moment may come early, and is never sooner than half an interval from now.
	for next.Sub(now) < interval/2 {
		next = next.Add(interval)
	}
	return next
}

// jitter returns a part of an interval that depends on an id alone.
func jitter(id string, interval time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return time.Duration(h.Sum64() % uint64(max(interval, 1)))
}

// readRepo reads a repository with the first caller that may.
func (s *Syncer) readRepo(ctx context.Context, r *repo.Repo) (out RepoResult, err error) {
	h, err := s.findHost(r.Host)
	if err != nil {
		return out, err
	}
	all, err := s.callersFor(ctx, h, *r)
	if err != nil {
		return out, err
	}
	err = fault.New(fault.NotFound, "None of the repository's viewers has a valid token for it.")
	for _, c := range all {
		if out, err = s.readRepoAs(ctx, c, r); err == nil || !isCallersFault(err) {
			return out, err
		}
	}
	return out, err
}

// isCallersFault reports whether another caller may succeed.
func isCallersFault(err error) bool {
	if fault.As(err).Code == fault.RateLimited {
		return true
	}
	cause := client.CauseOf(err)
	return cause == client.CauseDenied || cause == client.CauseMissing || cause == client.CauseLimited
}

// storeReleases stores releases and tells of those that are new to a repository which was read before.
// listed is that of Store.AddReleases.
func (s *Syncer) storeReleases(ctx context.Context, r repo.Repo, batch []repo.Release,
	listed func(remoteID string) bool) (changes repo.Changes, err error) {
	err = s.cfg.Store.Tx(ctx, "store releases", func(ctx context.Context) error {
		if changes, err = s.cfg.Repos.AddReleases(ctx, r.ID, batch, s.cfg.Now(), listed); err != nil {
			return err
		}
		if len(changes.New) == 0 || r.SyncedAt == 0 || s.cfg.Found == nil {
			return nil
		}
		return s.cfg.Found(ctx, r, changes.New)
	})
	return changes, err
}

// describeRepo reads what the host says of a repository and compares it with what is stored: a new name is taken over, one that has become
// private is withdrawn from whoever sees it without access, and one whose name belongs to another repository now is not mixed with that.
func (s *Syncer) describeRepo(ctx context.Context, c caller, r *repo.Repo) error {
	info, err := callHost(ctx, s.hostCaller, c, func(i *codehost.RepositoryInfo) codehost.Meta { return i.Meta },
		func() (*codehost.RepositoryInfo, error) {
			return c.host.Releases.FindRepository(ctx, c.token, r.FullName)
		})
	if info == nil {
		if r.RemoteID != "" && !r.Private && c.accountID == "" && client.CauseOf(err) == client.CauseMissing {
			// Nobody sees it without access any more.
			r.Private = true
			hidden := *r
			return errors.Join(s.cfg.Repos.Save(ctx, &hidden, s.cfg.Now()), err)
		}
		return err
	}
	described := newRepo(c.host.Ref, info.Repository)
	if described.RemoteID == "" {
		// A host without ids: the name is one.
		described.RemoteID = repo.KeyOf(described.FullName)
	}
	failure := s.cfg.Repos.Save(ctx, &described, s.cfg.Now())
	switch {
	case failure != nil || described.ID == r.ID:
	case r.RemoteID == "":
		// The name was that of a repository that is stored under its present name.
		failure = s.cfg.Repos.MoveLinks(ctx, r.ID, described.ID)
	default:
		return fault.New(fault.NotFound, "The name %s belongs to another repository now.", r.FullName)
	}
	described.SyncedAt, described.Failures, described.CreatedAt = r.SyncedAt, r.Failures, r.CreatedAt
	*r = described
	return errors.Join(failure, err)
}

// newRepo returns a repository of a host as it is stored.
func newRepo(host string, in codehost.Repository) repo.Repo {
	return repo.Repo{
		Host: host, RemoteID: in.ID, FullName: in.FullName, Description: texts.OneLine(in.Description, maxText),
		HTMLURL: texts.Limit(in.HTMLURL, maxURL), Private: in.Private, AvatarURL: in.Owner.AvatarURL,
		ImageURL: in.OpenGraphImageURL, CustomImage: in.CustomOpenGraphImage,
	}
}

// tagsList is the list of members that has the tags of a repository that were seen.
func tagsList(r repo.Repo) string { return "tags/" + strconv.FormatInt(r.ID, 10) }

// readTags takes the tags of a repository without releases as such. Tags without a time that are there at the first look are
// known from then on and not shown, but for the first of them. It returns how many are new.
func (s *Syncer) readTags(ctx context.Context, c caller, r repo.Repo) (added int, err error) {
	if can, err := c.host.Abilities(); err != nil || !can.Tags {
		return 0, err
	}
	page, err := callHost(ctx, s.hostCaller, c, pageMeta[codehost.Tag], func() (*codehost.Page[codehost.Tag], error) {
		return c.host.Releases.ListTags(ctx, c.token, r.FullName, codehost.PageRequest{Size: pageSize})
	})
	if page == nil {
		return 0, err
	}
	names := lists.ConvertAll(page.Items, func(tag codehost.Tag) string { return tag.Name })
	failure := s.cfg.Store.Tx(ctx, "store tags", func(ctx context.Context) error {
		fresh, err := s.cfg.State.addMembers(ctx, repo.Everybody, tagsList(r), names)
		if err != nil {
			return err
		}
		isNew := map[string]bool{}
		for _, name := range fresh {
			isNew[name] = true
		}
		var batch []repo.Release
		for i, tag := range page.Items {
			if isNew[tag.Name] && (r.SyncedAt > 0 || !tag.CreatedAt.IsZero() || i == 0) {
				batch = append(batch, repo.NewRelease(codehost.Release{TagName: tag.Name, HTMLURL: tag.HTMLURL, PublishedAt: tag.CreatedAt},
					s.cfg.Now()))
			}
		}
		changes, err := s.storeReleases(ctx, r, batch, nil)
		added = len(changes.New)
		return err
	})
	return added, errors.Join(failure, err)
}
