package markdown

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const outward = `" rel="nofollow noreferrer noopener" target="_blank">`

// TestNotesAsTheHostShowsThem renders what people write in notes of releases.
func TestNotesAsTheHostShowsThem(t *testing.T) {
	r := NewRenderer("/releases")
	const host = "https://codehost.example/git"
	page := NewPage(host+"/acme/engine/releases/tag/v1.2.0", "acme/engine")
	link := func(address, label string) string { return `<a href="` + address + outward + label + `</a>` }
	commit := "0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct{ name, source, want string }{
		{"an issue", "Fixes #12.", "Fixes " + link(host+"/acme/engine/issues/12", "#12") + "."},
		{"an issue in brackets", "(#12, #13)", "(" + link(host+"/acme/engine/issues/12", "#12") + ", " +
			link(host+"/acme/engine/issues/13", "#13") + ")"},
		{"an issue elsewhere", "acme/loom#7 too", link(host+"/acme/loom/issues/7", "acme/loom#7") + " too"},
		{"a person", "by @ada-lovelace in", "by " + link(host+"/ada-lovelace", "@ada-lovelace") + " in"},
		{"the end of a sentence", "Thanks @ada.", "Thanks " + link(host+"/ada", "@ada") + "."},
		{"a commit", "see " + commit, "see " + link(host+"/acme/engine/commit/"+commit, "0123456")},
		{"a short commit", "see 01ab23f", "see " + link(host+"/acme/engine/commit/01ab23f", "01ab23f")},
		{"a commit elsewhere", "acme/loom@01ab23f", link(host+"/acme/loom/commit/01ab23f", "acme/loom@01ab23f")},
		{"the address of an issue", host + "/acme/engine/pull/12", link(host+"/acme/engine/pull/12", "#12")},
		{"the address of a comparison", host + "/acme/engine/compare/v1.1.0...v1.2.0",
			link(host+"/acme/engine/compare/v1.1.0...v1.2.0", "v1.1.0...v1.2.0")},
		{"the address of an issue elsewhere", host + "/acme/loom/issues/3", link(host+"/acme/loom/issues/3", "acme/loom#3")},
		{"a relative link", "[guide](docs/guide.md)", link(host+"/acme/engine/releases/tag/docs/guide.md", "guide")},
		{"a link from the root", "[guide](/acme/engine/wiki)", link("https://codehost.example/acme/engine/wiki", "guide")},
		{"a relative image", "![shot](../shot.png)", link(host+"/acme/engine/releases/shot.png", "shot")},
		{"relative HTML", `<a href="x?a=1&amp;b=2">x</a>`, `<a href="` + host + "/acme/engine/releases/tag/x?a=1&amp;b=2" + outward + "x</a>"},
		{"emoji", ":rocket: Features", "<p>🚀 Features</p>"},
		{"an alert", "> [!WARNING]\n> Back up *first*.",
			`<blockquote class="alert alert-warning"><p class="alert-title">Warning</p>` + "\n<p>Back up <em>first</em>.</p>"},
		{"an alert of its own paragraph", "> [!note]\n>\n> Text", `<p class="alert-title">Note</p>` + "\n<p>Text</p>"},
		{"a footnote", "Text[^1].\n\n[^1]: More #5.", `<li id="n`},
		{"a footnote's text", "Text[^1].\n\n[^1]: More #5.", "<p>More " + link(host+"/acme/engine/issues/5", "#5")},
	} {
		if got := r.RenderNotes(tt.source, page); !strings.Contains(strings.ReplaceAll(got, "&#x1f680;", "🚀"), tt.want) {
			t.Errorf("%s: %q\ngives %q\nwithout %q", tt.name, tt.source, got, tt.want)
		}
	}
	for _, source := range []string{
		"color #fff", "C# 12", "a#12b", "&#12;", "`#12 @ada`", "ada@example.com", "@types/node 1.2", "1234567", "deadbeef", "v1.2.3#4",
		"[#12](https://example.com)", "https://example.com/#12", "https://example.com/@ada",
		"```\n#12 @ada\n```", "a/b/c#12", "2026-11-27", `<a href="https://example.com">see #12 by @ada</a>`, "<code>#12</code>",
		"<KBD>@ada</KBD>", "file-01ab23f.tar.gz",
	} {
		if got := r.RenderNotes(source, page); strings.Contains(got, `href="`+host) {
			t.Errorf("%q\ngives %q, and names nothing", source, got)
		}
	}
	for _, unknown := range []Page{NewPage("", "acme/engine"), NewPage("javascript:alert(1)", "x/y"),
		NewPage("https://example.com/feed/1", "acme/engine"), {}} {
		if got := r.RenderNotes("Fixes #12 by @ada", unknown); strings.Contains(got, "<a") {
			t.Errorf("on a page that is not a repository's: %q", got)
		}
	}
}

// TestFootnotesOfSeveralNotes: the footnotes of releases on one page do not lead to each other.
func TestFootnotesOfSeveralNotes(t *testing.T) {
	r, page := NewRenderer("/releases"), NewPage("https://codehost.example/acme/engine/releases/tag/v1", "acme/engine")
	idOf := func(source string) string {
		got := r.RenderNotes(source, page)
		_, rest, _ := strings.Cut(got, `<li id="`)
		id, _, _ := strings.Cut(rest, `"`)
		if id == "" || !strings.Contains(got, `href="#`+id+`"`) {
			t.Errorf("nothing leads to %q in %q", id, got)
		}
		return id
	}
	if a, b := idOf("A[^1]\n\n[^1]: one"), idOf("B[^1]\n\n[^1]: two"); a == b {
		t.Errorf("both footnotes are %s", a)
	}
}

// TestHostileNotesAreBounded renders notes of 1 MiB that would take many minutes if the work grew with the square of their length.
func TestHostileNotesAreBounded(t *testing.T) {
	r, page := NewRenderer("/releases"), NewPage("https://codehost.example/acme/engine/releases/tag/v1", "acme/engine")
	var footnotes strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&footnotes, "[^a%d] ", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&footnotes, "\n\n[^a%d]: x", i)
	}
	if got := r.RenderNotes(footnotes.String(), page); strings.Contains(got, "<sup") {
		t.Error("the footnotes are shown")
	}
	got := r.RenderNotes(strings.Repeat("#1 @a ", 1<<20/6), page)
	if n := strings.Count(got, "<a "); n != maxNames {
		t.Errorf("%d names are links, want %d", n, maxNames)
	}
}

// BenchmarkNotes renders notes of 1 MiB.
func BenchmarkNotes(b *testing.B) {
	r, page := NewRenderer("/releases"), NewPage("https://codehost.example/acme/engine/releases/tag/v1", "acme/engine")
	line := "* feat: add [a thing](docs/a.md) for **people** by @ada in https://codehost.example/acme/engine/pull/12 (#13), see 01ab23f :rocket:\n"
	source := strings.Repeat(line, 1<<20/len(line))
	for b.Loop() {
		start := time.Now()
		r.RenderNotes(source, page)
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/note")
	}
}
