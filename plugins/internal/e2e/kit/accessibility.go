package kit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// ReadAxe returns the source of axe-core, the checker of accessibility.
func ReadAxe(t testing.TB) string {
	t.Helper()
	_, err := exec.LookPath("npm")
	testkit.Require(t, "npm", err == nil, "install Node 20 or newer with npm")
	source, err := installAxe()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// installAxe has npm install axe-core, once for all tests, and returns its source.
var installAxe = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "patchbay-axe")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(Root(), "plugins", "internal", "e2e", "kit", "axe"))); err != nil {
		return "", err
	}
	if err := testkit.InstallPackages(dir); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(raw), err
})

// moves is how the finding begins that a page moves while it is loaded.
const moves = "what stands on the page moves while it is loaded"

// Inspect fails the test if the page is wider than the window, lacks a text, moves while it is loaded, or has a serious finding
// of axe-core, whose source may be empty: it takes most of the time. A page that moves is loaded once more: on a busy machine it
// may come in pieces, of which each gives the columns of a table another width.
func (b *Browser) Inspect(source, what string) {
	b.T.Helper()
	found := b.inspectPage(source, what)
	if b.opened != "" && slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, moves) }) {
		b.Open(b.opened)
		b.Charted()
		found = b.inspectPage(source, what)
	}
	for _, f := range found {
		b.T.Errorf("%s: %s", what, f)
	}
}

// inspectPage returns what is wrong with the page.
func (b *Browser) inspectPage(source, what string) (found []string) {
	b.T.Helper()
	script := source + `;(async () => {
		const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
		const found = wide > 0 ? ["the page is " + wide + " pixels wider than the window"] : [];
		// A live part may move the page at any time, and a dialog that a page comes with moves over it.
		const moved = document.querySelector("[data-live], dialog:modal") ? 0 : await new Promise((done) => {
			const watch = new PerformanceObserver((list) => done(list.getEntries().reduce((sum, shift) => sum + (shift.hadRecentInput ? 0 : shift.value), 0)));
			watch.observe({ type: "layout-shift", buffered: true });
			setTimeout(() => { watch.disconnect(); done(0); }, 50);
		});
		if (/[⟦⟧]/.test(document.documentElement.outerHTML)) found.push("a text is missing");
		// A paragraph ends before what it cannot hold, such as a list or a form; its end tag makes an empty one then.
		for (const p of document.querySelectorAll("p:empty"))
			if (!p.attributes.length) found.push("a paragraph ended before " + (p.previousElementSibling ?? p.parentElement).outerHTML.slice(0, 200));
		if (moved > 0.01) found.push("` + moves + `, by " + moved);
		if (!` + strconv.FormatBool(source != "") + `) return found;
		// Rows after the tenth are like those before, and would take most of the time.
		for (const e of document.querySelectorAll("tbody > :nth-child(n+11), main li:nth-child(n+11), main article:nth-child(n+11), .message:nth-child(n+11), select > :nth-child(n+11)")) e.dataset.repeated = "";
		// Frames are sandboxed: no script runs in them, not axe's either.
		const r = await axe.run({exclude: [["[data-repeated]"]]}, {resultTypes: ["violations"], iframes: false});
		return found.concat(r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
			.map(v => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.any.map(a => a.message).join("; ")).join(" | ")));
	})()`
	found, err := Evaluate[[]string](b, script)
	if err != nil {
		b.T.Errorf("%s: inspect the page: %v", what, err)
	}
	return found
}

// PicturesEnv is the variable that asks for pictures of all pages, in all looks if it is "all": see looks and picture.
const PicturesEnv = "PATCHBAY_TEST_PICTURES"

// Picture writes a picture of the whole page into bin/screenshots, if pictures are asked for.
func (b *Browser) Picture(name string) {
	b.T.Helper()
	if os.Getenv(PicturesEnv) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.Ctx, BrowserLimit)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.T.Errorf("picture of %s: %v", name, err)
		return
	}
	dir := filepath.Join(Root(), "bin", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.T.Fatal(err)
	}
}
