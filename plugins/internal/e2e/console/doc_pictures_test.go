package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// docPicture is a picture of the documents: its file without .png, and the page that it shows.
type docPicture struct{ name, path, theme string }

// docPictures are the pictures of pages in core/docs/pictures.
var docPictures = []docPicture{
	{"home", "/system", "light"},
	{"home-dark", "/system", "dark"},
	{"search", "/search/overview", "light"},
	{"mail", "{message}", "light"},
	{"releases", "/releases/feed", "light"},
	{"containers", "/stacks", "light"},
	{"plugins", "/system/plugins", "light"},
	{"documents", "/system/docs/get-started", "light"},
}

// The size of the pictures in pixels, and the most that a file of one may have in bytes.
const (
	docPictureWidth, docPictureHeight = 1280, 800
	docPictureLimit                   = 150_000
)

// drawnElsewhere are pictures that other tests draw: see make doc-pictures.
var drawnElsewhere = []string{"dashboard", "trace"}

// pictureFolder is where the pictures of the documents lie.
func pictureFolder() string { return filepath.Join(kit.Root(), "core", "docs", "pictures") }

// TestDocPictures opens each page that a picture of the documents shows, in a core with demonstration data. It draws the pictures anew if
// they are asked for; otherwise it names those whose page has another markup or other styles than when they were drawn.
func TestDocPictures(t *testing.T) {
	t.Parallel()
	c, tokens := startDemo(t)
	b := kit.Browse(t, c)
	message := fillDemoMail(b, c, tokens)
	drawing := os.Getenv(kit.PicturesEnv) != ""
	digests := map[string]string{}
	for _, p := range docPictures {
		fillDemo(t, c, fillDemoStacks)
		openPicture(b, p, message)
		digests[p.name] = digestPage(b)
		if drawing {
			writePicture(b, p.name)
		}
	}
	file := filepath.Join(pictureFolder(), "digests.json")
	if drawing {
		raw, err := json.MarshalIndent(digests, "", "  ")
		kit.Must(t, err)
		kit.Must(t, os.WriteFile(file, append(raw, '\n'), 0o644))
	}
	raw, err := os.ReadFile(file)
	kit.Must(t, err)
	stored := map[string]string{}
	kit.Must(t, json.Unmarshal(raw, &stored))
	comparePictures(t, digests, stored)
}

// comparePictures logs which pictures are older than their pages. A picture or digest that is missing, or one too many, is a failure.
func comparePictures(t *testing.T, digests, stored map[string]string) {
	t.Helper()
	older := []string{}
	for _, p := range docPictures {
		info, err := os.Stat(filepath.Join(pictureFolder(), p.name+".png"))
		switch {
		case err != nil:
			t.Errorf("the picture %s is missing: run make doc-pictures", p.name)
		case info.Size() > docPictureLimit:
			t.Errorf("the picture %s has %d bytes, more than %d", p.name, info.Size(), docPictureLimit)
		case stored[p.name] == "":
			t.Errorf("digests.json has no %s: run make doc-pictures", p.name)
		case stored[p.name] != digests[p.name]:
			older = append(older, p.name)
		}
	}
	if len(older) > 0 {
		t.Logf("warning: %d pictures of the documents are older than their pages: run make doc-pictures (%s)", len(older),
			strings.Join(older, ", "))
	}
	files, err := filepath.Glob(filepath.Join(pictureFolder(), "*.png"))
	kit.Must(t, err)
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".png")
		if digests[name] == "" && !slices.Contains(drawnElsewhere, name) {
			t.Errorf("no test draws the picture %s", name)
		}
	}
}

// openPicture opens the page of a picture, and waits for what its script draws.
func openPicture(b *kit.Browser, p docPicture, message string) {
	b.T.Helper()
	b.As(kit.Look{Lang: "en", Theme: p.theme, Width: docPictureWidth})
	b.Do(chromedp.EmulateViewport(docPictureWidth, docPictureHeight))
	b.Open(strings.Replace(p.path, "{message}", message, 1))
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
	kit.RequireValue(b, p.name+" is shown", `document.querySelector("#main")?.checkVisibility() ?? false`, true)
	waitUntilTrue(b, p.name+" has its charts and frames", `[...document.querySelectorAll(".chart:not(.none)")].every((c) => c.querySelector("canvas"))`)
}

// digestPage returns the digest of the page that is open: of its markup as the server sends it and of its styles, without what differs
// from run to run. Text is compared without figures; code and times, and the text of a document, are not.
func digestPage(b *kit.Browser) string {
	b.T.Helper()
	const script = `(async () => {
		const page = new DOMParser().parseFromString(await (await fetch(location.href, {headers: {Accept: "text/html"}})).text(), "text/html");
		const styles = [];
		for (const link of page.querySelectorAll("link[rel=stylesheet]")) styles.push(await (await fetch(link.getAttribute("href"))).text());
		for (const style of page.querySelectorAll("style")) styles.push(style.textContent);
		for (const e of page.querySelectorAll("script, style, template, link, meta, svg > *, .count")) e.remove();
		for (const e of page.querySelectorAll(".docs-text, .docs-toc, tbody td, code, pre, time, .m, b, .sub")) e.textContent = "";
		const kept = ["class", "type", "role", "aria-current", "open", "hidden", "disabled"];
		const words = (text) => text.replace(/\s+/g, " ").trim().replace(/\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,}\b/g, "0").replace(/[0-9]+([.,:][0-9]+)*/g, "0")
			.replace(/(^|\s)(in )?(0|a|an) ?(ns|µs|us|ms|s|m|h|d|B|kB|KB|MB|GB|KiB|MiB|GiB|seconds?|minutes?|hours?|days?|weeks?)( ago)?\b/g, " 0").replace(/\b(just )?now\b/g, "0");
		const write = (node) => {
			if (node.nodeType === Node.TEXT_NODE) return words(node.textContent);
			if (node.nodeType !== Node.ELEMENT_NODE) return "";
			const attributes = kept.filter((n) => node.hasAttribute(n)).map((n) => " " + n + "=" + words(node.getAttribute(n)));
			// Of rows that are alike one is enough.
			const inner = [...node.childNodes].map(write).filter((text, i, all) => text !== "" && text !== all[i - 1]);
			return "<" + node.localName + attributes.join("") + ">" + inner.join("\n") + "</>";
		};
		return write(page.documentElement) + "\n" + styles.join("\n");
	})()`
	text, err := kit.Evaluate[string](b, script)
	kit.Must(b.T, err)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// writePicture writes a picture of the window for the documents, with at most 256 colours.
func writePicture(b *kit.Browser, name string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, kit.BrowserLimit)
	defer cancel()
	raw, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	kit.Must(b.T, err)
	kit.Must(b.T, os.MkdirAll(pictureFolder(), 0o755))
	kit.Must(b.T, os.WriteFile(filepath.Join(pictureFolder(), name+".png"), kit.PackPicture(b.T, raw), 0o644))
}
