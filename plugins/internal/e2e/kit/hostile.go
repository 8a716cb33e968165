package kit

import (
	"strings"
)

// The texts that no page may break on: one without a place to wrap, markup, another direction of writing, and pictures.
var (
	UnbrokenText = strings.Repeat("Unbroken", 63)
	markup       = `<script>window.ran = true</script><img src=x onerror="window.ran = true">"'&amp;{{.}}${ran}`
	reversed     = "ملاحظة طويلة من اليمين إلى اليسار \u202e gnorw yaw eht \u202c \u200b" + strings.Repeat("👩🏽‍🚀", 40)
	HostileTexts = []string{UnbrokenText, markup, reversed, strings.Repeat("a note with many words ", 22)}
)

// HostilePage begins the names of pages with these texts.
const HostilePage = "hostile-"

// cutText names what stands outside of the window or over something else: the boxes of texts and controls that are wider than the
// one that holds them, and controls of which one lies over another.
const cutText = `(() => {
	const found = [], width = document.documentElement.clientWidth;
	const name = (e) => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40);
	const scrolls = (e) => e.closest("pre, .notes table, .log, .wrap, .vh, .skip, .find, svg, .picked, .diff, canvas, .chart");
	for (const e of document.querySelectorAll("main *, .side *")) {
		if (!e.checkVisibility() || scrolls(e) || e.closest("tr")?.closest("thead")) continue;
		const r = e.getBoundingClientRect();
		if (r.width > 0 && r.right > width + 1) found.push("outside of the window: " + name(e));
		if (e.matches("a, button, span, code, b, dd, p, li, label, h1, h2") && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" && getComputedStyle(e).textOverflow !== "ellipsis" && !e.closest(".who")) found.push("wider than its box: " + name(e));
	}
	// A dialog lies over its page.
	const top = document.querySelector("dialog:modal") ?? document.querySelector("main");
	const targets = [...top.querySelectorAll("a, button, summary, select, input:not([type=hidden])")].filter((e) => e.checkVisibility() && !scrolls(e) && !e.closest(".bulk, dialog:not([open])"));
	const boxes = targets.map((e) => [...e.getClientRects()]);
	const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
	targets.forEach((a, i) => targets.forEach((b, k) => {
		if (k > i && !a.contains(b) && !b.contains(a) && boxes[i].some((r) => boxes[k].some((s) => over(r, s)))) found.push(name(a) + " lies over " + name(b));
	}));
	return [...new Set(found)].slice(0, 5);
})()`

// InspectCut fails the test if anything on the page is cut or lies over something else.
func (b *Browser) InspectCut(what string) {
	b.T.Helper()
	found, err := Evaluate[[]string](b, cutText)
	if err != nil {
		b.T.Errorf("%s: %v", what, err)
	}
	for _, f := range found {
		b.T.Errorf("%s: %s", what, f)
	}
}
