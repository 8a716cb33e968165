package sync

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// readEvents reads the forks and releases of the accounts that a user follows.
func (s *Syncer) readEvents(ctx context.Context, c caller, login string) (added int, err error) {
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
		return c.host.Social.ListEvents(ctx, c.token, login, req)
	}
	err = readPages(ctx, s.hostCaller, c, codehost.PageRequest{Size: listSize}, maxEventPages, ask,
		func(page *codehost.Page[codehost.Event]) (bool, error) {
			var events []feed.Event
			for _, in := range page.Items {
				ev := s.newEvent(c, feed.ReleaseUpdate, in.Actor, "event/"+in.ID)
				ev.RepoFullName, ev.Title, ev.HTMLURL, ev.TS = in.RepoFullName, in.Title, texts.Limit(in.HTMLURL, maxURL), timeOr(in.CreatedAt, ev.TS)
				if in.Type == codehost.EventFork {
					ev.Kind = feed.RepoForked
					if ev.Title = in.TargetFullName; in.TargetFullName != "" {
						ev.RepoFullName = in.TargetFullName
					}
				} else if ev.Title == "" {
					ev.Title = in.TagName
				}
				ev.Title = texts.OneLine(ev.Title, maxText)
				if err := s.setEventRepo(ctx, c, &ev, in.RepoFullName); err != nil {
					return false, err
				}
				events = append(events, ev)
			}
			n, err := s.addEvents(ctx, c, events)
			added += n
			// A page without anything new is followed by such.
			return n > 0, err
		})
	return added, err
}

// addEvents stores events that were read with an account, and returns how many were not known.
func (s *Syncer) addEvents(ctx context.Context, c caller, events []feed.Event) (added int, err error) {
	err = s.storeRead(ctx, c, readsActivity, "store events", func(ctx context.Context) (err error) {
		added, err = s.cfg.Feed.AddEvents(ctx, events)
		return err
	})
	return added, err
}

// timeOr returns a time as it is stored, or else another one.
func timeOr(t time.Time, other int64) int64 {
	if t.IsZero() {
		return other
	}
	return store.Millis(t)
}

// setEventRepo finds the repository of an event among those that are stored.
func (s *Syncer) setEventRepo(ctx context.Context, c caller, ev *feed.Event, fullName string) error {
	found, err := s.cfg.Repos.FindByName(ctx, c.host.Ref, fullName)
	if f := fault.As(err); err != nil && f.Code == fault.NotFound {
		return nil
	}
	ev.RepoID = found.ID
	return err
}

// readAnnouncements reads what the repositories that a user sees have announced.
func (s *Syncer) readAnnouncements(ctx context.Context, c caller) (added int, err error) {
	visible, err := s.cfg.Repos.VisibleTo(ctx, c.userID)
	if err != nil {
		return 0, err
	}
	byName := map[string]repo.Repo{}
	var names []string
	for _, r := range visible {
		if r.Host == c.host.Ref && len(names) < maxAnnounceRepos {
			names, byName[r.NameKey] = append(names, r.FullName), r
		}
	}
	for begin := 0; begin < len(names); begin += codehostBatch {
		batch := names[begin:min(begin+codehostBatch, len(names))]
		page, err := callHost(ctx, s.hostCaller, c, pageMeta[codehost.Announcement], func() (*codehost.Page[codehost.Announcement], error) {
			return c.host.Social.ListAnnouncements(ctx, c.token, batch)
		})
		if page == nil {
			return added, err
		}
		var events []feed.Event
		for _, in := range page.Items {
			ev := s.newEvent(c, feed.Announcement, in.Author, "announcement/"+in.ID)
			ev.RepoFullName, ev.RepoID, ev.Title, ev.HTMLURL = in.RepoFullName, byName[repo.KeyOf(in.RepoFullName)].ID,
				texts.OneLine(in.Title, maxText), texts.Limit(in.HTMLURL, maxURL)
			ev.Body, _, ev.BodyTruncated = repo.CutBody(in.Body)
			ev.TS = timeOr(in.CreatedAt, ev.TS)
			events = append(events, ev)
		}
		n, failure := s.addEvents(ctx, c, events)
		added += n
		if failure != nil || err != nil {
			return added, errors.Join(failure, err)
		}
	}
	return added, nil
}

// codehostBatch is how many repositories one call asks about.
const codehostBatch = codehost.MaxAnnouncementRepos
