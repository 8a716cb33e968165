package kit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// RequireValue fails the test unless a script says want.
func RequireValue[T comparable](b *Browser, what, script string, want T) {
	b.T.Helper()
	if got, err := Evaluate[T](b, script); err != nil || got != want {
		b.T.Errorf("%s: %v, want %v (%v), at %s", what, got, want, err, b.Where())
	}
}

// Look is a way in which a page is looked at.
type Look struct {
	Lang, Theme string
	Width       int64
}

// listLooks returns all eight ways in which a page can be looked at.
func listLooks() (out []Look) {
	for _, width := range []int64{1280, 390} {
		for _, theme := range []string{"light", "dark"} {
			for _, lang := range []string{"en", "zh"} {
				out = append(out, Look{lang, theme, width})
			}
		}
	}
	return out
}

// pictureName returns the name of the picture of a page that is looked at so.
func (l Look) pictureName(page string) string {
	return fmt.Sprintf("%s-%d-%s-%s", page, l.Width, l.Theme, l.Lang)
}

// As sets the size of the window and the choices that the console keeps in cookies.
func (b *Browser) As(l Look) {
	b.T.Helper()
	b.Do(chromedp.EmulateViewport(l.Width, 900))
	for name, value := range map[string]string{"patchbay_lang": l.Lang, "patchbay_theme": l.Theme} {
		if _, err := chromedp.Call(b.Ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: b.Base}); err != nil {
			b.T.Fatal(err)
		}
	}
}

// Visit opens a page by open, checks it, with axe unless that is empty, and takes a picture.
func (b *Browser) Visit(l Look, page string, open func(), axe string) {
	b.T.Helper()
	open()
	what := l.pictureName(page)
	RequireValue(b, what+" is shown", `document.querySelector("#main")?.checkVisibility() ?? false`, true)
	b.Inspect(axe, what)
	if l.Lang == "zh" && !strings.HasPrefix(page, HostilePage) && !strings.HasPrefix(page, ShowcasePage) {
		b.inChinese(what)
	}
	b.Picture(what)
}

// ShowcasePage begins the names of pages with what people have written in English.
const ShowcasePage = "full-"

// Charted waits until every chart of the page is drawn.
func (b *Browser) Charted() {
	b.T.Helper()
	Eventually(b.T, 10*time.Second, "the charts are drawn", func() bool {
		drawn, err := Evaluate[bool](b, `[...document.querySelectorAll("[data-chart]")].every(c => c.querySelector("canvas"))`)
		return err == nil && drawn
	})
}

// The looks of a page that is walked, which have every pair of a size, a theme and a language.
var (
	Wide          = Look{"en", "light", 1280}
	Narrow        = Look{"en", "dark", 390}
	wideChinese   = Look{"zh", "dark", 1280}
	narrowChinese = Look{"zh", "light", 390}
)

// Walk looks at the page with a path in four ways: see WalkOpened.
func (b *Browser) Walk(name, path, axe string, inspected ...Look) {
	b.T.Helper()
	b.WalkOpened(name, func() { b.Open(path) }, axe, inspected...)
}

// WalkOpened looks at a page in four ways. Open opens it, once in each language: the size and the theme change in place. Axe runs in the
// looks that are given, since it finds the same in both languages. Pictures are of the looks in which the page is opened: in all of them
// if PicturesEnv is "all".
func (b *Browser) WalkOpened(name string, open func(), axe string, inspected ...Look) {
	b.T.Helper()
	if os.Getenv(PicturesEnv) == "all" {
		for _, l := range listLooks() {
			b.As(l)
			b.Visit(l, name, open, axe)
		}
		return
	}
	for _, pair := range [][2]Look{{Wide, Narrow}, {wideChinese, narrowChinese}} {
		for i, l := range pair {
			source := ""
			if slices.Contains(inspected, l) {
				source = axe
			}
			if i == 0 {
				b.As(l)
				b.Visit(l, name, open, source)
			} else {
				b.changeView(l)
				b.Inspect(source, l.pictureName(name))
			}
			b.InspectCut(l.pictureName(name))
		}
	}
}

// changeView gives the page that is open another size and theme, with the colours that it has in the end.
func (b *Browser) changeView(l Look) {
	b.T.Helper()
	b.As(l)
	// Charts are drawn anew in the frame after that in which they have another size.
	RequireValue(b, "draw the page", `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`, true)
	RequireValue(b, "change the theme to "+l.Theme,
		fmt.Sprintf(`(document.documentElement.dataset.theme = %q) && document.getAnimations().forEach((a) => a.finish()), getComputedStyle(document.documentElement).colorScheme`, l.Theme), l.Theme)
}
