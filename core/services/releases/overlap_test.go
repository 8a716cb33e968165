package releases_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// startOverlapping starts a server on PostgreSQL, and returns the configuration of its database for testkit.Overlap. Those whose logins are
// named may sign up.
func startOverlapping(t *testing.T, logins ...string) (s *server, cfg store.Config) {
	t.Helper()
	cfg = testkit.PostgresConfig(t)
	return startServer(t, cfg, withSignIn(logins...)), cfg
}

// TestRepositoryTurnsPrivateWhileItIsFollowed: nobody follows or publishes a repository from the moment on at which it is private.
func TestRepositoryTurnsPrivateWhileItIsFollowed(t *testing.T) {
	for name, see := range map[string]func(s *server) error{
		"follow":  func(s *server) error { _, err := s.service.Follow(s.context(s.bob), "acme/engine"); return err },
		"publish": func(s *server) error { return s.service.PublishRepo(s.context(s.bob), "acme/engine") },
	} {
		t.Run(name, func(t *testing.T) {
			s, cfg := startOverlapping(t)
			repos, now := repo.NewStore(s.store), s.clock.now()
			engine := repo.Repo{Host: "codehost.main", RemoteID: "1", FullName: "acme/engine"}
			must(t, repos.Save(t.Context(), &engine, now))
			secret := engine
			secret.Private = true
			seen, err := testkit.Overlap(t, cfg, "SELECT 1 FROM release_repos FOR UPDATE",
				func() error { return see(s) },
				func() error { return repos.Save(t.Context(), &secret, now) })
			must(t, err)
			if code := fault.CodeOf(seen); seen != nil && !errors.Is(seen, repo.ErrNoRepo) && code != fault.BadRequest {
				t.Error(seen)
			}
			var left int64
			must(t, s.store.DB(t.Context()).Raw("SELECT (SELECT COUNT(*) FROM release_links) + (SELECT COUNT(*) FROM release_public_repos)").Scan(&left).Error)
			if found, err := repos.Find(t.Context(), engine.ID); err != nil || !found.Private || left != 0 {
				t.Errorf("got %+v, %v, with %d who see it", found, err, left)
			}
		})
	}
}

// unlinkLater returns a function that takes away the first account of Ada.
func (s *server) unlinkLater() func() error {
	s.Helper()
	ctx := s.context(s.ada)
	return func() error { return s.service.DeleteAccount(ctx, s.adaID) }
}

// countRows counts the rows of a table.
func (s *server) countRows(table string) (n int64) {
	s.Helper()
	must(s, s.store.DB(s.Context()).Raw("SELECT COUNT(*) FROM "+table).Scan(&n).Error)
	return n
}

// TestAccountIsUnlinkedWhileItSignsIn: no session is left that began with an account which was taken away, and the account does not come
// back.
func TestAccountIsUnlinkedWhileItSignsIn(t *testing.T) {
	s, cfg := startOverlapping(t)
	ada := codehost.OAuthToken{AccessToken: adaToken}
	_, err := s.comeBack(s.principal(s.ada), ada)
	must(t, err)
	var in signin.SignInResult
	signedIn, unlinked := testkit.Overlap(t, cfg, "LOCK TABLE users IN ACCESS EXCLUSIVE MODE",
		func() (err error) { in, err = s.comeBack(nil, ada); return err },
		s.unlinkLater())
	must(t, signedIn)
	must(t, unlinked)
	s.want(401, "", in.Cookie, http.MethodGet, tokenPath, nil)
	if n := s.countRows("release_host_accounts"); n != 0 {
		t.Errorf("%d accounts are linked", n)
	}
}

// TestAccountIsUnlinkedWhileItIsRead: what is read with an account that is taken away meanwhile is not kept.
func TestAccountIsUnlinkedWhileItIsRead(t *testing.T) {
	s, cfg := startOverlapping(t)
	s.star("ada", s.addRepo("acme/engine", day, 1), day)
	s.saveToken()
	s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
	s.star("ada", s.addRepo("acme/loom", day, 1), day)
	_, unlinked := testkit.Overlap(t, cfg, "SELECT 1 FROM release_account_repos FOR UPDATE",
		func() error { s.send(s.ada, http.MethodPost, "/api/sync/starred", nil); return nil },
		s.unlinkLater())
	must(t, unlinked)
	for _, table := range []string{"release_account_repos", "release_links", "release_sync_state"} {
		if n := s.countRows(table); n != 0 {
			t.Errorf("%s has %d rows of an account that is gone", table, n)
		}
	}
}

// TestAccountSignsInWhileItsRepositoriesAreStored: who signs in does not wait for the repositories that were read with the account.
func TestAccountSignsInWhileItsRepositoriesAreStored(t *testing.T) {
	s, cfg := startOverlapping(t)
	ada := codehost.OAuthToken{AccessToken: adaToken}
	_, err := s.comeBack(s.principal(s.ada), ada)
	must(t, err)
	s.star("ada", s.addRepo("acme/engine", day, 1), day)
	s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
	s.star("ada", s.addRepo("acme/loom", day, 1), day)
	var stars int64
	_, signedIn := testkit.Overlap(t, cfg, "SELECT 1 FROM release_repos FOR UPDATE",
		func() error { s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil); return nil },
		func() error {
			_, err := s.comeBack(nil, ada)
			stars = s.countRows("release_account_repos")
			return err
		})
	must(t, signedIn)
	if stars != 1 {
		t.Errorf("the sign-in has waited until %d stars were stored", stars)
	}
	if n := s.countRows("release_account_repos"); n != 2 {
		t.Errorf("%d stars are stored, want 2", n)
	}
}

// TestSignUpsAtOnce: who signs up twice at once is one user, and is in both times.
func TestSignUpsAtOnce(t *testing.T) {
	s, cfg := startOverlapping(t, "carol")
	const token = "ghp_token_of_carol"
	s.host.AddAccount(token, codehost.Account{ID: "3", Login: "carol"})
	users := s.countRows("users")
	signUp := func() error {
		in, err := s.comeBack(nil, codehost.OAuthToken{AccessToken: token})
		if err == nil && in.Cookie == "" {
			t.Error("a sign-up has made no session")
		}
		return err
	}
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE release_host_accounts IN SHARE MODE", signUp, signUp)
	must(t, first)
	must(t, second)
	if n := s.countRows("users"); n != users+1 {
		t.Errorf("%d users were added, want 1", n-users)
	}
}

// TestAccountIsLinkedByTwoUsersAtOnce: one of them has it.
func TestAccountIsLinkedByTwoUsersAtOnce(t *testing.T) {
	s, cfg := startOverlapping(t)
	link := func(p *auth.Principal) func() error {
		return func() error {
			_, err := s.comeBack(p, codehost.OAuthToken{AccessToken: adaToken})
			return err
		}
	}
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE release_host_accounts IN SHARE MODE", link(s.principal(s.ada)),
		link(s.principal(s.bob)))
	must(t, first)
	s.wantCode(second, fault.Conflict)
}

// TestFirstAccountsAreLinkedAtOnce: both stay.
func TestFirstAccountsAreLinkedAtOnce(t *testing.T) {
	s, cfg := startOverlapping(t)
	const other = "ghp_another_token_of_ada"
	s.host.AddAccount(schema.Secret(other), codehost.Account{ID: "3", Login: "ada-at-work"})
	link := func(token string) func() error {
		return func() error {
			_, err := s.comeBack(s.principal(s.ada), codehost.OAuthToken{AccessToken: schema.Secret(token)})
			return err
		}
	}
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE release_host_accounts IN SHARE MODE", link(adaToken), link(other))
	must(t, first)
	must(t, second)
	if n := s.countRows("release_host_accounts"); n != 2 {
		t.Errorf("%d accounts are linked, want 2", n)
	}
}

// TestRepositoriesAreImportedWhileTheyAreSaved: who follows several repositories by their names locks them in the order of those who save
// them.
func TestRepositoriesAreImportedWhileTheyAreSaved(t *testing.T) {
	s, cfg := startOverlapping(t)
	repos, now := repo.NewStore(s.store), s.clock.now()
	var all []*repo.Repo
	for _, name := range []string{"c", "b", "a"} {
		r := &repo.Repo{Host: "codehost.main", RemoteID: name, FullName: "acme/" + name}
		must(t, repos.Save(t.Context(), r, now))
		all = append(all, r)
	}
	followed, saved := testkit.Overlap(t, cfg, "SELECT 1 FROM release_repos WHERE remote_id = 'b' FOR UPDATE",
		func() error {
			_, err := s.service.ImportRepos(s.context(s.bob), "", "acme/a acme/b acme/c")
			return err
		},
		func() error { return repos.SaveAll(t.Context(), []*repo.Repo{all[0], all[2]}, now) })
	must(t, followed)
	must(t, saved)
}
