package sync

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	// releasePageSize is how many releases a page should have. A host may give fewer.
	releasePageSize = codehost.MaxPage
	// firstVisitPages is how many pages are read of a repository that somebody may wait for. The rest is read by the schedule.
	firstVisitPages = 3
	// visitPages is how many pages are read of a repository that is known.
	visitPages = 10
	// maxListPages bounds the list of a repository. Code hosts give at most 10,000 releases.
	maxListPages = 200
)

// releaseList is what is known of the list of releases of a repository. Hosts sort it by the date of the commit, so that a release of an
// old commit appears anywhere. Each page is asked for at each visit, with the validators of its last answer.
type releaseList struct {
	Pages []listPage `json:"pages"`
	// Next is the page from which the next visit goes on, after the first one; 0 after the list was read to its end.
	Next int `json:"next,omitempty"`
	// Missing are releases that were on no page of the last complete reading of a list of several pages.
	Missing []string `json:"missing,omitempty"`
}

// listPage is a page of a list as it was read last.
type listPage struct {
	// Cursor asks for the page, Following for the one after it; "" if it is the first, or the last.
	Cursor     string              `json:"cursor,omitempty"`
	Following  string              `json:"following,omitempty"`
	Validators codehost.Validators `json:"validators"`
	// IDs are the host's ids of its releases that are no drafts.
	IDs []string `json:"ids"`
}

// listName is the name of the list of a repository in the state of everybody.
func listName(repoID int64) string { return "releases/" + strconv.FormatInt(repoID, 10) }

// findPage returns what is known of the page at a place and with a cursor; nothing if another page was there.
func (l *releaseList) findPage(at int, cursor string) listPage {
	if at < len(l.Pages) && l.Pages[at].Cursor == cursor {
		return l.Pages[at]
	}
	return listPage{Cursor: cursor}
}

// setPage puts a page in its place. What was known of the pages behind it stays only if they follow it.
func (l *releaseList) setPage(at int, p listPage) {
	l.Pages = append(l.Pages[:at], append([]listPage{p}, l.Pages[min(at+1, len(l.Pages)):]...)...)
	if p.Following == "" || at+1 < len(l.Pages) && l.Pages[at+1].Cursor != p.Following {
		l.Pages = l.Pages[:at+1]
	}
}

// listIDs returns the ids of all pages but the one at a place; -1 leaves none out.
func (l *releaseList) listIDs(without int) map[string]bool {
	all := map[string]bool{}
	for i, p := range l.Pages {
		if i == without {
			continue
		}
		for _, id := range p.IDs {
			all[id] = true
		}
	}
	return all
}

// nextPlace returns the page to read after one, and its cursor.
func (l *releaseList) nextPlace(at int) (place int, cursor string) {
	if at == 0 && l.Next > 1 && l.Next <= len(l.Pages) && l.Pages[l.Next-1].Following != "" {
		return l.Next, l.Pages[l.Next-1].Following
	}
	return at + 1, l.Pages[at].Following
}

// readRepoAs reads the list of releases of a repository, or goes on where the last visit ended.
func (s *Syncer) readRepoAs(ctx context.Context, c caller, r *repo.Repo) (out RepoResult, err error) {
	v := listVisit{Syncer: s, caller: c, repo: r}
	// The lists of an account have just told of what its token reads for the first time, see Store.SaveAll; nothing of it is told to others.
	v.described = r.SyncedAt == 0 && c.accountID != ""
	if r.RemoteID == "" {
		if err := s.describeRepo(ctx, c, r); err != nil {
			return out, err
		}
		v.described = true
	}
	if _, err := s.cfg.State.read(ctx, repo.Everybody, listName(r.ID), &v.list); err != nil {
		return out, err
	}
	limit := visitPages
	if r.SyncedAt == 0 {
		limit = firstVisitPages
	}
	if err := v.readPages(ctx, limit); err != nil {
		if v.changed {
			err = errors.Join(s.cfg.State.keep(ctx, repo.Everybody, listName(r.ID), v.list), err)
		}
		return v.out, err
	}
	if !v.out.Incomplete && !v.cut {
		if err := v.finishReading(ctx); err != nil {
			return v.out, err
		}
	}
	if v.changed {
		err = s.cfg.State.keep(ctx, repo.Everybody, listName(r.ID), v.list)
	}
	return v.out, err
}

// listVisit is one visit of a repository's list.
type listVisit struct {
	*Syncer
	caller caller
	repo   *repo.Repo
	// described reports whether what the host says of the repository has been compared in this visit.
	described bool
	list      releaseList
	// cut reports whether the list is longer than what is read of it. Releases that are on none of its pages may still be there then.
	cut bool
	// changed reports whether the list is to be kept.
	changed bool
	out     RepoResult
}

// readPages reads at most limit pages: the first one, and those from where the last visit ended.
func (v *listVisit) readPages(ctx context.Context, limit int) error {
	at, cursor := 0, ""
	for range limit {
		last, err := v.readPage(ctx, at, cursor)
		if err != nil && at > 0 {
			v.goOnAt(at)
		}
		if err != nil {
			return err
		}
		if last {
			v.goOnAt(0)
			return nil
		}
		if at, cursor = v.list.nextPlace(at); at >= maxListPages {
			v.Syncer.cfg.Logger.Warn("release list too long, reading the newest pages only", "repo", v.repo.FullName, "pages", maxListPages)
			v.goOnAt(0)
			v.cut = true
			return nil
		}
	}
	v.goOnAt(at)
	v.out.Incomplete = true
	return nil
}

// goOnAt notes with which page the next visit goes on.
func (v *listVisit) goOnAt(at int) {
	v.changed = v.changed || v.list.Next != at
	v.list.Next = at
}

// readPage reads one page, stores its releases, and reports whether it is the last one.
func (v *listVisit) readPage(ctx context.Context, at int, cursor string) (last bool, err error) {
	known := v.list.findPage(at, cursor)
	page, err := callHost(ctx, v.hostCaller, v.caller, pageMeta[codehost.Release], func() (*codehost.Page[codehost.Release], error) {
		req := codehost.PageRequest{Cursor: cursor, Size: releasePageSize, Validators: known.Validators}
		return v.caller.host.Releases.ListReleases(ctx, v.caller.token, v.repo.FullName, req)
	})
	if page == nil {
		// What is read with a token may be gone for that one alone; what is read without is private now, or gone.
		if err != nil && at == 0 && !v.described && v.caller.accountID == "" && client.CauseOf(err) == client.CauseMissing {
			err = errors.Join(v.describeRepo(ctx, v.caller, v.repo), err)
		}
		return false, err
	}
	if page.NotModified {
		return known.Following == "", err
	}
	if !v.described {
		// Before anything is stored, and told: it may have become private, or another repository.
		if err := v.describeRepo(ctx, v.caller, v.repo); err != nil {
			return false, err
		}
		v.described = true
	}
	next := listPage{Cursor: cursor, Following: page.NextCursor, Validators: page.Validators}
	var batch []repo.Release
	for _, release := range page.Items {
		if !release.Draft {
			batch = append(batch, repo.NewRelease(release, v.cfg.Now()))
			next.IDs = append(next.IDs, batch[len(batch)-1].RemoteID)
		}
	}
	if next.Following == "" && len(page.Items) >= releasePageSize {
		// A release that begins another page would leave this one as it is.
		next.Validators = codehost.Validators{}
	}
	others := v.list.listIDs(at)
	changes, failure := v.storeReleases(ctx, *v.repo, batch, func(remoteID string) bool { return others[remoteID] })
	v.out.New, v.out.Updated = v.out.New+len(changes.New), v.out.Updated+changes.Updated
	if failure != nil {
		return false, errors.Join(failure, err)
	}
	v.list.setPage(at, next)
	v.changed = true
	return next.Following == "", err
}

// finishReading deletes what the list does not have any more, and reads the tags of a repository without releases.
func (v *listVisit) finishReading(ctx context.Context) error {
	have := v.list.listIDs(-1)
	if len(v.list.Pages) == 1 && len(have) == 0 {
		tags, err := v.readTags(ctx, v.caller, *v.repo)
		v.out.New += tags
		// The list of releases stays empty when a tag is added: it is asked for whole again.
		v.list.Pages[0].Validators, v.changed = codehost.Validators{}, true
		return err
	}
	if !v.changed && len(v.list.Missing) == 0 {
		return nil
	}
	missing, err := v.cfg.Repos.ListOthers(ctx, v.repo.ID, have)
	if err != nil {
		return err
	}
	gone := missing
	if len(v.list.Pages) > 1 {
		// While pages are read one after the other, a release may move to one that was read before.
		gone = slices.DeleteFunc(slices.Clone(missing), func(id string) bool { return !slices.Contains(v.list.Missing, id) })
		missing = slices.DeleteFunc(missing, func(id string) bool { return slices.Contains(gone, id) })
		v.changed = v.changed || len(gone) > 0 || !slices.Equal(v.list.Missing, missing)
		v.list.Missing = missing
	} else {
		v.list.Missing = nil
	}
	return v.cfg.Repos.DeleteReleases(ctx, v.repo.ID, gone)
}
