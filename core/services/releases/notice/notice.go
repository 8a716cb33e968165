// Package notice tells channels of new releases and briefs.
package notice

import (
	"context"
	"embed"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

// Config is what an Announcer needs.
type Config struct {
	// Alerts sends notifications; nil sends none.
	Alerts     Alerter
	Accounts   *account.Store
	Repos      *repo.Store
	Users      *auth.Users
	Readers    *reader.Readers
	Translator *translation.Translator
	// Channels returns the channels that hear of releases and briefs.
	Channels func() []string
	// PublicBase returns the address of the service as browsers see it; its path alone if that is not known.
	PublicBase func() string
	Logger     hclog.Logger
	Now        func() time.Time
}

// Announcer tells channels of new releases and briefs.
type Announcer struct{ cfg Config }

// New returns what tells channels of releases and briefs.
func New(cfg Config) *Announcer { return &Announcer{cfg} }

// channelsToTell returns the channels that are told, none if nothing can be sent.
func (a *Announcer) channelsToTell() []string {
	if a.cfg.Alerts == nil {
		return nil
	}
	return a.cfg.Channels()
}

// Alerter sends notifications.
type Alerter interface {
	// Send tells the channels once, in the transaction of ctx.
	Send(ctx context.Context, a notify.Alert, channels []string) error
	// Locale returns the language of those who are told, "zh" or "en".
	Locale() string
}

var (
	releasePublished = notify.RegisterKind(notify.Kind{Service: "releases", Name: "release_published", Severity: sdk.Info, Texts: allTexts})
	briefWritten     = notify.RegisterKind(notify.Kind{Service: "releases", Name: "brief_written", Severity: sdk.Info, Texts: allTexts})
)

const (
	// announcedFor is how old a release may be that is announced: what an old list brings is no news.
	announcedFor = 7 * 24 * time.Hour
	// announcedAtOnce is how many releases of one repository are announced at once.
	announcedAtOnce = 10
	// listedReleases is how many releases of a brief a notification names.
	listedReleases = 15
)

// AnnounceReleases tells the channels of new releases and has them translated, for users who want that, in the transaction that
// stores these. A channel that cannot be told costs no release.
func (a *Announcer) AnnounceReleases(ctx context.Context, r repo.Repo, found []repo.Release) error {
	channels := a.channelsToTell()
	if len(channels) == 0 && !a.cfg.Translator.Enabled() {
		return nil
	}
	announced := 0
	for _, release := range found {
		if a.cfg.Now().Sub(store.FromMillis(release.TS)) > announcedFor || announced == announcedAtOnce {
			continue
		}
		wants, err := a.preferencesFor(ctx, release.ID)
		if err != nil {
			return err
		}
		if !wants.notification && len(wants.languages) == 0 {
			continue
		}
		announced++
		if err := a.cfg.Translator.TranslateUnasked(ctx, release, wants.languages); err != nil {
			return err
		}
		if !wants.notification || len(channels) == 0 {
			continue
		}
		if r.Private {
			continue // others read the channels as well
		}
		if err := a.cfg.Alerts.Send(ctx, a.newReleaseAlert(r, release), channels); err != nil {
			a.cfg.Logger.Error("cannot notify about a release", "release", release.ID, "error", err)
		}
	}
	return nil
}

// releaseWants is what users want of a new release: a notification, and translations into languages.
type releaseWants struct {
	notification bool
	languages    []string
}

// preferencesFor returns what users who are not disabled, and see a release, want of it.
func (a *Announcer) preferencesFor(ctx context.Context, id int64) (wants releaseWants, err error) {
	found, err := a.cfg.Accounts.WantingReleases(ctx, id)
	if err != nil {
		return wants, err
	}
	users, err := a.findUsers(ctx, found)
	if err != nil {
		return wants, err
	}
	for _, p := range found {
		// A user who is gone wants nothing.
		if user, ok := users[p.UserID]; !ok || user.Disabled {
			continue
		}
		wants.notification = wants.notification || p.NotifyReleases
		if language := a.cfg.Readers.LanguageFor(p); p.AutoTranslate && !slices.Contains(wants.languages, language) {
			wants.languages = append(wants.languages, language)
		}
	}
	return wants, nil
}

// usersAtOnce is how many users one query reads: a statement has a limited number of parameters.
const usersAtOnce = 500

// findUsers returns the users whose preferences are given, by their ids; those that do not exist are left out.
func (a *Announcer) findUsers(ctx context.Context, preferences []account.Preferences) (map[string]auth.User, error) {
	users := map[string]auth.User{}
	for part := range slices.Chunk(preferences, usersAtOnce) {
		ids := lists.ConvertAll(part, func(p account.Preferences) string { return p.UserID })
		found, err := a.cfg.Users.ByID(ctx, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(users, found)
	}
	return users, nil
}

// newReleaseAlert describes a release.
func (a *Announcer) newReleaseAlert(r repo.Repo, release repo.Release) notify.Alert {
	id := strconv.FormatInt(release.ID, 10)
	alert := releasePublished.NewAlert(a.cfg.Alerts.Locale(), releasePublished.Name, "Repo", r.FullName, "Tag", release.Tag)
	alert.Text = release.Title
	if release.HTMLURL != "" {
		alert.Text += "\n" + release.HTMLURL
	}
	alert.DedupKey, alert.Time = alert.Kind+"/"+id, a.cfg.Now()
	alert.Fields = map[string]any{
		"releaseId": id, "repoFullName": r.FullName, "tagName": release.Tag, "name": release.Title, "htmlUrl": release.HTMLURL,
		"publishedAt": store.FormatTime(store.FromMillis(release.TS)), "prerelease": release.Prerelease,
	}
	return alert
}

// AnnounceBrief tells the channels of a brief, in the transaction that stores it. One without anything new for others to know is not told
// of.
func (a *Announcer) AnnounceBrief(ctx context.Context, b brief.Brief) {
	channels := a.channelsToTell()
	if len(channels) == 0 {
		return
	}
	told, err := a.publicReleases(ctx, b)
	if err == nil && (len(told) > 0 || b.CoversStars || b.CoversFollowers) {
		err = a.cfg.Alerts.Send(ctx, a.newBriefAlert(b, told), channels)
	}
	if err != nil {
		a.cfg.Logger.Error("cannot notify about a brief", "brief", b.ID, "error", err)
	}
}

// publicRelease is a release that everybody may know of, in words.
type publicRelease struct{ id, name string }

// publicReleases returns the releases of a brief whose repositories are not private: others read the channels as well.
func (a *Announcer) publicReleases(ctx context.Context, b brief.Brief) (all []publicRelease, err error) {
	for _, id := range b.Releases() {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, err
		}
		release, r, err := a.cfg.Repos.FindRelease(ctx, n)
		if errors.Is(err, repo.ErrNoRelease) {
			continue // it was deleted since the brief was composed
		}
		if err != nil {
			return nil, err
		}
		if !r.Private {
			all = append(all, publicRelease{id, r.FullName + " " + release.Tag})
		}
	}
	return all, nil
}

// newBriefAlert describes a brief by its releases.
func (a *Announcer) newBriefAlert(b brief.Brief, told []publicRelease) notify.Alert {
	number := strconv.Itoa(len(told))
	if b.More > 0 {
		number += "+" // some of the others may be private
	}
	lang := a.cfg.Alerts.Locale()
	lines, ids := []string{allTexts().Text(lang, "brief_written.count", "Number", number)}, make([]string, len(told))
	for i, release := range told {
		ids[i] = release.id
		if i < listedReleases {
			lines = append(lines, release.name)
		}
	}
	if len(told) > listedReleases {
		lines = append(lines, "…")
	}
	if base := a.cfg.PublicBase(); !strings.HasPrefix(base, "/") {
		lines = append(lines, base+"/briefs/"+b.ID)
	}
	alert := briefWritten.NewAlert(lang, briefWritten.Name, "Date", b.Date)
	alert.Text, alert.DedupKey, alert.Time = strings.Join(lines, "\n"), alert.Kind+"/"+b.ID, a.cfg.Now()
	alert.Fields = map[string]any{"briefId": b.ID, "userId": b.UserID, "date": b.Date, "releaseCount": len(ids), "releaseIds": ids}
	return alert
}
