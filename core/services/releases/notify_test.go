package releases_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func withChannel(set *releases.Settings) { set.Notify = []string{"notify.ops"} }

// choose changes preferences of Ada.
func (s *server) choose(change dict) {
	s.Helper()
	body := dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": true, "include_own_releases": false}
	for name, value := range change {
		body[name] = value
	}
	s.want(200, "", s.ada, http.MethodPut, "/api/preferences", body)
}

// waitTold waits until the channel has heard of as many notifications, and returns their titles in order.
func (s *server) waitTold(count int) (told []string) {
	s.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(s.told.Sent()) < count; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			break
		}
	}
	for _, sent := range s.told.Sent() {
		told = append(told, sent.Notification.Title.Plain)
	}
	slices.Sort(told)
	return told
}

// countQueued counts the deliveries that there are.
func (s *server) countQueued() (n int) {
	s.Helper()
	must(s, s.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM notify_deliveries").Scan(&n).Error)
	return n
}

// TestNotifications tells of new releases and of the brief, once it is switched on, and of each once.
func TestNotifications(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		channels := &inLanguage{}
		s.sender.UseChannels(channels)
		publish := func(i int, at time.Time) {
			s.publish("acme/engine", newRelease("acme/engine", i, at))
			s.clock.advance(fullInterval)
			s.runJob("releases.sync_due")
		}
		s.addRepo("acme/engine", day, 2)
		s.runJob("releases.sync_due")
		publish(2, s.clock.now())
		if n := s.countQueued(); n != 0 {
			t.Fatalf("%d notifications before anybody wants any", n)
		}
		s.choose(dict{"notify_releases": true, "notify_brief": true})
		if got := s.want(200, "", s.ada, http.MethodGet, "/api/preferences", nil); got["notify_releases"] != true || got["notify_brief"] != true {
			t.Errorf("got %v", got)
		}
		publish(3, s.clock.now())
		// Old news is none, nor what the filter hides.
		publish(4, s.clock.now().AddDate(0, -1, 0))
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/acme/engine/filter", dict{"muted": true})
		publish(5, s.clock.now())
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/acme/engine/filter", dict{})
		if got := s.waitTold(1); !slices.Equal(got, []string{"acme/engine released v1.3.0"}) || s.countQueued() != 1 {
			t.Errorf("got %q", got)
		}
		payload := notify.Payload{}
		must(t, json.Unmarshal(s.told.Sent()[0].Notification.Payload, &payload))
		if payload.Kind != "releases.release_published" || payload.Fields["tagName"] != "v1.3.0" ||
			payload.Fields["repoFullName"] != "acme/engine" {
			t.Errorf("got %+v", payload)
		}
		channels.chinese.Store(true)
		checkBriefNotification(t, s)
		disabled := true
		_, err := s.users.Change(t.Context(), s.adaID, auth.UserChange{Disabled: &disabled})
		must(t, err)
		before := s.countQueued()
		publish(6, s.clock.now())
		if n := s.countQueued(); n != before {
			t.Errorf("%d notifications for a user who is disabled", n-before)
		}
	}, withRepos("acme/engine"), withChannel)
}

// TestPrivateReleasesReachNoChannel publishes releases of a public and of a private repository: channels have other readers, and hear of
// one alone.
func TestPrivateReleasesReachNoChannel(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		public, private := s.addRepo("acme/engine", day, 1), s.addRepo("acme/secret", day, 1)
		private.Private = true
		s.host.Change("acme/secret", func(c *fake.CodeHostContent) { c.Repository = &private })
		s.star("ada", public, day)
		s.star("ada", private, day)
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		s.choose(dict{"notify_releases": true, "notify_brief": true})
		for _, name := range []string{"acme/engine", "acme/secret"} {
			s.publish(name, newRelease(name, 1, s.clock.now()))
		}
		s.clock.advance(fullInterval)
		s.runJob("releases.sync_due")
		if got := len(s.list(s.ada, "/api/releases")); got != 4 {
			t.Fatalf("Ada sees %d releases", got)
		}
		s.clock.advance(24 * time.Hour)
		s.runJob("releases.write_briefs")
		s.waitTold(2)
		if n := s.countQueued(); n != 2 {
			t.Errorf("%d notifications, want that of the public release and the brief", n)
		}
		for _, sent := range s.told.Sent() {
			if text := string(sent.Notification.Payload) + sent.Notification.Summary.Plain +
				sent.Notification.Title.Plain; strings.Contains(text, "secret") || !strings.Contains(text, "acme/engine") {
				t.Errorf("the channel is told %s", text)
			}
		}
	}, withChannel)
}

// TestRepositoryThatTurnsPrivateIsNotTold publishes a release of a repository that has become private meanwhile. The visit with a token
// compares it before it tells of the release.
func TestRepositoryThatTurnsPrivateIsNotTold(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		r := s.addRepo("acme/engine", day, 1)
		s.star("ada", r, day)
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		s.choose(dict{"notify_releases": true})
		r.Private = true
		s.host.Change("acme/engine", func(c *fake.CodeHostContent) { c.Repository = &r })
		s.publish("acme/engine", newRelease("acme/engine", 1, s.clock.now()))
		s.clock.advance(fullInterval)
		s.runJob("releases.sync_due")
		if got := len(s.list(s.ada, "/api/releases")); got != 2 {
			t.Errorf("Ada sees %d releases", got)
		}
		if n := s.countQueued(); n != 0 {
			t.Errorf("%d notifications of a private release", n)
		}
	}, withChannel)
}

// checkBriefNotification looks at the brief of the day, in the other language.
func checkBriefNotification(t *testing.T, s *server) {
	t.Helper()
	s.clock.advance(24 * time.Hour)
	s.runJob("releases.write_briefs")
	s.runJob("releases.write_briefs")
	got := s.waitTold(2)
	if !slices.Contains(got, "2026-03-02 版本日报") || s.countQueued() != 2 {
		t.Fatalf("got %q", got)
	}
	last := s.told.Sent()[1].Notification
	if text := last.Summary.Plain; !strings.HasPrefix(text, "3 个新版本\nacme/engine v1.") ||
		!strings.Contains(text, "\nhttps://patchbay.example.com/releases/briefs/brf_") {
		t.Errorf("got %q", text)
	}
	// A day without news has a brief and no notification.
	s.clock.advance(24 * time.Hour)
	s.runJob("releases.write_briefs")
	if n := s.countQueued(); n != 2 {
		t.Errorf("%d notifications of an empty day", n-2)
	}
}

// inLanguage are channels whose language a test changes.
type inLanguage struct {
	notify.Channels
	chinese atomic.Bool
}

func (c *inLanguage) Locale() string {
	if c.chinese.Load() {
		return "zh"
	}
	return "en"
}

func (*inLanguage) AlertRecipients(_ context.Context, refs []string) (to []notify.Recipient, err error) {
	for _, ref := range refs {
		to = append(to, notify.Recipient{Channel: ref})
	}
	return to, nil
}

func (*inLanguage) Target(context.Context, notify.Recipient) (sdk.Target, error) {
	return sdk.Target{}, nil
}

func (*inLanguage) CheckEnabled(context.Context, string, notify.Recipient) error { return nil }
