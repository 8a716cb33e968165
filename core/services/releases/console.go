package releases

import (
	"context"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// The pages use the same verbs as the API. The caller is the principal of the context.

// FeedChoice chooses items of the feed, by the words of the API.
type FeedChoice struct {
	Types, Scope, Items, Org, Search, Cursor string
	Limit                                    int
}

// FeedPageOf returns a page of the feed, with what the caller has read.
func (s *Service) FeedPageOf(ctx context.Context, choice FeedChoice) (page feed.Page, err error) {
	q := feed.Query{UserID: readerOf(ctx), Cursor: choice.Cursor, Limit: choice.Limit}
	if q.Types, err = feed.ParseTypes(choice.Types, "types"); err != nil {
		return page, err
	}
	q.Scope, err = feed.ParseScope(choice.Scope, choice.Items, choice.Org, func() ([]string, error) { return s.loginsOf(ctx, q.UserID) })
	if err == nil {
		q.Search, err = feed.ParseSearch(choice.Search)
	}
	if err == nil {
		page, err = s.feed.List(ctx, q)
	}
	if err == nil {
		err = s.feed.MarkRead(ctx, q.UserID, page.Items)
	}
	return page, err
}

// Release returns a release by its repository and tag, with its translation into the caller's language.
func (s *Service) Release(ctx context.Context, repoName, tag string) (ReleaseDetail, error) {
	r, p, err := s.repos.FindByTag(ctx, repoName, tag)
	if err != nil {
		return ReleaseDetail{}, err
	}
	return s.showRelease(ctx, r, p)
}

// ReleaseByID returns a release by its id, with its translation into the caller's language.
func (s *Service) ReleaseByID(ctx context.Context, id string) (ReleaseDetail, error) {
	n, err := parseReleaseID(id)
	if err != nil {
		return ReleaseDetail{}, err
	}
	r, p, err := s.repos.FindRelease(ctx, n)
	if err != nil {
		return ReleaseDetail{}, err
	}
	return s.showRelease(ctx, r, p)
}

// showRelease returns a release to a reader of the pages.
func (s *Service) showRelease(ctx context.Context, r repo.Release, p repo.Repo) (ReleaseDetail, error) {
	language, err := s.languageOf(ctx)
	if err != nil {
		return ReleaseDetail{}, err
	}
	return s.describeRelease(ctx, r, p, language)
}

// SetRead notes whether the caller has read a release.
func (s *Service) SetRead(ctx context.Context, id string, read bool) error {
	n, err := parseReleaseID(id)
	if err != nil {
		return err
	}
	r, p, err := s.repos.FindRelease(ctx, n)
	if err == nil {
		err = s.checkVisible(ctx, r, p)
	}
	if err != nil {
		return err
	}
	return s.feed.SetRead(ctx, readerOf(ctx), n, read)
}

// Briefs returns the caller's briefs, the latest first.
func (s *Service) Briefs(ctx context.Context) ([]BriefSummary, error) {
	out, err := s.listBriefs(ctx, nil)
	if err != nil {
		return nil, err
	}
	return out.Body, nil
}

// Brief returns a brief of the caller.
func (s *Service) Brief(ctx context.Context, id string) (BriefDetail, error) {
	out, err := s.getBrief(ctx, &briefInput{id})
	if err != nil {
		return BriefDetail{}, err
	}
	return out.Body, nil
}

// Notifications returns the caller's notifications, the latest first.
func (s *Service) Notifications(ctx context.Context) ([]NotificationItem, error) {
	out, err := s.listNotifications(ctx, nil)
	if err != nil {
		return nil, err
	}
	return out.Body, nil
}

// Accounts returns the caller's accounts at the code host.
func (s *Service) Accounts(ctx context.Context) ([]Account, error) {
	out, err := s.listAccounts(ctx, nil)
	if err != nil {
		return nil, err
	}
	return out.Body.Accounts, nil
}

// AddAccount adds the account of a token to those of the caller.
func (s *Service) AddAccount(ctx context.Context, token string) error {
	if n := len(strings.TrimSpace(token)); n < 8 || n > 512 {
		return fault.New(fault.BadRequest, "A token has 8 to 512 characters.").With("field", "token")
	}
	in := &tokenBody{}
	in.Body.Token = token
	_, err := s.addAccount(ctx, in)
	return err
}

// SetAccountReads chooses what is read with an account of the caller.
func (s *Service) SetAccountReads(ctx context.Context, id string, reads AccountReads) error {
	_, err := s.setAccountReads(ctx, &accountReadsInput{id, reads})
	return err
}

// DeleteAccount takes an account of the caller away.
func (s *Service) DeleteAccount(ctx context.Context, id string) error {
	_, err := s.deleteAccount(ctx, &accountInput{id})
	return err
}

// FeedTokens returns the caller's tokens of feeds for readers, the newest first.
func (s *Service) FeedTokens(ctx context.Context) ([]FeedToken, error) {
	out, err := s.listFeedTokens(ctx, nil)
	if err != nil {
		return nil, err
	}
	return out.Body.Tokens, nil
}

// HasPasskey reports whether the caller has a passkey, which must be shown before a feed for readers is made.
func (s *Service) HasPasskey(ctx context.Context) (bool, error) {
	return s.cfg.Users.Passkeys.Has(ctx, auth.From(ctx).User.ID)
}

// AddFeedToken makes a feed for readers of the caller, who makes the request r.
func (s *Service) AddFeedToken(r *http.Request, name string, of FeedSelection) (NewFeedToken, error) {
	ctx := r.Context()
	in := &feedTokenInput{}
	in.Body.Name, in.Body.FeedSelection = name, of
	if len([]rune(name)) > 80 {
		return NewFeedToken{}, fault.New(fault.BadRequest, "The name has at most 80 characters.").With("field", "name")
	}
	out, err := s.addFeedToken(ctx, in)
	if err != nil {
		return NewFeedToken{}, err
	}
	if strings.HasPrefix(out.Body.AtomURL, "/") {
		origin := s.state.Load().access.OriginOf(r)
		out.Body.AtomURL, out.Body.JSONURL = origin+out.Body.AtomURL, origin+out.Body.JSONURL
	}
	return out.Body, nil
}

// DeleteFeedToken deletes a token of a feed for readers.
func (s *Service) DeleteFeedToken(ctx context.Context, id string) error {
	_, err := s.deleteFeedToken(ctx, &feedTokenID{id})
	return err
}

// PreferencesOf returns what the caller has chosen.
func (s *Service) PreferencesOf(ctx context.Context) (Preferences, error) {
	out, err := s.getPreferences(ctx, nil)
	if err != nil {
		return Preferences{}, err
	}
	return out.Body, nil
}

// SavePreferences keeps what the caller has chosen.
func (s *Service) SavePreferences(ctx context.Context, p Preferences) error {
	if p.BriefHour < 0 || p.BriefHour > 23 {
		return fault.New(fault.BadRequest, "The hour is from 0 to 23.").With("field", "brief_hour")
	}
	_, err := s.putPreferences(ctx, &preferencesInput{p})
	return err
}

// Followed returns the repositories that the caller sees.
func (s *Service) Followed(ctx context.Context) ([]FollowedRepo, error) {
	out, err := s.listFollowed(ctx, nil)
	if err != nil {
		return nil, err
	}
	return out.Body.Repos, nil
}

// Unfollow ends that.
func (s *Service) Unfollow(ctx context.Context, owner, name string) error {
	_, err := s.unfollowRepo(ctx, &RepoPath{owner, name})
	return err
}

// SetFilter chooses which releases of a repository the caller sees.
func (s *Service) SetFilter(ctx context.Context, owner, name string, f RepoFilter) error {
	if len([]rune(f.Keyword)) > 100 {
		return fault.New(fault.BadRequest, "The keyword has at most 100 characters.").With("field", "keyword")
	}
	_, err := s.setFilter(ctx, &filterInput{RepoPath{owner, name}, f})
	return err
}

// StartSync begins to read everything that the caller sees: with an account, that as well.
func (s *Service) StartSync(ctx context.Context) error {
	userID, err := ownerOf(ctx)
	if err != nil {
		return err
	}
	task := taskReleases
	if has, err := s.syncer.HasAccount(ctx, userID); err != nil {
		return err
	} else if has {
		task = taskAll
	}
	_, err = s.submitTask(ctx, task, taskPayload{UserID: userID})
	return err
}

// WriteBrief writes the caller's latest brief and returns its id.
func (s *Service) WriteBrief(ctx context.Context) (string, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return "", err
	}
	w, zone, err := s.briefWindow(ctx, userID, "")
	if err != nil {
		return "", err
	}
	b, err := s.briefs.Generate(ctx, userID, w, zone)
	return b.ID, err
}

// Status is what the pages say of the service as a whole.
type Status struct {
	// HasHosts says that a code host is in use, HasChannels that notifications go somewhere, SeesRepos that the caller sees a
	// repository.
	HasHosts, HasChannels, SeesRepos bool
	// Unread is how many notifications of the caller are unread.
	Unread int64
	// Languages are those in which briefs and translations may be read.
	Languages []string
	// HasTranslator says that releases can be translated.
	HasTranslator bool
}

// StatusOf returns what the pages say to the caller.
func (s *Service) StatusOf(ctx context.Context) (out Status, err error) {
	st := s.state.Load()
	out.HasHosts, out.HasChannels = len(st.hosts) > 0, len(st.settings.Notify) > 0
	out.Languages, out.HasTranslator = s.ReadingLanguages(), st.translator != nil
	if out.SeesRepos, err = s.repos.SeesAny(ctx, readerOf(ctx)); err == nil {
		out.Unread, err = s.reads.CountUnread(ctx, readerOf(ctx))
	}
	return out, err
}
