package releases

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// maxFollowed is how many repositories the list of those that a user sees has.
const maxFollowed = 5000

// FollowedRepo is a repository that the caller sees.
type FollowedRepo struct {
	FullName string     `json:"full_name" example:"golang/go"`
	Starred  bool       `json:"starred"`
	Owned    bool       `json:"owned"`
	Followed bool       `json:"followed" doc:"Without a star, by the caller's wish."`
	Shared   bool       `json:"shared" doc:"Shown to everybody by the configuration."`
	Filter   RepoFilter `json:"filter"`
	SyncedAt *api.Time  `json:"synced_at" nullable:"true" doc:"When its releases were last read."`
	Error    *string    `json:"error" doc:"Why they could not be read since."`
}

// FollowAnswer names what is followed.
type FollowAnswer struct {
	FullName string `json:"full_name" example:"golang/go" doc:"As the code host has it."`
}

// RepoFilter says which releases of a repository are not shown.
type RepoFilter struct {
	Muted         bool   `json:"muted,omitempty" doc:"None is shown."`
	NoPrereleases bool   `json:"no_prereleases,omitempty"`
	MinLevel      string `json:"min_level,omitempty" enum:",patch,minor,major" doc:"The least part of the version that a release must raise. A tag that is no version is shown."`
	Keyword       string `json:"keyword,omitempty" maxLength:"100" doc:"What the name or the tag must have, in any case."`
}

// Preferences are what the caller has chosen.
type Preferences struct {
	TimeZone   string `json:"time_zone" maxLength:"64" example:"Europe/Berlin"`
	BriefHour  int    `json:"brief_hour" minimum:"0" maximum:"23" doc:"The hour at which the day of a brief ends."`
	BriefDaily bool   `json:"brief_daily" doc:"Whether a brief is written every day."`
	IncludeOwn bool   `json:"include_own_releases" doc:"Whether the feed has the releases of the caller's own repositories."`
	// NotifyReleases and NotifyBrief are off until the user switches them on.
	NotifyReleases bool `json:"notify_releases,omitempty" doc:"Whether the channels of the configuration hear of new releases that the caller sees."`
	NotifyBrief    bool `json:"notify_brief,omitempty" doc:"Whether they hear of the caller's daily brief."`
	// Language and AutoTranslate are for the pages: the API translates into what a request names.
	Language      string `json:"translation_language,omitempty" maxLength:"35" doc:"The language of the briefs, and of translations on the pages: one of the configuration, or en; empty for the first of these." example:"zh-CN"`
	AutoTranslate bool   `json:"auto_translate,omitempty" doc:"Whether new releases that the caller sees are translated unasked."`
}

type (
	// RepoPath names a repository.
	RepoPath struct {
		Owner string `path:"owner" maxLength:"100"`
		Repo  string `path:"repo" maxLength:"100"`
	}
	followedOutput struct {
		Body struct {
			Repos []FollowedRepo `json:"repos" nullable:"false"`
		}
	}
	followInput struct {
		Body struct {
			Name string `json:"name" maxLength:"500" example:"https://github.com/golang/go" doc:"owner/name at the first code host, or an address of the repository at one of the code hosts."`
		}
	}
	followOutput struct{ Body FollowAnswer }
	filterInput  struct {
		RepoPath
		Body RepoFilter
	}
	filterOutput      struct{ Body RepoFilter }
	preferencesInput  struct{ Body Preferences }
	preferencesOutput struct{ Body Preferences }
)

func (s *Service) followAPI(a *api.API) {
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagFollow, httpd.APIKey, summary, errors...)
	}
	const notFound = http.StatusNotFound
	checked := "The code host is asked whether the repository exists. If that cannot be found out now, nothing is followed. Its releases are read within a minute or two."
	api.Register(a, op("followed", http.MethodGet, "/api/repos/following", "The repositories that the caller sees"), s.listFollowed)
	byAddress := withText(op("follow-address", http.MethodPost, "/api/repos/following", "Follow a repository by its name or address", notFound, http.StatusConflict, http.StatusServiceUnavailable), checked)
	byAddress.Audit = "releases.repos.following.change"
	api.Register(a, byAddress, s.followAddress)
	api.Register(a, withText(op("follow", http.MethodPut, "/api/repos/{owner}/{repo}/following", "Follow a repository without a star", notFound, http.StatusConflict, http.StatusServiceUnavailable), checked), s.followRepo)
	api.Register(a, op("unfollow", http.MethodDelete, "/api/repos/{owner}/{repo}/following", "No longer follow a repository", notFound), s.unfollowRepo)
	api.Register(a, withText(op("filter", http.MethodPut, "/api/repos/{owner}/{repo}/filter", "Choose which releases of a repository are shown", notFound), "An empty object shows all."), s.setFilter)
	api.Register(a, op("preferences", http.MethodGet, "/api/preferences", "What the caller has chosen"), s.getPreferences)
	api.Register(a, op("preferences-save", http.MethodPut, "/api/preferences", "Choose"), s.putPreferences)
}

var levelNames = []string{"", "patch", "minor", "major"}

func (s *Service) listFollowed(ctx context.Context, _ *struct{}) (*followedOutput, error) {
	found, err := s.repos.ListFollowed(ctx, readerOf(ctx), maxFollowed)
	out := &followedOutput{}
	out.Body.Repos = make([]FollowedRepo, len(found))
	for i, r := range found {
		out.Body.Repos[i] = FollowedRepo{
			FullName: r.FullName, Starred: r.Starred, Owned: r.Owned, Followed: r.Followed, Shared: r.Shared, SyncedAt: api.OptionalTime(r.SyncedAt), Error: optional(r.Error),
			Filter: RepoFilter{r.Muted, r.NoPrereleases, levelNames[r.MinLevel], r.Keyword},
		}
	}
	return out, err
}

// parsePath returns the name of a repository in a path.
func (in RepoPath) parsePath() (string, error) { return repo.ParseName(in.Owner + "/" + in.Repo) }

func (s *Service) followRepo(ctx context.Context, in *RepoPath) (*api.OKAnswer, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	name, err := in.parsePath()
	if err != nil {
		return nil, err
	}
	_, err = s.followAfterCheck(ctx, userID, "", name)
	return api.Done(err)
}

func (s *Service) followAddress(ctx context.Context, in *followInput) (*followOutput, error) {
	name, err := s.Follow(ctx, in.Body.Name)
	if err != nil {
		return nil, err
	}
	return &followOutput{FollowAnswer{name}}, nil
}

// followAt has a user see a repository of a code host. private says that the code host has just called it that.
func (s *Service) followAt(ctx context.Context, userID, host, name string, private bool) error {
	return s.cfg.Store.Tx(ctx, "follow repository", func(ctx context.Context) error {
		r, err := s.addRepo(ctx, host, name)
		if err != nil {
			return err
		}
		if r.Private || private {
			visible, err := s.repos.Sees(ctx, userID, r.ID)
			if err != nil {
				return err
			}
			if !visible && private {
				return fault.New(fault.NotFound, "The repository %s is private: give it a star at the code host, and it is shown to you alone.", name).With("field", "name").With("reason", "private_repository")
			}
			if !visible {
				return repo.ErrNoRepo
			}
		}
		return s.repos.SetFollowed(ctx, userID, r.ID, true)
	})
}

// findVisible returns a repository that a user sees, by its name.
func (s *Service) findVisible(ctx context.Context, userID string, in RepoPath) (repo.Repo, error) {
	name, err := in.parsePath()
	if err != nil {
		return repo.Repo{}, err
	}
	return s.repos.FindVisible(ctx, userID, name)
}

func (s *Service) unfollowRepo(ctx context.Context, in *RepoPath) (*api.OKAnswer, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.findVisible(ctx, userID, *in)
	if err != nil {
		return nil, err
	}
	return api.Done(s.repos.SetFollowed(ctx, userID, r.ID, false))
}

func (s *Service) setFilter(ctx context.Context, in *filterInput) (*filterOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.findVisible(ctx, userID, in.RepoPath)
	if err != nil {
		return nil, err
	}
	f := repo.Filter{UserID: userID, RepoID: r.ID, Muted: in.Body.Muted, NoPrereleases: in.Body.NoPrereleases, Keyword: strings.ToLower(strings.TrimSpace(in.Body.Keyword))}
	for level, name := range levelNames {
		if in.Body.MinLevel == name {
			f.MinLevel = repo.Level(level)
		}
	}
	if strings.ContainsRune(f.Keyword, 0) {
		return nil, fault.New(fault.BadRequest, "keyword must be a text.").With("field", "keyword")
	}
	return &filterOutput{RepoFilter{f.Muted, f.NoPrereleases, levelNames[f.MinLevel], f.Keyword}}, s.repos.SetFilter(ctx, f)
}

func (s *Service) getPreferences(ctx context.Context, _ *struct{}) (*preferencesOutput, error) {
	p, err := s.preferencesOf(ctx, readerOf(ctx))
	return &preferencesOutput{Preferences{p.TimeZone, p.BriefHour, p.BriefDaily, p.IncludeOwn, p.NotifyReleases, p.NotifyBrief, p.Language, p.AutoTranslate}}, err
}

func (s *Service) putPreferences(ctx context.Context, in *preferencesInput) (*preferencesOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	b := in.Body
	if _, err := time.LoadLocation(b.TimeZone); err != nil || b.TimeZone == "" || b.TimeZone == "Local" {
		return nil, fault.New(fault.BadRequest, "time_zone must be an IANA name, such as Europe/Berlin.").With("field", "time_zone")
	}
	if b.Language != "" && !slices.Contains(s.ReadingLanguages(), b.Language) {
		return nil, fault.New(fault.BadRequest, "translation_language must be one of %s.", strings.Join(s.ReadingLanguages(), ", ")).With("field", "translation_language")
	}
	err = s.cfg.Store.Tx(ctx, "save preferences", func(ctx context.Context) error {
		p := own.Preferences{
			UserID: userID, TimeZone: b.TimeZone, BriefHour: b.BriefHour, BriefDaily: b.BriefDaily, IncludeOwn: b.IncludeOwn, NotifyReleases: b.NotifyReleases, NotifyBrief: b.NotifyBrief,
			Language: b.Language, AutoTranslate: b.AutoTranslate, UpdatedAt: store.Millis(s.cfg.Now()),
		}
		if err := s.accounts.SavePreferences(ctx, p); err != nil {
			return err
		}
		return s.repos.SettleLinks(ctx, userID)
	})
	if err != nil {
		return nil, err
	}
	return s.getPreferences(ctx, nil)
}
