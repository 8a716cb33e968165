package releases

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestReleasesPublicPages publishes a repository in the browser, and reads it without an account.
func TestReleasesPublicPages(t *testing.T) {
	t.Parallel()
	hub := kit.FillHub(t)
	hcl := strings.TrimSuffix(kit.ReleasesHCL(hub, `"acme/engine", "acme/loom"`), "}\n") + "  public_pages = true\n}\n"
	c := kit.NewCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	const list, one = "/releases/acme/engine/releases", "/releases/acme/engine/releases/tag/v2.0.0-rc.1"
	kit.RequireValue(b, "the releases are read", `fetch("/releases/api/sync/releases", {method: "POST"}).then(r => r.status)`, 200)
	b.Open("/releases/hosts/public")
	b.Do(chromedp.SendKeys(chromedp.CSS("#name"), "acme/engine"))
	b.Press("form .btn.p", ".toast.ok")
	b.Shows("acme/engine")
	b.Walk("releases-publish", "/releases/hosts/public", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	kit.RequireValue(b, "the session ends", `fetch("/system/api/auth/session", {method: "DELETE"}).then(r => r.status)`, 204)
	b.Walk("releases-public", list, source, kit.Wide, kit.Narrow)
	b.Walk("releases-public-one", one, source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	b.Open(list)
	b.Shows("Punched cards")
	kit.RequireValue(b, "nothing but the releases is shown",
		`document.querySelectorAll("nav a[href='/releases/feed'], form[action*='/releases/']").length`, 0)
	b.Open(one)
	b.Shows("What is new")
	kit.RequireValue(b, "what could run or load is gone",
		`document.querySelectorAll("article.notes :is(script, img, iframe, [style], [onerror])").length`, 0)
	b.Expect("401")
	b.Open("/releases/acme/loom/releases")
	b.Shows("Sign in")
	b.Open("/releases/acme/loom/releases/tag/v0.9.1")
	b.Shows("Sign in")
}
