package app

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/auth"
)

// TestSetupLinkAtStart: there is a link while there is no user, and it works.
func TestSetupLinkAtStart(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_PUBLIC_URL": "https://patchbay.example.com/"})
	link, err := a.SetupLink(t.Context())
	must(t, err)
	token, ok := strings.CutPrefix(link, "https://patchbay.example.com/system/setup?token=")
	if !ok {
		t.Fatalf("got %q", link)
	}
	_, p, err := a.users.Links.Use(t.Context(), token, "ann@example.com", "Ann", auth.Origin{Address: "192.0.2.1"})
	must(t, err)
	if !p.Admin() {
		t.Fatalf("got %+v", p)
	}
	if link, err = a.SetupLink(t.Context()); err != nil || link != "" {
		t.Fatalf("got %q, %v", link, err)
	}
}

// TestResetLinkBesideARunningCore: a link that the command line makes works at once in a core that runs.
func TestResetLinkBesideARunningCore(t *testing.T) {
	a := startApp(t, nil)
	_, key, err := a.users.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
	must(t, err)
	r, diags, err := admin.OpenRecords(t.Context(), a.cfg.configSource(), a.cfg.Version)
	must(t, err)
	must(t, diags.Err())
	defer func() { must(t, r.Close()) }()
	link, err := r.ResetLink(t.Context(), "Ann@example.com")
	must(t, err)
	at, token, ok := strings.Cut(link, "?token=")
	if !ok || !strings.HasPrefix(at, "http://localhost:") || !strings.HasSuffix(at, "/system/setup") {
		t.Fatalf("got %q", link)
	}
	if _, _, err := a.users.Sessions.Exchange(t.Context(), key, auth.Origin{}); err == nil {
		t.Fatal("the former key still works")
	}
	_, p, err := a.users.Links.Use(t.Context(), token, "", "", auth.Origin{Address: "192.0.2.1"})
	must(t, err)
	if p.User.Email != "ann@example.com" {
		t.Fatalf("got %+v", p.User)
	}
	if _, err := r.ResetLink(t.Context(), "nobody@example.com"); err == nil {
		t.Fatal("a link for nobody")
	}
}
