package releases

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// Alerter sends notifications.
type Alerter interface {
	// Send tells the channels once, in the transaction of ctx.
	Send(ctx context.Context, a notify.Alert, channels []string) error
	// Locale returns the language of those who are told, "zh" or "en".
	Locale() string
}

// The kinds of notifications.
const (
	alertRelease = "release_published"
	alertBrief   = "brief_written"
)

const (
	// toldFor is how old a release may be that the channels hear of: what an old list brings is no news.
	toldFor = 7 * 24 * time.Hour
	// toldAtOnce is how many releases of one repository they hear of at once.
	toldAtOnce = 10
	// listedReleases is how many releases of a brief a notification names.
	listedReleases = 15
)

// notifyReleases tells the channels of new releases, in the transaction that stores these. A channel that cannot be told costs
// no release.
func (s *Service) notifyReleases(ctx context.Context, r repo.Repo, found []repo.Release) error {
	channels := s.state.Load().settings.Notify
	if s.cfg.Alerts == nil || len(channels) == 0 {
		return nil
	}
	told := 0
	for _, release := range found {
		if s.cfg.Now().Sub(store.FromMillis(release.TS)) > toldFor || told == toldAtOnce {
			continue
		}
		wanted, err := s.wantsRelease(ctx, release.ID)
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		told++
		if err := s.cfg.Alerts.Send(ctx, s.newReleaseAlert(r, release), channels); err != nil {
			s.log.Error("nobody is told of a release", "release", release.ID, "error", err)
		}
	}
	return nil
}

// wantsRelease reports whether a user who is not disabled sees a release and wants the channels to hear of it.
func (s *Service) wantsRelease(ctx context.Context, id int64) (bool, error) {
	users, err := s.accounts.WantingReleases(ctx, id)
	if err != nil {
		return false, err
	}
	for _, userID := range users {
		// A user who is gone wants nothing.
		if user, err := s.cfg.Users.Get(ctx, userID); err == nil && !user.Disabled {
			return true, nil
		}
	}
	return false, nil
}

// newReleaseAlert describes a release.
func (s *Service) newReleaseAlert(r repo.Repo, release repo.Release) notify.Alert {
	title, text := r.FullName+" released "+release.Tag, release.Title
	if s.cfg.Alerts.Locale() == "zh" {
		title = r.FullName + " 发布了 " + release.Tag
	}
	if release.HTMLURL != "" {
		text += "\n" + release.HTMLURL
	}
	return notify.Alert{
		Kind: alertRelease, Severity: sdk.Info, Service: ServiceName, Title: title, Text: text, DedupKey: alertRelease + "/" + strconv.FormatInt(release.ID, 10), Time: s.cfg.Now(),
		Fields: map[string]any{
			"releaseId": strconv.FormatInt(release.ID, 10), "repoFullName": r.FullName, "tagName": release.Tag, "name": release.Title, "htmlUrl": release.HTMLURL,
			"publishedAt": store.FormatTime(store.FromMillis(release.TS)), "prerelease": release.Prerelease,
		},
	}
}

// notifyBrief tells the channels of a brief, in the transaction that stores it. One without anything new is not told of.
func (s *Service) notifyBrief(ctx context.Context, b brief.Brief) {
	channels := s.state.Load().settings.Notify
	if s.cfg.Alerts == nil || len(channels) == 0 || len(b.Releases()) == 0 && !b.CoversStars && !b.CoversFollowers {
		return
	}
	alert, err := s.newBriefAlert(ctx, b)
	if err == nil {
		err = s.cfg.Alerts.Send(ctx, alert, channels)
	}
	if err != nil {
		s.log.Error("nobody is told of a brief", "brief", b.ID, "error", err)
	}
}

// newBriefAlert describes a brief by its releases.
func (s *Service) newBriefAlert(ctx context.Context, b brief.Brief) (notify.Alert, error) {
	ids := b.Releases()
	title, count := "Releases of "+b.Date, fmt.Sprintf("%d new releases", len(ids))
	if s.cfg.Alerts.Locale() == "zh" {
		title, count = b.Date+" 版本日报", fmt.Sprintf("%d 个新版本", len(ids))
	}
	lines := []string{count}
	for _, id := range ids[:min(len(ids), listedReleases)] {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return notify.Alert{}, err
		}
		release, r, err := s.repos.FindRelease(ctx, n)
		if err != nil {
			return notify.Alert{}, err
		}
		lines = append(lines, r.FullName+" "+release.Tag)
	}
	if len(ids) > listedReleases {
		lines = append(lines, "…")
	}
	if base := s.publicBase(); !strings.HasPrefix(base, "/") {
		lines = append(lines, base+"/briefs/"+b.ID)
	}
	return notify.Alert{
		Kind: alertBrief, Severity: sdk.Info, Service: ServiceName, Title: title, Text: strings.Join(lines, "\n"), DedupKey: alertBrief + "/" + b.ID, Time: s.cfg.Now(),
		Fields: map[string]any{"briefId": b.ID, "userId": b.UserID, "date": b.Date, "releaseCount": len(ids), "releaseIds": ids},
	}, nil
}
