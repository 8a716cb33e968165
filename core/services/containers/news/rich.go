package news

import (
	"html"
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/core/lists"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

type style int

const (
	plain style = iota
	code
	link
)

// span is a piece of a line.
type span struct {
	style style
	text  string
	url   string
	// between stands between text and address where a link is written as plain text.
	between string
}

type line []span

// block is a paragraph; or a list with what stands before and after it; or a block of code.
type block struct {
	head, tail line
	items      []line
	code       string
}

// document is a text in all renderings at once.
type document []block

func plainLine(s string) line { return line{{text: s}} }

func (d document) renderAll() sdk.Text {
	return sdk.Text{Plain: d.joinBlocks("\n\n", block.renderPlain), Markdown: d.joinBlocks("\n\n", block.renderMarkdown),
		HTML: d.joinBlocks("", block.renderHTML)}
}

func (d document) joinBlocks(between string, render func(block) string) string {
	parts := make([]string, 0, len(d))
	for _, b := range d {
		parts = append(parts, render(b))
	}
	return strings.Join(parts, between)
}

// inlineText returns a text of one line without a paragraph around it.
func inlineText(s string) sdk.Text {
	return sdk.Text{Plain: s, Markdown: plainLine(s).renderMarkdown(), HTML: html.EscapeString(s)}
}

func (b block) renderPlain() string {
	var lines []string
	if len(b.head) > 0 {
		lines = append(lines, b.head.renderPlain())
	}
	for _, item := range b.items {
		lines = append(lines, "- "+item.renderPlain())
	}
	if b.code != "" {
		lines = append(lines, b.code)
	}
	if len(b.tail) > 0 {
		lines = append(lines, b.tail.renderPlain())
	}
	return strings.Join(lines, "\n")
}

func (b block) renderMarkdown() string {
	var parts []string
	if len(b.head) > 0 {
		parts = append(parts, b.head.renderMarkdown())
	}
	if len(b.items) > 0 {
		items := lists.ConvertAll(b.items, func(item line) string { return "- " + item.renderMarkdown() })
		parts = append(parts, strings.Join(items, "\n"))
	}
	if b.code != "" {
		fence := strings.Repeat("`", max(3, longestRun(b.code, '`')+1))
		parts = append(parts, fence+"\n"+b.code+"\n"+fence)
	}
	if len(b.tail) > 0 {
		parts = append(parts, b.tail.renderMarkdown())
	}
	return strings.Join(parts, "\n\n")
}

func (b block) renderHTML() string {
	var out strings.Builder
	if len(b.head) > 0 {
		out.WriteString("<p>" + b.head.renderHTML() + "</p>")
	}
	if len(b.items) > 0 {
		out.WriteString("<ul>")
		for _, item := range b.items {
			out.WriteString("<li>" + item.renderHTML() + "</li>")
		}
		out.WriteString("</ul>")
	}
	if b.code != "" {
		out.WriteString("<pre>" + html.EscapeString(b.code) + "</pre>")
	}
	if len(b.tail) > 0 {
		out.WriteString("<p>" + b.tail.renderHTML() + "</p>")
	}
	return out.String()
}

func (l line) renderPlain() string {
	var out strings.Builder
	for _, s := range l {
		out.WriteString(s.text)
		if s.style == link {
			out.WriteString(s.between + s.url)
		}
	}
	return out.String()
}

func (l line) renderHTML() string {
	var out strings.Builder
	for _, s := range l {
		text := html.EscapeString(s.text)
		switch s.style {
		case code:
			text = "<code>" + text + "</code>"
		case link:
			text = `<a href="` + html.EscapeString(s.url) + `">` + text + "</a>"
		}
		out.WriteString(text)
	}
	return out.String()
}

func (l line) renderMarkdown() string {
	var out strings.Builder
	for i, s := range l {
		switch s.style {
		case code:
			out.WriteString(codeSpan(s.text))
		case link:
			out.WriteString("[" + escapeMarkdown(s.text, false) + "](" + markdownURL(s.url) + ")")
		default:
			out.WriteString(escapeMarkdown(s.text, i == 0))
		}
	}
	return out.String()
}

func markdownURL(address string) string {
	if strings.ContainsAny(address, "()") {
		return "<" + address + ">"
	}
	return address
}

// codeSpan returns s between more backticks in a row than it has itself.
func codeSpan(s string) string {
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

func longestRun(s string, of byte) (longest int) {
	run := 0
	for i := range len(s) {
		if s[i] != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

var (
	special     = regexp.MustCompile("[\\\\`*_\\[\\]<&~|]")
	startNumber = regexp.MustCompile(`^(\d+)([.)])`)
	startMark   = regexp.MustCompile(`^[-+#=>]`)
)

// escapeMarkdown writes s so that CommonMark shows it as it is. What only counts at the start of a line is escaped there.
func escapeMarkdown(s string, start bool) string {
	s = special.ReplaceAllString(s, `\$0`)
	if start {
		s = startMark.ReplaceAllString(s, `\$0`)
		s = startNumber.ReplaceAllString(s, `$1\$2`)
	}
	return s
}
