// Package reader tells what those who read the service have chosen, and what they may see.
package reader

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Settings are what readers get who have chosen nothing, and the languages that they may choose.
type Settings struct {
	Languages []string
	TimeZone  string
	BriefHour int
}

// Config is what Readers need.
type Config struct {
	Store    *store.Store
	Repos    *repo.Store
	Accounts *own.Store
	// Briefs tells which releases the briefs of a user name.
	Briefs interface {
		Names(ctx context.Context, userID string, releaseID int64) (bool, error)
	}
	Settings func() Settings
	Now      func() time.Time
}

// Readers tells what those who read the service have chosen, and what they may see.
type Readers struct{ cfg Config }

// New returns the readers of the service.
func New(cfg Config) *Readers { return &Readers{cfg} }

// CheckVisible returns an error for a release that the caller does not see: neither its repository, nor a brief that names it.
func (rs *Readers) CheckVisible(ctx context.Context, r repo.Release, p repo.Repo) error {
	return rs.CheckVisibleTo(ctx, ID(ctx), r, p)
}

// CheckVisibleTo is CheckVisible for a user.
func (rs *Readers) CheckVisibleTo(ctx context.Context, user string, r repo.Release, p repo.Repo) error {
	visible, err := rs.cfg.Repos.Sees(ctx, user, p.ID)
	if err == nil && !visible {
		visible, err = rs.cfg.Briefs.Names(ctx, user, r.ID)
	}
	if err == nil && !visible {
		err = repo.ErrNoRelease
	}
	return err
}

// ID returns the id of who reads: a user's, or that of the built-in developer, who sees what everybody sees.
func ID(ctx context.Context) string { return auth.From(ctx).User.ID }

// OwnerID returns the id of the user who makes a request, or an error for who is none and can own nothing.
func OwnerID(ctx context.Context) (string, error) {
	p := auth.From(ctx)
	if !p.HasAccount() {
		return "", fault.New(fault.Forbidden, "This needs an account: create the first user, and sign in.")
	}
	return p.User.ID, nil
}

// PreferencesFor returns what a user has chosen, or else the defaults of the settings.
func (rs *Readers) PreferencesFor(ctx context.Context, userID string) (own.Preferences, error) {
	return rs.cfg.Accounts.Preferences(ctx, userID, rs.DefaultPreferences())
}

// DefaultPreferences returns those of a user who has chosen nothing.
func (rs *Readers) DefaultPreferences() own.Preferences {
	set := rs.cfg.Settings()
	return own.Preferences{TimeZone: set.TimeZone, BriefHour: set.BriefHour, BriefDaily: true}
}

// Language returns the language in which the caller reads translations on the pages.
func (rs *Readers) Language(ctx context.Context) (string, error) {
	prefs, err := rs.PreferencesFor(ctx, ID(ctx))
	return rs.LanguageFor(prefs), err
}

// LanguageFor returns the language in which a user reads translations: the chosen one, or else the first of the settings.
func (rs *Readers) LanguageFor(prefs own.Preferences) string {
	languages := rs.Languages()
	if slices.Contains(languages, prefs.Language) {
		return prefs.Language
	}
	return languages[0]
}

// ReadingLanguages returns the languages in which a user may read: those of translations, and English, in which briefs are written
// without a translator.
func (rs *Readers) ReadingLanguages() []string {
	languages := rs.Languages()
	if HasLanguage(languages, "en") {
		return languages
	}
	return append(slices.Clip(languages), "en")
}

// BriefLanguage returns the language in which a user reads briefs: the chosen one, or else the first of the settings.
func (rs *Readers) BriefLanguage(ctx context.Context, userID string) (string, error) {
	prefs, err := rs.PreferencesFor(ctx, userID)
	if slices.Contains(rs.ReadingLanguages(), prefs.Language) {
		return prefs.Language, err
	}
	return rs.Languages()[0], err
}

// Logins returns the logins of a user at the code host, none without an account there.
func (rs *Readers) Logins(ctx context.Context, userID string) (logins []string, err error) {
	all, err := rs.cfg.Accounts.List(ctx, userID)
	for _, a := range all {
		logins = append(logins, a.Login)
	}
	return logins, err
}

// FeedQuery returns the query of a user for chosen items. types is the name of the parameter for types.
func (rs *Readers) FeedQuery(ctx context.Context, userID string, choice feed.Choice, types string) (feed.Query, error) {
	return choice.Query(userID, types, func() ([]string, error) { return rs.Logins(ctx, userID) })
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

// Preferences returns what the caller has chosen.
func (rs *Readers) Preferences(ctx context.Context) (Preferences, error) {
	p, err := rs.PreferencesFor(ctx, ID(ctx))
	return Preferences{
		p.TimeZone, p.BriefHour, p.BriefDaily, p.IncludeOwn, p.NotifyReleases, p.NotifyBrief, p.Language, p.AutoTranslate,
	}, err
}

// SavePreferences keeps what the caller has chosen.
func (rs *Readers) SavePreferences(ctx context.Context, p Preferences) error {
	if p.BriefHour < 0 || p.BriefHour > 23 {
		return fault.New(fault.BadRequest, "The hour must be from 0 to 23.").With("field", "brief_hour")
	}
	userID, err := OwnerID(ctx)
	if err != nil {
		return err
	}
	if _, err := time.LoadLocation(p.TimeZone); err != nil || p.TimeZone == "" || p.TimeZone == "Local" {
		return fault.New(fault.BadRequest, "time_zone must be an IANA name, such as Europe/Berlin.").With("field", "time_zone")
	}
	if p.Language != "" && !slices.Contains(rs.ReadingLanguages(), p.Language) {
		return fault.New(fault.BadRequest, "translation_language must be one of %s.", strings.Join(rs.ReadingLanguages(), ", ")).
			With("field", "translation_language")
	}
	return rs.cfg.Store.Tx(ctx, "save preferences", func(ctx context.Context) error {
		chosen := own.Preferences{
			UserID: userID, TimeZone: p.TimeZone, BriefHour: p.BriefHour, BriefDaily: p.BriefDaily, IncludeOwn: p.IncludeOwn,
			NotifyReleases: p.NotifyReleases, NotifyBrief: p.NotifyBrief, Language: p.Language, AutoTranslate: p.AutoTranslate,
			UpdatedAt: store.Millis(rs.cfg.Now()),
		}
		if err := rs.cfg.Accounts.SavePreferences(ctx, chosen); err != nil {
			return err
		}
		return rs.cfg.Repos.SettleLinks(ctx, userID)
	})
}

// DefaultLanguage is what is translated into where nothing else is said.
const DefaultLanguage = "zh-CN"

// Languages returns the languages that may be asked for, at least one; the first is that of readers who have chosen none.
func (rs *Readers) Languages() []string {
	languages := rs.cfg.Settings().Languages
	if HasLanguage(languages, DefaultLanguage) {
		return languages
	}
	return append(slices.Clip(languages), DefaultLanguage)
}

// HasLanguage reports whether one of the languages is the given one, in any case of its letters.
func HasLanguage(languages []string, language string) bool {
	return slices.ContainsFunc(languages, func(l string) bool { return strings.EqualFold(l, language) })
}
