package e2e

import (
	"strings"
	"testing"
)

// TestReleaseLanes has a release translated in the browser, and summarised without a script, and looks at its lanes in every look.
func TestReleaseLanes(t *testing.T) {
	t.Parallel()
	hub := fillHub(t)
	hcl := strings.Replace(releasesHCL(hub, `"acme/engine"`), "service \"releases\" {\n",
		"service \"releases\" {\n  translator = translator.demo\n", 1)
	c := newCore(t, hcl+"translator \"echo\" \"demo\" {\n  config { delay = \"500ms\" }\n}\n", "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	c.releaseIDs(t, c.cli("user", "create", "-email", "grace@example.com", "-name", "Grace"), 2)
	const release = "/releases/acme/engine/releases/tag/v2.0.0-rc.1"
	b.open(release)
	b.press(".feed-tabs a[href*='lane=translated']", ".feed-tabs a[href*='lane=translated'][aria-current]")
	b.shows("This release has not been translated yet.")
	b.walk("releases-lane-none", release+"?lane=translated", source, wide, narrow)
	b.as(wide)
	b.open(release + "?lane=translated")
	b.press("article.notes .btn", "article.notes [lang=zh-CN] h3")
	b.shows("〔zh-CN〕 What is new")
	evaluated(b, "code is as it was", `document.querySelector("article.notes pre").textContent.trim()`, `func main() { fmt.Println("hello") }`)
	evaluated(b, "nothing in the notes was run",
		`window.ran === undefined && document.querySelectorAll("article.notes :is(script, img, iframe, [style], [onerror])").length === 0`, true)
	b.press(".feed-tabs a[href*='lane=summary']", ".feed-tabs a[href*='lane=summary'][aria-current]")
	b.withoutScript(true)
	b.open(release + "?lane=summary")
	b.submit("article.notes .btn", "article.notes")
	eventually(t, browserLimit, "the release is summarised", func() bool {
		b.open(release + "?lane=summary")
		shown, err := evaluate[bool](b, `document.querySelector("article.notes [lang=zh-CN] li") !== null`)
		return err == nil && shown
	})
	b.withoutScript(false)
	b.open("/releases/feed")
	evaluated(b, "the feed leads to the translation",
		`document.querySelector(".item .excerpt a[lang=zh-CN]").textContent.trim() + " " + document.querySelector(".item .excerpt a").search`,
		"〔zh-CN〕 Second edition, first candidate ?lane=translated")
	b.open("/releases/settings")
	b.press("[name=auto_translate]", "[name=auto_translate]:checked")
	b.press("form[action$='/settings'] .btn.p", ".toast.ok")
	b.open("/releases/hosts/models")
	b.shows("Language models")
	evaluated(b, "each call is listed", `document.querySelectorAll("tr[id^=call-] .pill.ok").length`, 2)
	for name, path := range map[string]string{"feed": "/releases/feed", "translated": release + "?lane=translated",
		"summary": release + "?lane=summary", "models": "/releases/hosts/models", "settings": "/releases/settings"} {
		b.walk("releases-lane-"+name, path, source, wide, narrow)
	}
}
