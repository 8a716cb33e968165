package releases

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestReleaseLanes has a release translated in the browser, and summarised without a script, and looks at its lanes in every look.
func TestReleaseLanes(t *testing.T) {
	t.Parallel()
	hub := kit.FillHub(t)
	hcl := strings.Replace(kit.ReleasesHCL(hub, `"acme/engine"`), "service \"releases\" {\n",
		"service \"releases\" {\n  translator = translator.demo\n", 1)
	c := kit.NewCore(t, hcl+"translator \"echo\" \"demo\" {\n  config { delay = \"500ms\" }\n}\n", "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	c.ReleaseIDs(t, c.CLI("user", "create", "-email", "grace@example.com", "-name", "Grace"), 2)
	const release = "/releases/acme/engine/releases/tag/v2.0.0-rc.1"
	b.Open(release)
	b.Press(".feed-tabs a[href*='lane=translated']", ".feed-tabs a[href*='lane=translated'][aria-current]")
	b.Shows("This release has not been translated yet.")
	b.Walk("releases-lane-none", release+"?lane=translated", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	b.Open(release + "?lane=translated")
	b.Press("article.notes .btn", "article.notes [lang=zh-CN] h3")
	b.Shows("〔zh-CN〕 What is new")
	kit.RequireValue(b, "code is as it was", `document.querySelector("article.notes pre").textContent.trim()`, `func main() { fmt.Println("hello") }`)
	kit.RequireValue(b, "nothing in the notes was run",
		`window.ran === undefined && document.querySelectorAll("article.notes :is(script, img, iframe, [style], [onerror])").length === 0`, true)
	b.Press(".feed-tabs a[href*='lane=summary']", ".feed-tabs a[href*='lane=summary'][aria-current]")
	b.WithoutScript(true)
	b.Open(release + "?lane=summary")
	b.Submit("article.notes .btn", "article.notes")
	kit.Eventually(t, kit.BrowserLimit, "the release is summarised", func() bool {
		b.Open(release + "?lane=summary")
		shown, err := kit.Evaluate[bool](b, `document.querySelector("article.notes [lang=zh-CN] li") !== null`)
		return err == nil && shown
	})
	b.WithoutScript(false)
	b.Open("/releases/feed")
	kit.RequireValue(b, "the feed leads to the translation",
		`document.querySelector(".item .excerpt a[lang=zh-CN]").textContent.trim() + " " + document.querySelector(".item .excerpt a").search`,
		"〔zh-CN〕 Second edition, first candidate ?lane=translated")
	b.Open("/releases/settings")
	b.Press("[name=auto_translate]", "[name=auto_translate]:checked")
	b.Press("form[action$='/settings'] .btn.p", ".toast.ok")
	b.Open("/releases/hosts/models")
	b.Shows("Language models")
	kit.RequireValue(b, "each call is listed", `document.querySelectorAll("tr[id^=call-] .pill.ok").length`, 2)
	for name, path := range map[string]string{"feed": "/releases/feed", "translated": release + "?lane=translated",
		"summary": release + "?lane=summary", "models": "/releases/hosts/models", "settings": "/releases/settings"} {
		b.Walk("releases-lane-"+name, path, source, kit.Wide, kit.Narrow)
	}
}
