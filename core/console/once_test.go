package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
)

// confirmed returns a visitor whose session began with a set-up link, which may change users and see secrets.
func (s *site) confirmed(email string) *webtest.Browser {
	s.t.Helper()
	users, err := s.users.List(s.t.Context())
	must(s.t, err)
	v := s.visitor()
	for _, u := range users {
		if u.Email == email {
			link, err := s.users.Links.CreateForUser(s.t.Context(), u.ID)
			must(s.t, err)
			if p := v.Post("/system/setup", "token", link); p.Status != http.StatusSeeOther {
				s.t.Fatalf("set-up: status %d", p.Status)
			}
		}
	}
	return v
}

// TestInvitation: an invited user gets a link and no key. The link is shown once, to whoever made it, and loading the page again
// invites nobody.
func TestInvitation(t *testing.T) {
	s := newSite(t)
	v := s.confirmed("ada@example.com")
	p := v.Post("/system/users", "email", "new@example.com", "name", "New", "role", "member")
	if p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/system/users" {
		t.Fatalf("status %d, to %q", p.Status, p.Header.Get("Location"))
	}
	const link = "/system/setup?token="
	other := s.confirmed("ada@example.com")
	if other.Get("/system/users"); strings.Contains(other.Get("/system/users").Body, link) {
		t.Error("another session sees the link")
	}
	v.Get("/system/users").Says(t, "Set-up link for new@example.com", link)
	if strings.Contains(v.Get("/system/users").Body, link) {
		t.Error("the link is shown twice")
	}
	users, err := s.users.List(t.Context())
	must(t, err)
	invited := users[len(users)-1]
	keys, err := s.users.Keys.List(t.Context(), invited.ID)
	must(t, err)
	if invited.Email != "new@example.com" || invited.Role != auth.Member || len(keys) != 0 {
		t.Errorf("invited %+v with %d keys", invited, len(keys))
	}
	again := v.Post("/system/users", "email", "new@example.com", "name", "New", "role", "member")
	again.Says(t, " open data-dialog", `id="email-error"`, "A user with this email address already exists.", `value="new@example.com"`,
		`value="New"`)
	v.Post("/system/users", "email", "other@example.com", "name", "", "role", "member").Says(t, " open data-dialog", `id="name-error"`,
		`value="other@example.com"`)
	v.Get("/system/users?open=new-user").Says(t, " open data-dialog")
}

// TestNewKeyIsShownOnce: the page after a key was made has it, and is without it when it is loaded again.
func TestNewKeyIsShownOnce(t *testing.T) {
	s := newSite(t)
	v := s.confirmed("bob@example.com")
	if p := v.Post("/system/account/keys", "name", "laptop"); p.Status != http.StatusSeeOther ||
		p.Header.Get("Location") != "/system/account" {
		t.Fatalf("status %d, to %q", p.Status, p.Header.Get("Location"))
	}
	v.Get("/system/account").Says(t, "laptop", "data-copy")
	if p := v.Get("/system/account"); strings.Contains(p.Body, `class="card" role="status"`) {
		t.Error("the key is shown twice")
	}
}

// TestRefusedKey: a form that is refused keeps what was typed, in its dialog.
func TestRefusedKey(t *testing.T) {
	s := newSite(t)
	v := s.confirmed("bob@example.com")
	long := strings.Repeat("n", 200)
	p := v.Post("/system/account/keys", "name", long, "days", "90")
	if p.Status != http.StatusBadRequest {
		t.Fatalf("status %d", p.Status)
	}
	p.Says(t, `id="new-key" class="make" aria-labelledby="new-key-title" open`, `id="key-name-error"`, long, `<option value="90" selected>`)
	v.Get("/system/account?open=new-key").Says(t, ` open data-dialog`)
}
