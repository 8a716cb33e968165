package documents

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

const (
	// maxFrontMatter, maxComment, maxCodeSpan and maxMark are how far from its start the end of each is looked for, in bytes.
	maxFrontMatter = 64 << 10
	maxComment     = 64 << 10
	maxCodeSpan    = 16 << 10
	maxMark        = 4 << 10
	// maxName is how long the name of a component may be, with the marks around it.
	maxName = 128
)

var (
	frontEntry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^([A-Za-z_][\w-]*)[ \t]*[:=][ \t]*(.*?)[ \t]*$`) })
	// moduleLine is a line of a page that imports or exports what its components need.
	moduleLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:import\s+(?:[\w*{}\s,$]+\s+from\s+)?['"][^'"]+['"];?|export\s+(?:const|let|default|function)\b.*)\s*$`)
	})
	// headingID is the name that a heading is given for links.
	headingID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t]*\{#[\w:.-]+\}[ \t]*$`) })
	// admonition begins or ends a box; what follows is its title.
	admonition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*):::+[ \t]*(?:[A-Za-z-]+)?[ \t]*(.*)$`) })
	// componentName begins the tag of a component, but not what stands for a name, such as <YOUR_NAME>.
	componentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^</?[A-Z][A-Z0-9]*[a-z][\w.]*[\s/>]`) })
	// componentText are the attributes of a component that people see.
	componentText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:title|label)=(?:"([^"]*)"|'([^']*)')`) })
)

// frontMatter is what the head of a document tells of it.
type frontMatter struct{ title, description string }

// cutFrontMatter separates the front matter at the start of a document, YAML or TOML, from the rest.
func cutFrontMatter(text string) (frontMatter, string) {
	var out frontMatter
	mark := texts.Head(text, 3)
	if mark != "---" && mark != "+++" {
		return out, text
	}
	head, rest, ok := strings.Cut(texts.Head(text[3:], maxFrontMatter), "\n"+mark)
	if !ok || !strings.HasPrefix(strings.TrimLeft(head, " \t"), "\n") {
		return out, text
	}
	if line, _, _ := strings.Cut(rest, "\n"); strings.TrimSpace(line) != "" {
		return out, text
	}
	entries := frontEntry().FindAllStringSubmatch(head, -1)
	if len(entries) == 0 {
		return out, text
	}
	for _, e := range entries {
		switch e[1] {
		case "title":
			out.title = unquoteText(e[2])
		case "description", "summary":
			out.description = unquoteText(e[2])
		}
	}
	_, rest, _ = strings.Cut(text[3+len(head)+1+len(mark):], "\n")
	return out, rest
}

// unquoteText returns the text of a value in quotes or without them; one over several lines is none.
func unquoteText(value string) string {
	if plain, err := strconv.Unquote(value); err == nil {
		return plain
	}
	if value = strings.Trim(value, `'"`); strings.Trim(value, "|>+-") == "" {
		return ""
	}
	return value
}

// stripMarks removes from a Markdown text what a site generator would replace or leave out: comments, expressions and
// statements of templates, imports, tags of components. Code stays as it is.
func stripMarks(text string) string {
	var out, prose strings.Builder
	fence := ""
	flush := func() {
		out.WriteString(stripProse(prose.String()))
		prose.Reset()
	}
	for line := range strings.Lines(text) {
		mark := fenceMark(line)
		switch {
		case fence == "" && mark == "":
			prose.WriteString(line)
			continue
		case fence == "":
			flush()
			fence = mark
		case mark != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), mark[:1]) == "":
			fence = ""
		}
		out.WriteString(line)
	}
	flush()
	return out.String()
}

// fenceMark returns the mark with which a line begins or ends a block of code, or nothing.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func stripProse(text string) string {
	if !strings.ContainsAny(text, "<{:") && !strings.Contains(text, "import ") && !strings.Contains(text, "export ") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(StripInline(text)) {
		plain := strings.TrimRight(line, "\r\n")
		end := line[len(plain):]
		if moduleLine().MatchString(plain) {
			continue
		}
		if strings.HasPrefix(plain, "#") {
			plain = headingID().ReplaceAllString(plain, "")
		}
		plain = admonition().ReplaceAllString(plain, "$1$2")
		out.WriteString(plain + end)
	}
	return out.String()
}

// templateMarks are what marks begin and end with, and how long they may be.
var templateMarks = []struct {
	open, end string
	reach     int
}{
	{"<!--", "-->", maxComment}, {"{/*", "*/}", maxComment}, {"{{", "}}", maxMark}, {"{%", "%}", maxMark},
}

// inlineScanner goes through a text once. Its fields bound the time for a text with many marks that have no end.
type inlineScanner struct {
	text string
	// startsLine reports whether nothing but spaces stands between the last line break and the current place.
	startsLine bool
	// noEnd is, for each of templateMarks, a place before which no end of such a mark begins, seen from the current one.
	noEnd [4]int
}

// StripInline removes marks from a text without blocks of code, but not from code within a line.
func StripInline(text string) string {
	var out strings.Builder
	s := inlineScanner{text: text, startsLine: true}
	for i := 0; i < len(text); {
		n := 0
		switch text[i] {
		case '`':
			n = codeSpan(text[i:])
			out.WriteString(text[i : i+n])
		case '\\':
			n = min(2, len(text)-i)
			out.WriteString(text[i : i+n])
		case '<', '{':
			var shown string
			if n, shown = s.markAt(i); n > 0 {
				out.WriteString(shown)
			}
		}
		if n == 0 {
			n = 1
			out.WriteByte(text[i])
		}
		s.passOver(text[i : i+n])
		i += n
	}
	return out.String()
}

// passOver updates startsLine for a part of the text that the scanner leaves behind.
func (s *inlineScanner) passOver(part string) {
	line := strings.LastIndexByte(part, '\n')
	s.startsLine = (s.startsLine || line >= 0) && strings.TrimLeft(part[line+1:], " \t") == ""
}

// codeSpan returns the length of the code that text begins with, or of the backticks if they begin none.
func codeSpan(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "`"))
	paragraph, _, _ := strings.Cut(texts.Head(text[n:], maxCodeSpan), "\n\n")
	for from := 0; ; {
		at := strings.Index(paragraph[from:], text[:n])
		if at < 0 {
			return n
		}
		from += at
		run := len(paragraph[from:]) - len(strings.TrimLeft(paragraph[from:], "`"))
		if run == n {
			return n + from + n
		}
		from += run
	}
}

// markAt returns the length of the mark at a place of the text, 0 if there is none, and what people see of it.
func (s *inlineScanner) markAt(at int) (n int, shown string) {
	rest := s.text[at:]
	for i, m := range templateMarks {
		if strings.HasPrefix(rest, m.open) {
			return s.templateMark(at, i), ""
		}
	}
	return componentTag(texts.Head(rest, maxMark), s.startsLine)
}

// templateMark returns the length of the mark of a kind that begins at a place of the text, or 0 if it has no end.
func (s *inlineScanner) templateMark(at, kind int) int {
	m := templateMarks[kind]
	from, to := max(at, s.noEnd[kind]), at+len(texts.Head(s.text[at:], m.reach))
	if from < to {
		if end := strings.Index(s.text[from:to], m.end); end >= 0 {
			return from + end + len(m.end) - at
		}
	}
	s.noEnd[kind] = max(from, to-len(m.end)+1)
	return 0
}

// componentTag returns the length of the tag of a component that text begins with, and its title. A component has a name
// with a capital; its tag stands at the start of a line, has attributes or closes: List<Item> is none.
func componentTag(text string, startsLine bool) (n int, shown string) {
	if !componentName().MatchString(texts.Head(text, maxName)) {
		return 0, ""
	}
	end := tagEnd(text)
	if end == 0 || !startsLine && text[1] != '/' && text[end-2] != '/' && !strings.Contains(text[:end], "=") {
		return 0, ""
	}
	if m := componentText().FindStringSubmatch(text[:end]); m != nil {
		shown = m[1] + m[2]
	}
	return end, shown
}

// tagEnd returns the length of a tag: to the first > that is in no quotes and braces. It is 0 if there is none.
func tagEnd(text string) int {
	quote, depth := byte(0), 0
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '<' && i > 0 && depth == 0:
			return 0
		case c == '>' && depth <= 0:
			return i + 1
		}
	}
	return 0
}
