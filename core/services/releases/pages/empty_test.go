package pages

import (
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
)

var must = testkit.Must

// serveFeed serves the pages of a release feed, which has one repository and no release, to a member, and returns her browser.
func serveFeed(t *testing.T) *webtest.Browser {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), auth.Migrations(), queue.Migrations(), service.Migrations())
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	users, err := auth.New(auth.Config{Store: st, Keyring: ring, Scopes: []string{"releases"}})
	must(t, err)
	bus := event.NewBus()
	t.Cleanup(bus.Close)
	q, err := queue.New(queue.Config{Store: st, Bus: bus})
	must(t, err)
	svc, err := service.New(t.Context(), service.Config{
		Store: st, Keyring: ring, Users: users, Queue: q, Logger: hclog.NewNullLogger(),
		Hosts:    []sync.Host{sync.NewHost("codehost.main", fake.NewCodeHost(""))},
		Settings: service.Settings{BaseURL: "/releases", CodeHosts: []string{"codehost.main"}, Repos: []string{"acme/engine"}, TimeZone: "UTC"},
	})
	must(t, err)
	t.Cleanup(svc.Close)
	section, err := Section(svc, "/releases")
	must(t, err)
	texts, err := ui.NewTexts(ui.OwnTexts(), section.Texts)
	must(t, err)
	assets, err := ui.NewAssets(section.Static)
	must(t, err)
	mount := httpd.Mount{Service: "releases", BaseURL: "/releases", Routes: section.Routes(ui.NewKit(ui.Config{Texts: texts, Assets: assets}))}
	server := webtest.Serve(t, httpd.Options{Guard: webtest.NamedUserGuard(auth.ViaSession)}, mount)
	member, _, err := users.Create(t.Context(), "ada@example.com", "Ada", auth.Member)
	must(t, err)
	b := webtest.NewBrowser(t, "http://"+server.Addr(), "en")
	b.Header.Set(webtest.UserHeader, member.ID+":member")
	return b
}

// TestEmptyListSaysWhatItHides opens the feed where it shows no release.
func TestEmptyListSaysWhatItHides(t *testing.T) {
	b := serveFeed(t)
	for path, filter := range map[string]string{
		"/releases/feed?q=none-such":                            "Find in releases: none-such",
		"/releases/releases?q=none-such":                        "Find in releases: none-such · Parts of the feed: Releases",
		"/releases/focus/repo/acme/engine":                      "Repository: acme/engine",
		"/releases/focus/repo/acme/engine/releases?q=none-such": "Find in releases: none-such · Repository: acme/engine · Parts of the feed: Releases",
		"/releases/focus/mine":                                  "Repository: Own repositories",
	} {
		page := b.Get(path)
		if !strings.Contains(page.Body, "Hidden by the filter: "+filter+".") ||
			!strings.Contains(page.Body, `href="/releases/feed" data-show-all`) {
			t.Errorf("%s does not say what it hides: status %d\n%s", path, page.Status, page.Body)
		}
	}
}
