package releases_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// readFeed is what a reader sees of the feed of a token.
type readFeed struct {
	Updated string `xml:"updated"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Base    string `xml:"http://www.w3.org/XML/1998/namespace base,attr"`
	} `xml:"entry"`
}

// TestFeedsChangeWithContentAlone changes what hosts change, and looks at what readers and pollers are told: the ids of entries stay, and
// only other content is news.
func TestFeedsChangeWithContentAlone(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 35)
		s.runJob("releases.sync_due")
		token, _ := s.addFeed(dict{})
		var etag, polled string
		var before readFeed
		read := func() (changed bool, feed readFeed) {
			t.Helper()
			got := s.send("", http.MethodGet, "/api/feed.atom?token="+token, nil, "If-None-Match", etag)
			if got.status == http.StatusNotModified {
				return false, before
			}
			etag = got.header.Get("ETag")
			must(t, xml.Unmarshal(got.body, &feed))
			return true, feed
		}
		poll := func() int {
			t.Helper()
			answer := s.want(200, "", s.bob, http.MethodGet, "/api/dashboard/updates?include=feed&token="+polled, nil)
			polled = answer["token"].(string)
			return int(answer["lists"].(dict)["feed"].(dict)["new_count"].(float64))
		}
		_, before = read()
		poll()
		for _, tt := range []struct {
			name   string
			change func(c *fake.CodeHostContent)
			// changed says that the feed has another state, news is how many items are new, and gone how many entries.
			changed    bool
			news, gone int
		}{
			{"nothing", func(*fake.CodeHostContent) {}, false, 0, 0},
			{"reactions", func(c *fake.CodeHostContent) { c.Releases[0].Reactions = map[string]int64{"heart": 5} }, false, 0, 0},
			{"the notes of one", func(c *fake.CodeHostContent) { c.Releases[0].Body = "Other notes" }, true, 1, 0},
			{"the id of one at the host", func(c *fake.CodeHostContent) { c.Releases[1].ID = "made anew" }, false, 0, 0},
			{"one is deleted, and another moves up", func(c *fake.CodeHostContent) { c.Releases = slices.Delete(c.Releases, 2, 3) }, true, 0, 1},
			{"all addresses, as after a rename", func(c *fake.CodeHostContent) {
				for i := range c.Releases {
					c.Releases[i].HTMLURL = "https://codehost.example/acme/motor/" + c.Releases[i].TagName
				}
			}, true, 30, 0},
		} {
			t.Run(tt.name, func(t *testing.T) {
				s.host.Change("acme/engine", func(c *fake.CodeHostContent) {
					c.Releases = append([]codehost.Release(nil), c.Releases...)
					tt.change(c)
				})
				s.clock.advance(2 * time.Hour)
				s.runJob("releases.sync_due")
				changed, feed := read()
				if changed != tt.changed {
					t.Errorf("the feed has changed: %v", changed)
				}
				if n := poll(); n != tt.news {
					t.Errorf("new_count is %d, want %d", n, tt.news)
				}
				if n := len(before.Entries) - len(feed.Entries); n != tt.gone {
					t.Errorf("%d entries are gone", n)
				}
				known := map[string]bool{}
				for _, e := range before.Entries {
					known[e.ID] = true
				}
				for _, e := range feed.Entries {
					if !known[e.ID] || e.Base == "" {
						t.Errorf("the entry %s has the id %s and the base %q", e.Title, e.ID, e.Base)
					}
				}
				if tt.news > 0 && (feed.Entries[0].Updated <= before.Entries[0].Updated || feed.Updated != feed.Entries[0].Updated) {
					t.Errorf("the feed is of %s, its first entry of %s, before of %s", feed.Updated, feed.Entries[0].Updated, before.Entries[0].Updated)
				}
				before = feed
			})
		}
		var last struct{ Items []map[string]any }
		must(t, json.Unmarshal(s.send("", http.MethodGet, "/api/feed.json?token="+token, nil).body, &last))
		if first := last.Items[0]; first["date_modified"] == first["date_published"] {
			t.Errorf("got %v", first)
		}
		if got := s.send("", http.MethodGet, "/api/feed.atom?token="+token, nil, "Accept-Encoding",
			"gzip"); got.header.Get("Content-Encoding") != "gzip" || got.header.Get("ETag") != etag {
			t.Errorf("a client that takes gzip gets %v", got.header)
		}
	}, withRepos("acme/engine"))
}

// TestSyncAllWithoutAnAccount reads what can be read for somebody without an account at the code host.
func TestSyncAllWithoutAnAccount(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 2)
		got := s.want(200, "", s.bob, http.MethodPost, "/api/sync/all", nil)
		if got["releases"].(dict)["releases"] != 2.0 || got["starred"].(dict)["repos"] != 0.0 {
			t.Errorf("got %v", got)
		}
		s.want(403, "pat_required", s.bob, http.MethodPost, "/api/sync/starred", nil)
	}, withRepos("acme/engine"))
}

// TestNotificationLeadsToItsRelease: the code host names its list of releases alone.
func TestNotificationLeadsToItsRelease(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 2), day)
		s.saveToken()
		s.host.Change("ada", func(c *fake.CodeHostContent) {
			for _, title := range []string{"acme/engine v1.0.0", "v1.1.0", "v9"} {
				c.Notifications = append(c.Notifications,
					codehost.Notification{ThreadID: title, RepoFullName: "acme/engine", Title: title, SubjectType: "Release", UpdatedAt: day,
						HTMLURL: "https://codehost.example/acme/engine/releases"})
			}
		})
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		for _, n := range s.list(s.ada, "/api/notifications") {
			want := map[any]string{"acme/engine v1.0.0": "https://codehost.example/acme/engine/releases/tag/v1.0.0",
				"v1.1.0": "https://codehost.example/acme/engine/releases/tag/v1.1.0",
				"v9":     "https://codehost.example/acme/engine/releases"}[n["subject_title"]]
			if n["html_url"] != want {
				t.Errorf("%v leads to %v, want %s", n["subject_title"], n["html_url"], want)
			}
		}
	})
}

// TestReadAtTheHostIsRead reconciles what is unread with the code host, where reading changes no time.
func TestReadAtTheHostIsRead(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 1), day)
		s.saveToken()
		s.host.Change("ada", func(c *fake.CodeHostContent) {
			for _, thread := range []string{"1", "2", "3"} {
				c.Notifications = append(c.Notifications,
					codehost.Notification{ThreadID: thread, RepoFullName: "acme/engine", Title: thread, UpdatedAt: day, Unread: true})
			}
		})
		unread := func() (threads []string) {
			t.Helper()
			s.clock.advance(time.Hour)
			s.want(200, "", s.ada, http.MethodPost, "/api/sync/notifications", nil)
			for _, n := range s.list(s.ada, "/api/notifications") {
				if n["unread"] == 1.0 || n["unread"] == true {
					threads = append(threads, n["thread_id"].(string))
				}
			}
			slices.Sort(threads)
			return threads
		}
		if got := unread(); !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Fatalf("at first %q are unread", got)
		}
		for _, want := range [][]string{{"1", "3"}, {"1", "2"}, nil} {
			s.host.Change("ada", func(c *fake.CodeHostContent) {
				c.Notifications = slices.Clone(c.Notifications)
				for i := range c.Notifications {
					c.Notifications[i].Unread = slices.Contains(want, c.Notifications[i].ThreadID)
				}
			})
			if got := unread(); !slices.Equal(got, want) {
				t.Errorf("%q are unread, want %q", got, want)
			}
		}
	})
}
