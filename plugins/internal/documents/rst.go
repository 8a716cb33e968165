package documents

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	rstDirective = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*)\.\. ([\w:.+-]+)::(?:\s+(.*))?$`) })
	rstComment   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\.\.(?: .*)?$`) })
	rstField     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*:[\w -]+:(?:\s.*)?$`) })
	rstRole      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(":[\\w:.+-]+:`([^`<]+?)(?:\\s*<([^`>]+)>)?`") })
	rstLink      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`<]+?)\\s*<([^`>]+)>`__?") })
	rstReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`]+)`__?") })
)

// Directives whose text is code, whose body and argument are no text, and whose argument is a title.
var (
	rstCode = []string{"code-block", "code", "sourcecode", "highlight", "parsed-literal", "prompt", "doctest", "testcode", "console",
		"ipython", "jupyter-execute"}
	rstSilent = []string{"toctree", "image", "include", "literalinclude", "raw", "index", "contents", "meta", "currentmodule", "module",
		"highlight", "automodule", "autoclass",
		"autofunction", "autosummary", "default-role", "role", "sectionauthor", "codeauthor", "only", "tabularcolumns", "graphviz", "plot",
		"bibliography", "rst-class", "testsetup"}
)

// rst goes through the lines of a document.
type rst struct {
	lines []string
	out   strings.Builder
	title string
	// styles are those of headings, in the order in which they appear: each is a level.
	styles []string
	// literal tells that the last paragraph ended with "::", so that what is indented below it is code.
	literal bool
}

// parseRST makes Markdown of the headings, the code and the links of a reStructuredText document; directives for programs
// and comments go.
func parseRST(text string) *Document {
	d := rst{lines: strings.Split(text, "\n")}
	for i := 0; i < len(d.lines); {
		i = d.addBlock(i)
	}
	return &Document{Title: d.title, Text: strings.TrimLeft(d.out.String(), "\n")}
}

// addBlock reads what begins at a line and returns the number of the next line.
func (d *rst) addBlock(i int) int {
	line := strings.TrimRight(d.lines[i], " \t\r")
	if n := d.addHeading(i); n > 0 {
		d.literal = false
		return i + n
	}
	if d.literal && line != "" {
		d.literal = false
		if countIndent(line) > 0 {
			return d.addCode(i, 0, "")
		}
	}
	if m := rstDirective().FindStringSubmatch(line); m != nil {
		return d.addDirective(i, len(m[1]), strings.ToLower(m[2]), m[3])
	}
	if rstComment().MatchString(line) {
		return d.skipIndented(i+1, countIndent(line))
	}
	if before, ok := strings.CutSuffix(line, "::"); ok {
		d.literal = true
		if line = strings.TrimRight(before, " "); before == line && line != "" {
			line += ":"
		}
	}
	d.out.WriteString(rstInline(line) + "\n")
	return i + 1
}

// addHeading writes the heading that begins at a line, and returns how many lines it has; 0 for none.
func (d *rst) addHeading(i int) int {
	over := rstRuleMark(d.lineAt(i))
	if over != "" && strings.TrimSpace(d.lineAt(i+1)) != "" && rstRuleMark(d.lineAt(i+2)) == over && rstRuleMark(d.lineAt(i+1)) == "" {
		d.writeHeading(strings.TrimSpace(d.lineAt(i+1)), over+over)
		return 3
	}
	text, under := d.lineAt(i), rstRuleMark(d.lineAt(i+1))
	if text == "" || over != "" || under == "" || countIndent(text) > 0 ||
		utf8.RuneCountInString(text) > utf8.RuneCountInString(d.lineAt(i+1))*2 {
		return 0
	}
	d.writeHeading(text, under)
	return 2
}

func (d *rst) lineAt(i int) string {
	if i >= len(d.lines) {
		return ""
	}
	return strings.TrimRight(d.lines[i], " \t\r")
}

// rstRuleMark returns the character that a line consists of if it can be above or below a heading.
func rstRuleMark(line string) string {
	if len(line) < 3 || !strings.ContainsRune(`=-~^"'*+#`+"`:.<>_", rune(line[0])) || strings.Trim(line, line[:1]) != "" {
		return ""
	}
	return line[:1]
}

func (d *rst) writeHeading(text, style string) {
	level := slices.Index(d.styles, style)
	if level < 0 {
		level = len(d.styles)
		d.styles = append(d.styles, style)
	}
	text = rstInline(text)
	if d.title == "" {
		d.title = text
	}
	d.out.WriteString(strings.Repeat("#", min(level+1, 6)) + " " + text + "\n")
}

// addDirective writes the text of a directive and returns the number of the next line.
func (d *rst) addDirective(i, indent int, name, argument string) int {
	name = name[strings.LastIndexByte(name, ':')+1:]
	switch {
	case slices.Contains(rstCode, name) && name != "highlight":
		return d.addCode(i+1, indent, cleanWord(argument))
	case slices.Contains(rstSilent, name):
		return d.skipIndented(i+1, indent)
	}
	// The body of other directives is text that is read on; their options are not.
	if argument = strings.TrimSpace(argument); argument != "" && name != "figure" {
		d.out.WriteString(rstInline(argument) + "\n")
	}
	for i++; i < len(d.lines) && rstField().MatchString(d.lines[i]) && countIndent(d.lines[i]) > indent; i++ {
		continue
	}
	return i
}

// addCode writes the lines from i on that are indented as a block of code and returns the number of the next line.
func (d *rst) addCode(i, indent int, language string) int {
	for ; i < len(d.lines) && rstField().MatchString(d.lines[i]) && countIndent(d.lines[i]) > indent; i++ {
		continue
	}
	end := d.skipIndented(i, indent)
	block := d.lines[i:end]
	least := -1
	for _, line := range block {
		if n := countIndent(line); strings.TrimSpace(line) != "" && (least < 0 || n < least) {
			least = n
		}
	}
	if least < 0 {
		return end
	}
	d.out.WriteString("```" + language + "\n")
	var text strings.Builder
	for _, line := range block {
		text.WriteString(strings.TrimRight(line[min(least, len(line)):], " \t\r") + "\n")
	}
	d.out.WriteString(strings.Trim(text.String(), "\n") + "\n```\n\n")
	return end
}

// skipIndented returns the number of the first line from i on that is not empty and not indented deeper than indent.
func (d *rst) skipIndented(i, indent int) int {
	for ; i < len(d.lines); i++ {
		if strings.TrimSpace(d.lines[i]) != "" && countIndent(d.lines[i]) <= indent {
			return i
		}
	}
	return i
}

func countIndent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// rstInline makes Markdown of the roles and links of a line.
func rstInline(line string) string {
	if !strings.Contains(line, "`") {
		return line
	}
	line = rstRole().ReplaceAllString(line, "$1")
	line = rstLink().ReplaceAllString(line, "[$1]($2)")
	line = rstReference().ReplaceAllStringFunc(line, func(s string) string {
		if strings.HasSuffix(s, "_") {
			return strings.Trim(s, "`_")
		}
		return s
	})
	return strings.ReplaceAll(line, "``", "`")
}
