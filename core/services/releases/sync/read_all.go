package sync

import (
	"context"
	"errors"
	gosync "sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// readAll reads repositories that were not read since a time, also not by others while it works. One that fails does not keep the
// others from being read; the error is that of the last one if all have failed.
func (s *Syncer) readAll(ctx context.Context, all []repo.Repo, unlessSince time.Time,
	progress func(done, total int)) (out ReleasesResult, err error) {
	began := s.cfg.Now()
	var mu gosync.Mutex
	var failure error
	done := 0
	note := func(r repo.Repo, res RepoResult, err error) {
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(done, len(all))
		out.Releases += res.New + res.Updated
		if err == nil {
			out.Repos++
			return
		}
		failure = err
		if len(out.Failed) < maxFailures {
			out.Failed = append(out.Failed, r.FullName)
		}
		s.cfg.Logger.Debug("a repository was not read", "repo", r.FullName, "error", err)
	}
	var group errgroup.Group
	group.SetLimit(readAtOnce)
	for _, r := range all {
		if r.SyncedAt >= store.Millis(unlessSince) {
			note(r, RepoResult{}, nil)
			continue
		}
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			res, err := s.Repo(ctx, r.ID, unlessSince, began)
			if isGone(err) {
				err = nil
			}
			note(r, res, err)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return out, err
	}
	if out.Repos == 0 && failure != nil {
		return out, failure
	}
	return out, ctx.Err()
}

// isGone reports whether a repository is no longer stored: another name of it was.
func isGone(err error) bool {
	return errors.Is(err, repo.ErrNoRepo)
}
