package releases_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const accountsPath = "/api/accounts"

// addAccount adds an account to those of Ada and returns its id.
func (s *server) addAccount(token string) string {
	s.Helper()
	return s.want(200, "", s.adaCookie, http.MethodPost, accountsPath, dict{"token": token})["id"].(string)
}

// notify puts a notification into the inbox of a login.
func (s *server) notify(login, thread string) {
	s.host.Change(login, func(c *fake.CodeHostContent) {
		c.Notifications = []codehost.Notification{{ThreadID: thread, RepoFullName: "acme/engine", Title: thread, SubjectType: "Issue",
			Reason: "mention", UpdatedAt: s.clock.now(), Unread: true}}
	})
}

// starredNames returns the names of Ada's starred repositories, sorted.
func (s *server) starredNames() (out []string) {
	for _, r := range s.list(s.ada, "/api/starred") {
		out = append(out, r["full_name"].(string))
	}
	slices.Sort(out)
	return out
}

// TestSeveralAccounts: the stars and the inbox of a user are those of all accounts, each may be left out, and what goes with an account
// is what no other one has.
func TestSeveralAccounts(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		both, one, two := s.addRepo("acme/both", day, 1), s.addRepo("acme/one", day, 1), s.addRepo("acme/two", day, 1)
		s.star("ada", both, day)
		s.star("ada", one, day)
		s.star("bob", both, day.Add(time.Hour))
		s.star("bob", two, day)
		s.notify("ada", "of-ada")
		s.notify("bob", "of-bob")
		s.saveToken()
		second := s.addAccount(bobToken)
		if again := s.addAccount(bobToken); again != second {
			t.Errorf("the same account got another id: %s, %s", second, again)
		}
		all := s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		if all["notifications"].(dict)["notifications"] != 2.0 {
			t.Errorf("got %v", all)
		}
		if got := s.starredNames(); !slices.Equal(got, []string{"acme/both", "acme/one", "acme/two"}) {
			t.Errorf("got %q", got)
		}
		if got := s.list(s.ada, "/api/notifications"); len(got) != 2 {
			t.Errorf("got %v", got)
		}
		list := s.want(200, "", s.adaCookie, http.MethodGet, accountsPath, nil)["accounts"].([]any)
		if len(list) != 2 || list[0].(dict)["login"] != "ada" || list[1].(dict)["login"] != "bob" || list[1].(dict)["id"] != second {
			t.Fatalf("got %v", list)
		}
		// What is one's own belongs to any of the accounts.
		s.addRepo("bob/notes", day, 1)
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/bob/notes/following", nil)
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/releases", nil)
		if got := s.want(200, "", s.ada, http.MethodGet, "/api/feed?scope=mine", nil)["items"].([]any); len(got) != 1 ||
			got[0].(dict)["repo_full_name"] != "bob/notes" {
			t.Errorf("got %v", got)
		}
		// Without the stars of the second account, and then without the account.
		s.want(200, "", s.adaCookie, http.MethodPut, accountsPath+"/"+second, dict{"stars": false, "inbox": true, "activity": true})
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		if got := s.starredNames(); !slices.Equal(got, []string{"acme/both", "acme/one"}) {
			t.Errorf("got %q", got)
		}
		s.want(200, "", s.adaCookie, http.MethodPut, accountsPath+"/"+second, dict{"stars": true, "inbox": true, "activity": true})
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		s.want(204, "", s.adaCookie, http.MethodDelete, accountsPath+"/"+second, nil)
		if got := s.starredNames(); !slices.Equal(got, []string{"acme/both", "acme/one"}) {
			t.Errorf("got %q", got)
		}
		if got := s.list(s.ada, "/api/notifications"); len(got) != 1 || got[0]["thread_id"] != "of-ada" {
			t.Errorf("got %v", got)
		}
		s.want(404, "not_found", s.adaCookie, http.MethodDelete, accountsPath+"/"+second, nil)
		s.want(403, "forbidden", s.ada, http.MethodGet, accountsPath, nil)
		// An account of somebody else is not there.
		s.want(404, "not_found", s.cookieOf(s.bob), http.MethodDelete, accountsPath+"/"+s.adaID, nil)
	})
}

// cookieOf returns a session of Ada or Bob.
func (s *server) cookieOf(key string) string {
	s.Helper()
	link, err := s.users.Links.CreateForUser(s.Context(), s.userOf(key).ID)
	must(s, err)
	cookie, _, err := s.users.Links.Use(s.Context(), link, "", "", from)
	must(s, err)
	return cookie
}

// TestAccountThatSees: a private repository is read, and reacted to, with the account that has starred it.
func TestAccountThatSees(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		secret := s.addRepo("bob/secret", day, 1)
		s.host.Change("bob/secret", func(c *fake.CodeHostContent) {
			c.Repository.Private = true
			c.Releases[0].NodeID = "n1"
		})
		secret.Private = true
		s.star("bob", secret, day)
		s.saveToken()
		s.addAccount(bobToken)
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		for _, c := range s.host.Calls() {
			if c.Method == "listreleases" && c.Of == "bob/secret" && c.Token != bobToken {
				t.Errorf("the private repository was read with %s", c.Token.Reveal())
			}
		}
		items := s.want(200, "", s.ada, http.MethodGet, "/api/feed?types=releases", nil)["items"].([]any)
		if len(items) != 1 {
			t.Fatalf("got %v", items)
		}
		id := items[0].(dict)["id"]
		s.want(200, "", s.ada, http.MethodPost, "/api/release/reactions/toggle", dict{"release_id": id, "content": "heart"})
		calls := s.host.Calls()
		if got := calls[len(calls)-1]; got.Method != "setreaction" || got.Token != bobToken {
			t.Errorf("got %+v", got)
		}
	})
}

// TestTogglesAtOnce: an even number of toggles at once leaves no reaction, since each sees what the one before has done.
func TestTogglesAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 1), day)
		s.host.Change("acme/engine", func(c *fake.CodeHostContent) { c.Releases[0].NodeID = "n1" })
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		id := s.want(200, "", s.ada, http.MethodGet, "/api/feed?types=releases", nil)["items"].([]any)[0].(dict)["id"]
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got := s.send(s.ada, http.MethodPost, "/api/release/reactions/toggle",
					dict{"release_id": id, "content": "heart"}); got.status != 200 {
					t.Errorf("got %d %s", got.status, got.body)
				}
			})
		}
		all.Wait()
		left, err := s.host.ReadReactions(context.Background(), adaToken, []string{"n1"})
		if err != nil || len(left.Items) != 1 || len(left.Items[0].Viewer) != 0 {
			t.Errorf("got %+v, %v", left, err)
		}
	})
}
