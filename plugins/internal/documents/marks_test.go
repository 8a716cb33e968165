package documents

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestStripMarks(t *testing.T) {
	for source, want := range map[string]string{
		"plain text": "plain text",
		"a {{ b }} c {%- if d -%} e {{< f \"g\" >}}h": "a  c  e h",
		"a {{ b\nc }} d":                         "a  d",
		"open {{ end":                            "open {{ end",
		"a <!-- b\n\nc --> d":                    "a  d",
		"a <!-- b":                               "a <!-- b",
		"a {/* b */} c":                          "a  c",
		"code `{{ a }}` and ``{{ ` }}`` stay":    "code `{{ a }}` and ``{{ ` }}`` stay",
		"one ` alone {{ a }}":                    "one ` alone ",
		"\\{{ a":                                 "\\{{ a",
		"```\n{{ a }}\nimport 'b'\n```\n{{ c }}": "```\n{{ a }}\nimport 'b'\n```\n",
		"````\n```\n{{ a }}\n````\n{{ b }}":      "````\n```\n{{ a }}\n````\n",
		"~~~ {{ a }}\n{{ b }}\n~~~":              "~~~ {{ a }}\n{{ b }}\n~~~",
		"```\n{{ never closed }}":                "```\n{{ never closed }}",
		"import A from './a';\nimport * as B from \"b\"\nimport {\"x\"}\nimport goods from abroad\n": "import {\"x\"}\nimport goods from abroad\n",
		"export const a = 1\nexport goods\n":                     "export goods\n",
		"## Head {#id}\ntext {#id}\n":                            "## Head\ntext {#id}\n",
		":::note Title\ntext\n:::\n":                             "Title\ntext\n\n",
		"<Card title=\"A > B\" href={x > y ? 1 : 2}>text</Card>": "A > Btext",
		"see <Badge text=\"new\" /> and <Tip a=\"b\">this</Tip>": "see  and this",
		"<YOUR_NAME> and <ID> stay":                              "<YOUR_NAME> and <ID> stay",
		"List<Item> and Map<K, V> stay":                          "List<Item> and Map<K, V> stay",
		"a < B and <https://example.org/> <b>c</b>":              "a < B and <https://example.org/> <b>c</b>",
	} {
		if got := stripMarks(source); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

func TestCutFrontMatter(t *testing.T) {
	for source, want := range map[string]struct {
		front frontMatter
		rest  string
	}{
		"---\ntitle: \"A: b\"\nsummary: c\n---\ntext\n": {frontMatter{"A: b", "c"}, "text\n"},
		"---\ntitle: 'A'\nlist:\n  - b\n---\n\ntext":    {frontMatter{title: "A"}, "\ntext"},
		"+++\ntitle = \"A\"\ndescription = 'b'\n+++\nc": {frontMatter{"A", "b"}, "c"},
		"---\ndescription: >-\n  a\n---\nb":             {frontMatter{}, "b"},
		"---\n\nA rule and\n\n---\n\nanother\n":         {frontMatter{}, "---\n\nA rule and\n\n---\n\nanother\n"},
		"---\ntitle: a\n":                               {frontMatter{}, "---\ntitle: a\n"},
		"---\ntitle: a\n---- \nb":                       {frontMatter{}, "---\ntitle: a\n---- \nb"},
		"text\n---\ntitle: a\n---\n":                    {frontMatter{}, "text\n---\ntitle: a\n---\n"},
		"":                                              {frontMatter{}, ""},
	} {
		front, rest := cutFrontMatter(source)
		if front != want.front || rest != want.rest {
			t.Errorf("%q: got %+v and %q", source, front, rest)
		}
	}
}

func TestStripMarksOfAnything(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"{{", "}}", "{%", "%}", "<!--", "-->", "{/*", "*/}", "`", "```", "~~~", "\n", " ", "<Tab", ">", "/>", "\"", "=", "word", "标记", "\\",
		"---\n", ":::", "#", "<", "é",
	})
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(part, 0, 60).Draw(t, "parts"), "")
		text, title := CleanMarkdown(source)
		if !utf8.ValidString(text) || !utf8.ValidString(title) || len(text) > len(source)+2 {
			t.Fatalf("%q became %q", source, text)
		}
		if !strings.ContainsAny(source, "{<:-#+") && text != source {
			t.Fatalf("%q became %q", source, text)
		}
	})
}

// The time for a text goes with its length, not with its square: the long line would take more than ten minutes.
func TestStripMarksInLongTexts(t *testing.T) {
	for name, source := range map[string]string{
		"a long line":             strings.Repeat("a", 8<<20) + strings.Repeat("<Ab ", 100_000),
		"comments without an end": strings.Repeat("<!--", 50_000),
	} {
		if got := stripMarks(source); got != source {
			t.Errorf("%s: %d of %d bytes are left", name, len(got), len(source))
		}
	}
	source := "<!-- a <!-- b --> c --> {{ d <!-- e"
	if got := stripMarks(source); got != " c --> {{ d <!-- e" {
		t.Errorf("%q became %q", source, got)
	}
	late := "<!--" + strings.Repeat("-", maxComment) + "<!-- b --> c"
	if got, want := stripMarks(late), "<!--"+strings.Repeat("-", maxComment)+" c"; got != want {
		t.Errorf("a comment after one without an end stays: %d bytes, want %d", len(got), len(want))
	}
}
