package sync

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	followerList = "followers"
	// maxFollowerPages and maxStargazerPages bound what is read of followers and of the stars of one repository.
	maxFollowerPages, maxStargazerPages = 20, 40
	// maxEventPages bounds the events of followed accounts, maxAnnounceRepos the repositories whose announcements are read.
	maxEventPages, maxAnnounceRepos = 3, 200
)

// SocialResult is what reading the surroundings of a user has brought: how many new items the feed has of each sort.
type SocialResult struct {
	RepoStars, Followers, Events int
}

// Social reads who stars and follows a user, and what followed accounts do. What fails does not keep the rest from being read.
func (s *Syncer) Social(ctx context.Context, userID string) (out SocialResult, err error) {
	err = s.withAccounts(ctx, userID, readsActivity, func(c caller, a account.Account) error {
		return s.readSocial(ctx, c, a.Login, &out)
	})
	return out, err
}

// readSocial reads the surroundings of one account and adds to out what is new. It ends early with errAccountGone alone.
func (s *Syncer) readSocial(ctx context.Context, c caller, login string, out *SocialResult) error {
	can, err := c.host.Abilities()
	if err != nil {
		return err
	}
	var problems []error
	for _, step := range []struct {
		able  bool
		added *int
		read  func() (int, error)
	}{
		{can.Social, &out.RepoStars, func() (int, error) { return s.readReceivedStars(ctx, c) }},
		{can.Social, &out.Followers, func() (int, error) { return s.readFollowers(ctx, c) }},
		{can.Events, &out.Events, func() (int, error) { return s.readEvents(ctx, c, login) }},
		{can.Announcements, &out.Events, func() (int, error) { return s.readAnnouncements(ctx, c) }},
	} {
		if !step.able {
			continue
		}
		n, err := step.read()
		*step.added += n
		if errors.Is(err, errAccountGone) {
			return err
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// readReceivedStars reads who has starred the repositories of a user, and returns how many of these stars are new.
func (s *Syncer) readReceivedStars(ctx context.Context, c caller) (added int, err error) {
	owned, err := s.readOwned(ctx, c)
	if err != nil {
		return 0, err
	}
	var problems []error
	for _, r := range owned {
		n, err := s.readStargazers(ctx, c, r)
		added += n
		if errors.Is(err, errAccountGone) {
			return added, err
		}
		problems = append(problems, err)
	}
	return added, errors.Join(problems...)
}

// ownedRepo is a repository of a user with how many stars it has.
type ownedRepo struct {
	repo.Repo
	stars int64
}

// readOwned reads the repositories of a user.
func (s *Syncer) readOwned(ctx context.Context, c caller) (owned []ownedRepo, err error) {
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
		return c.host.Social.ListOwned(ctx, c.token, req)
	}
	err = readPages(ctx, s.hostCaller, c, codehost.PageRequest{Size: listSize}, maxStarPages, ask,
		func(page *codehost.Page[codehost.Repository]) (bool, error) {
			for _, r := range page.Items {
				owned = append(owned, ownedRepo{newRepo(c.host.Ref, r), r.Stars})
			}
			return true, nil
		})
	if err != nil {
		return nil, err
	}
	repos, ids := make([]*repo.Repo, len(owned)), make([]int64, len(owned))
	for i := range owned {
		repos[i] = &owned[i].Repo
	}
	if err := s.cfg.Repos.SaveAll(ctx, repos, s.cfg.Now()); err != nil {
		return nil, err
	}
	for i, r := range repos {
		ids[i] = r.ID
	}
	err = s.storeRead(ctx, c, readsActivity, "store own repositories", func(ctx context.Context) error {
		return s.cfg.Repos.ReplaceOwned(ctx, c.userID, c.accountID, ids)
	})
	return owned, err
}

// readStargazers reads who has starred a repository of a user, if their number has changed. Stars without a time that are there
// at the first look are not shown.
func (s *Syncer) readStargazers(ctx context.Context, c caller, r ownedRepo) (added int, err error) {
	list := "stars/" + strconv.FormatInt(r.ID, 10)
	known := int64(-1)
	if _, err := s.cfg.State.read(ctx, c.accountID, list, &known); err != nil || known == r.stars {
		return 0, err
	}
	var all []codehost.Stargazer
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
		return c.host.Social.ListStargazers(ctx, c.token, r.FullName, req)
	}
	err = readPages(ctx, s.hostCaller, c, codehost.PageRequest{Size: listSize}, maxStargazerPages, ask,
		func(page *codehost.Page[codehost.Stargazer]) (bool, error) {
			all = append(all, page.Items...)
			return true, nil
		})
	if err != nil {
		return 0, err
	}
	logins := lists.ConvertAll(all, func(g codehost.Stargazer) string { return g.Account.Login })
	err = s.storeRead(ctx, c, readsActivity, "store stargazers", func(ctx context.Context) error {
		seen, err := s.cfg.State.read(ctx, c.accountID, list, &known)
		if err != nil {
			return err
		}
		fresh, err := s.cfg.State.addMembers(ctx, c.accountID, list, logins)
		if err != nil {
			return err
		}
		var events []feed.Event
		for _, g := range all {
			if !slices.Contains(fresh, g.Account.Login) || g.StarredAt.IsZero() && !seen {
				continue
			}
			ev := s.newEvent(c, feed.StarReceived, g.Account, "star/"+strconv.FormatInt(r.ID, 10)+"/"+g.Account.Login)
			ev.RepoID, ev.RepoFullName, ev.HTMLURL = r.ID, r.FullName, g.Account.HTMLURL
			if !g.StarredAt.IsZero() {
				ev.TS = store.Millis(g.StarredAt)
			}
			events = append(events, ev)
		}
		if added, err = s.cfg.Feed.AddEvents(ctx, events); err != nil {
			return err
		}
		return s.cfg.State.keep(ctx, c.accountID, list, r.stars)
	})
	return added, err
}

// newEvent begins an event that was found now.
func (s *Syncer) newEvent(c caller, kind feed.Kind, actor codehost.Account, key string) feed.Event {
	return feed.Event{
		UserID: c.userID, AccountID: c.accountID, Kind: kind, TS: store.Millis(s.cfg.Now()),
		EventKey:   c.host.Ref + "/" + texts.OneLine(key, maxText),
		ActorLogin: texts.OneLine(actor.Login, maxText), ActorAvatar: texts.Limit(actor.AvatarURL, maxURL),
		ActorURL: texts.Limit(actor.HTMLURL, maxURL),
	}
}

// readFollowers reads who follows a user. Those who are there at the first look are not shown.
func (s *Syncer) readFollowers(ctx context.Context, c caller) (added int, err error) {
	var all []codehost.Account
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
		return c.host.Social.ListFollowers(ctx, c.token, req)
	}
	err = readPages(ctx, s.hostCaller, c, codehost.PageRequest{Size: listSize}, maxFollowerPages, ask,
		func(page *codehost.Page[codehost.Account]) (bool, error) {
			all = append(all, page.Items...)
			return true, nil
		})
	if err != nil {
		return 0, err
	}
	logins := lists.ConvertAll(all, func(f codehost.Account) string { return f.Login })
	err = s.storeRead(ctx, c, readsActivity, "store followers", func(ctx context.Context) error {
		seen, err := s.cfg.State.read(ctx, c.accountID, followerList, new(bool))
		if err != nil {
			return err
		}
		fresh, err := s.cfg.State.addMembers(ctx, c.accountID, followerList, logins)
		if err != nil {
			return err
		}
		var events []feed.Event
		for _, f := range all {
			if !seen || !slices.Contains(fresh, f.Login) {
				continue
			}
			ev := s.newEvent(c, feed.FollowerNew, f, "follower/"+f.Login)
			ev.HTMLURL = f.HTMLURL
			events = append(events, ev)
		}
		if added, err = s.cfg.Feed.AddEvents(ctx, events); err != nil {
			return err
		}
		return s.cfg.State.keep(ctx, c.accountID, followerList, true)
	})
	return added, err
}
