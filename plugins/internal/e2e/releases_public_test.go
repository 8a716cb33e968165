package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReleasesPublicPages publishes a repository in the browser, and reads it without an account.
func TestReleasesPublicPages(t *testing.T) {
	t.Parallel()
	hub := fillHub(t)
	hcl := strings.TrimSuffix(releasesHCL(hub, `"acme/engine", "acme/loom"`), "}\n") + "  public_pages = true\n}\n"
	c := newCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	const list, one = "/releases/acme/engine/releases", "/releases/acme/engine/releases/tag/v2.0.0-rc.1"
	evaluated(b, "the releases are read", `fetch("/releases/api/sync/releases", {method: "POST"}).then(r => r.status)`, 200)
	b.open("/releases/hosts/public")
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), "acme/engine"))
	b.press("form .btn.p", ".toast.ok")
	b.shows("acme/engine")
	b.walk("releases-publish", "/releases/hosts/public", source, wide, narrow)
	b.as(wide)
	evaluated(b, "the session ends", `fetch("/system/api/auth/session", {method: "DELETE"}).then(r => r.status)`, 204)
	b.walk("releases-public", list, source, wide, narrow)
	b.walk("releases-public-one", one, source, wide, narrow)
	b.as(wide)
	b.open(list)
	b.shows("Punched cards")
	evaluated(b, "nothing but the releases is shown",
		`document.querySelectorAll("nav a[href='/releases/feed'], form[action*='/releases/']").length`, 0)
	b.open(one)
	b.shows("What is new")
	evaluated(b, "what could run or load is gone",
		`document.querySelectorAll("article.notes :is(script, img, iframe, [style], [onerror])").length`, 0)
	b.expect("401")
	b.open("/releases/acme/loom/releases")
	b.shows("Sign in")
	b.open("/releases/acme/loom/releases/tag/v0.9.1")
	b.shows("Sign in")
}
