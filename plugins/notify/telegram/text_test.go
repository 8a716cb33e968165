package telegram

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		`<b>a</b> <strong>b</strong>`:                          `<b>a</b> <b>b</b>`,
		`<i>a<b>b</i>c</b>`:                                    `<i>a<b>b</b></i>c`,
		`<p>a</p><p>b</p>`:                                     "a\n\nb",
		"a<br>b<br/>c\n d":                                     "a\nb\nc d",
		`<ul><li>a</li><li>b <ul><li>c</li></ul></li></ul>`:    "• a\n• b\n\n• c",
		`<a href="https://e.com/?a=1&amp;b=2">x</a>`:           `<a href="https://e.com/?a=1&amp;b=2">x</a>`,
		`<a href="javascript:alert(1)">x</a>`:                  `x`,
		`<a href="/queue/1">x</a>`:                             `x`,
		`<img src="https://e.com/x.png" alt="y">z`:             `z`,
		`<script>alert(1)</script>a<style>b{}</style>`:         `a`,
		`<pre>a  b` + "\n" + `<code>c</code></pre>d`:           "<pre>a  b\n<code>c</code></pre>\nd",
		`<code>a<b>b</b></code>`:                               `<code>ab</code>`,
		`<table><tr><td>a</td><td>b</td></tr></table>`:         `a b`,
		`<blockquote>a<blockquote>b</blockquote></blockquote>`: "<blockquote>a\nb</blockquote>",
		`a &lt; b &amp;&nbsp;c`:                                "a &lt; b &amp;\u00a0c",
		`<u>open`:                                              `<u>open</u>`,
		`</b>x</i>`:                                            `x`,
		`<svg><b>x</b></svg>y`:                                 `y`,
	} {
		got := sanitizeHTML(in)
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
		if _, _, err := telegramtest.ParseHTML(got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// Whatever HTML comes in, the API understands what goes out, and its length is what we think it is.
func TestSanitizedIsUnderstood(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"<b>", "</b>", "<i>", "</i>", "<a href='https://e.com'>", "</a>", "<pre>", "</pre>", "<code>", "</code>", "<p>", "</p>", "<li>", "<br>",
		"<blockquote>", "</blockquote>", "<script>", "</script>", "&amp;", "&lt;b&gt;", "&#128640;", "字", "🚀", "x", " ", "\n", "<", ">",
		"&", `"`, "<!--", "-->", "<x:y z=1>",
	})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		out := sanitizeHTML(in)
		text, _, err := telegramtest.ParseHTML(out)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", in, out, err)
		}
		if got, want := visibleUnits(out), telegramtest.Units(text); got != want {
			t.Fatalf("%q is %d units long, not %d", out, want, got)
		}
	})
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("ab 字🚀👩\u200d\n"))).Draw(t, "text")
		limit := rapid.IntRange(20, 60).Draw(t, "limit")
		out := cutText(in, limit, ellipsis)
		if countUnits(out) > limit || !utf8.ValidString(out) || strings.Contains(out, "\ufffd") {
			t.Fatalf("%q cut at %d: %q of %d units", in, limit, out, countUnits(out))
		}
		if countUnits(in) <= limit && out != in {
			t.Fatalf("%q fits and became %q", in, out)
		}
	})
}
