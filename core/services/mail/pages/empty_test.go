package pages

import (
	"context"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/secret"
	service "github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
)

var must = testkit.Must

// serveInbox serves the pages of a mail service with the domain inbox.test to the member ada, and returns her browser.
func serveInbox(t *testing.T) (*service.Service, *webtest.Browser) {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), auth.Migrations(), service.Migrations())
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	users, err := auth.New(auth.Config{Store: st, Keyring: ring, Scopes: []string{service.ServiceName}})
	must(t, err)
	bus := event.NewBus()
	t.Cleanup(bus.Close)
	svc, err := service.New(t.Context(), service.Config{
		Store: st, Keyring: ring, Users: users, Bus: bus, DataDir: t.TempDir(), Logger: hclog.NewNullLogger(),
		Settings: service.Settings{BaseURL: "/mail", Domains: []string{"inbox.test"}},
	})
	must(t, err)
	t.Cleanup(svc.Close)
	section, err := Section(svc, "/mail", "/mail")
	must(t, err)
	texts, err := ui.NewTexts(ui.OwnTexts(), section.Texts)
	must(t, err)
	assets, err := ui.NewAssets(section.Static)
	must(t, err)
	mount := httpd.Mount{Service: service.ServiceName, BaseURL: "/mail",
		Routes: section.Routes(ui.NewKit(ui.Config{Texts: texts, Assets: assets}))}
	server := webtest.Serve(t, httpd.Options{Guard: webtest.NamedUserGuard(auth.ViaSession)}, mount)
	b := webtest.NewBrowser(t, "http://"+server.Addr(), "en")
	b.Header.Set(webtest.UserHeader, "ada:member")
	return svc, b
}

// TestEmptyListSaysWhatItHides opens the inbox where it shows no message. The label of the link says where it leads.
func TestEmptyListSaysWhatItHides(t *testing.T) {
	svc, b := serveInbox(t)
	ctx := auth.With(context.Background(), &auth.Principal{User: auth.User{ID: "ada", Role: auth.Member}, Via: auth.ViaSession})
	box, err := svc.CreateMailbox(ctx, api.MailboxBody{LocalPart: "hello", Subdomain: "desk", MailDomain: "inbox.test"})
	must(t, err)
	for path, want := range map[string][]string{
		"/mail/inbox": {"Left out unless you ask for it: Mailboxes: Expired.",
			`href="/mail/inbox?show=expired" data-show-all>Show the expired ones<`},
		"/mail/inbox?show=expired": {"Hidden by the filter: Mailboxes: Expired.",
			`href="/mail/inbox" data-show-all>Show the active ones<`},
		"/mail/inbox?q=none-such": {"Hidden by the filter: Search: none-such · Mailboxes: Active.",
			`href="/mail/inbox" data-show-all>Clear filter<`},
		"/mail/inbox?q=none-such&show=expired": {"Hidden by the filter: Search: none-such · Mailboxes: Expired.",
			`href="/mail/inbox?show=expired" data-show-all>Clear filter<`},
		"/mail/inbox?q=none-such&mailbox=" + box.ID: {"Hidden by the filter: Search: none-such.",
			`href="/mail/inbox?mailbox=` + box.ID + `" data-show-all>Show all<`},
		"/mail/inbox?mailbox=" + box.ID: {"hello@desk.inbox.test", "!data-show-all"},
	} {
		page := b.Get(path)
		for _, text := range want {
			if unwanted, no := strings.CutPrefix(text, "!"); strings.Contains(page.Body, unwanted) == no {
				t.Errorf("%s: status %d, %q is wrong\n%s", path, page.Status, text, page.Body)
			}
		}
	}
}
