package prose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate/prose"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func TestMasks(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"Use `a b` and ``c ` d`` now", "Use ⟦1⟧ and ⟦2⟧ now"},
		{"an open ` tick and `code`", "an open ⟦1⟧code`"},
		{"see [the guide](https://x.example/a_(b) \"T\").", "see [the guide]⟦1⟧."},
		{"see [the guide][ref]\n\n[ref]: https://x.example 'T'\n", "see [the guide]⟦1⟧\n\n⟦2⟧\n"},
		{"![a shot](a.png) here", "⟦1⟧ here"},
		{"go to https://x.example/a?b=c#d, or (https://y.example/z).", "go to ⟦1⟧, or (⟦2⟧)."},
		{"见https://x.example/a。后", "见⟦1⟧。后"},
		{"thanks @ada-l, @team/core; mail a@b.example", "thanks ⟦1⟧, ⟦2⟧; mail ⟦3⟧"},
		{"fixes #12, GH-13 and owner/re.po#14, not a#15 or &#39;", "fixes ⟦1⟧, ⟦2⟧ and ⟦3⟧, not a#15 or &#39;"},
		{"see docs.example.com/guide?x=1, example.org and node.js. Then", "see ⟦1⟧, ⟦2⟧ and ⟦3⟧. Then"},
		{"write to Ada <ada.l+x@mail.example.com>.", "write to Ada ⟦1⟧."},
		{"edit /etc/patchbay/plugin.hcl, ./run.sh, ~/.config/x and core/docs/a.md; and/or 1/2", "edit ⟦1⟧, ⟦2⟧, ⟦3⟧ and ⟦4⟧; and/or 1/2"},
		{"in C:\\Users\\ada\\x.ini now", "in ⟦1⟧ now"},
		{"fixes CVE-2026-12345 and GHSA-ab12-cd34-ef56", "fixes ⟦1⟧ and ⟦2⟧"},
		{"> [!WARNING]\n> Back up", "> ⟦1⟧\n> Back up"},
		{":rocket: New :+1: at 10:30:45", "⟦1⟧ New ⟦2⟧ at 10:30:45"},
		{"a note[^1]\n\n[^1]: more", "a note⟦1⟧\n\n⟦2⟧ more"},
		{"no domain: e.g. this, v1.2.3, 3.14, etc. End.Of", "no domain: e.g. this, v1.2.3, 3.14, etc. End.Of"},
		{"in 1a2b3c4d5e6f and deadbeef and 1234567", "in ⟦1⟧ and deadbeef and 1234567"},
		{"press <kbd>X</kbd> <!-- no\nword --> <https://x.example>", "press ⟦1⟧X⟦2⟧ ⟦3⟧ ⟦4⟧"},
		{"a < b and c > d", "a < b and c > d"},
		{"a ⟦1⟧ of its own", "a ⟦1⟧ of its own"},
		{"before\n\n```go\nx := 1 // @no\n\ny()\n```\n\nafter", "before\n\n```go\n⟦1⟧\n```\n\nafter"},
		{"- item\n\n  ~~~\n  a\n  b\n  ~~~\n- next", "- item\n\n  ~~~\n  ⟦1⟧\n  ~~~\n- next"},
		{"> ```\n> q\n> ```", "> ```\n> ⟦1⟧\n> ```"},
		{"text\n\n    code a\n    code b\n\nend", "text\n\n    ⟦1⟧\n\nend"},
		{"<details>\n<summary>S</summary>\n\ntext\n\n</details>", "⟦1⟧\n\ntext\n\n⟦2⟧"},
		{"```\nnever closed\n", "```\n⟦1⟧\n"},
		{"```\n```\ntext `a`", "⟦1⟧\ntext ⟦2⟧"},
	} {
		m := prose.MaskMarkdown(tt.source)
		if m.Text != tt.want {
			t.Errorf("%q:\n got %q\nwant %q", tt.source, m.Text, tt.want)
		}
		if got := m.Restore(m.Text); got != tt.source {
			t.Errorf("%q: restored is %q", tt.source, got)
		}
	}
	if m := prose.MaskText("v1 `x` #3"); m.Text != "v1 ⟦1⟧ ⟦2⟧" {
		t.Errorf("%q", m.Text)
	}
}

func TestMasksAreCounted(t *testing.T) {
	for answer, want := range map[string]string{
		"⟦2⟧ 用 ⟦1⟧": "", "⟦1⟧ ⟦1⟧ ⟦2⟧": "⟦1⟧ stands 1 times in the text and 2 times in the answer", "⟦1⟧ ⟦2⟧ ⟦3⟧": "⟦3⟧ is not in the text",
		"⟦2⟧": "⟦1⟧ stands 1 times in the text and 0 times in the answer",
	} {
		if got := prose.CheckMasks("use ⟦1⟧ of ⟦2⟧", answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}

func TestStructures(t *testing.T) {
	source := "# T\n\nSee [a](https://x.example) and `code`.\n\n- one\n- two\n  1. three\n\n| a | b |\n|---|---|\n| c | d |\n\n```go\nf()\n```\n\n> q\n\n- [x] done\n"
	for name, tt := range map[string]struct {
		from, to string
		same     bool
	}{
		"words":                  {"See", "见", true},
		"order within a line":    {"See [a](https://x.example) and `code`", "`code` 和 [甲](https://x.example)", true},
		"blank lines in a list":  {"- one\n- two", "- one\n\n- two", true},
		"the level of a heading": {"# T", "## T", false},
		"an item less":           {"- one\n", "", false},
		"an item more":           {"- one\n", "- one\n- more\n", false},
		"code":                   {"f()", "g()", false},
		"the language of code":   {"```go", "```js", false},
		"a code span":            {"`code`", "`代码`", false},
		"a code span is words":   {"`code`", "代码", false},
		"the target of a link":   {"x.example", "y.example", false},
		"a cell":                 {"| c | d |", "| c |  d | e |\n| f | g |", false},
		"a quote":                {"> q", "q", false},
		"a box":                  {"[x]", "[ ]", false},
		"a link more":            {"See", "[见](https://evil.example)", false},
		"HTML":                   {"See", "<img src=x onerror=alert(1)> See", false},
	} {
		if got := prose.Compare(source, strings.Replace(source, tt.from, tt.to, 1)); (got == "") != tt.same {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// longBody returns notes with headings, fences, tables and nested lists.
func longBody(sections int) string {
	var b strings.Builder
	for i := range sections {
		fmt.Fprintf(&b, "## Section %d\n\nPlain words with `code %d`, [a link](https://x.example/%d) and #%d by @ada.\nA second line.\n\n", i, i,
			i, i)
		fmt.Fprintf(&b, "```sh\n# comment %d\n\n- not an item\nmake install\n```\n\n- first\n  - nested\n\n    ```go\n    f(%d)\n\n    g()\n    ```\n- second\n\n| h1 | h2 |\n|----|----|\n| c%d | d |\n\n", i, i, i)
	}
	return b.String()
}

func TestLongBodiesAreSplitOutsideOfCode(t *testing.T) {
	for _, limit := range []int64{20, 60, 200, 1000} {
		source := longBody(30)
		m := prose.MaskMarkdown(strings.ReplaceAll(source, "\n", "\r\n"))
		chunks := prose.Split(m.Text, limit)
		if len(chunks) < 2 {
			t.Fatalf("limit %d: %d chunks", limit, len(chunks))
		}
		var same, translated strings.Builder
		for _, c := range chunks {
			if strings.Count(c.Text, "```")%2 != 0 {
				t.Errorf("limit %d: a fence is cut: %q", limit, c.Text)
			}
			if n := translator.EstimateTokens(c.Text); limit >= 60 && n > 2*limit {
				t.Errorf("limit %d: a chunk has %d tokens", limit, n)
			}
			same.WriteString(c.Join(c.Text))
			text := fake.TranslateLines(c.Text, "译")
			if problem := prose.CheckMasks(c.Text, text); problem != "" {
				t.Error(problem)
			}
			translated.WriteString(c.Join(text))
		}
		if m.Restore(same.String()) != source {
			t.Errorf("limit %d: the chunks are not the text", limit)
		}
		if got := m.Restore(translated.String()); prose.Compare(source, got) != "" {
			t.Errorf("limit %d: %s", limit, prose.Compare(source, got))
		}
	}
}

func TestChunksKeepWhatStandsAroundThem(t *testing.T) {
	for _, source := range []string{"", "\n\n", "one", "\n one \n\n", strings.Repeat("- an item of a list\n", 200), strings.Repeat("x", 5000),
		"a | b\n--|--\nc | d\n" + strings.Repeat("e | f\n", 500)} {
		var whole strings.Builder
		for _, c := range prose.Split(source, 50) {
			whole.WriteString(c.Join(c.Text))
		}
		if whole.String() != source && !(strings.TrimSpace(source) == strings.TrimSpace(whole.String())) {
			t.Errorf("%.40q: %.40q", source, whole.String())
		}
	}
	for text, want := range map[string]bool{"⟦1⟧ --- 12": false, "⟦1⟧ 字": true, "v1.2.0": false, "v1.2 beta": true, "": false} {
		if prose.HasWords(text) != want {
			t.Errorf("%q", text)
		}
	}
}
