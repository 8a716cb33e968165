package documents

import (
	"regexp"
	"strings"
	"sync"
)

var (
	orgHeading = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\*+)\s+(?:(?:TO[D]O|DONE|NEXT|WAITING|CANCELLED|CANCELED)\s+)?(?:\[#[A-Z]\]\s+)?(.*?)(?:\s+:[\w@#%:]+:)?\s*$`)
	})
	orgKeyword = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*#\+([\w-]+):\s*(.*?)\s*$`) })
	orgBegin   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*#\+begin_(\w+)(?:\s+(\S+))?`) })
	orgEnd     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*#\+end_(\w+)`) })
	orgLink    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\[([^\]]+)\](?:\[([^\]]+)\])?\]`) })
)

// parseOrg makes Markdown of the headings, the code and the links of an Org document; keywords, drawers and comments go.
func parseOrg(text string) *Document {
	var out strings.Builder
	doc, code, drawer := &Document{}, "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		begin, end := orgBegin().FindStringSubmatch(line), orgEnd().FindStringSubmatch(line)
		switch plain := strings.TrimSpace(line); {
		case code != "":
			if end != nil && strings.EqualFold(end[1], code) {
				code = ""
				line = "```"
			}
			out.WriteString(line + "\n")
		case begin != nil && (strings.EqualFold(begin[1], "src") || strings.EqualFold(begin[1], "example")):
			code = begin[1]
			out.WriteString("```" + cleanWord(begin[2]) + "\n")
		case begin != nil || end != nil:
		case drawer:
			drawer = !strings.EqualFold(plain, ":END:")
		case strings.EqualFold(plain, ":PROPERTIES:"), strings.EqualFold(plain, ":LOGBOOK:"):
			drawer = true
		case orgKeyword().MatchString(line):
			if m := orgKeyword().FindStringSubmatch(line); strings.EqualFold(m[1], "title") {
				doc.Title = strings.TrimSpace(doc.Title + " " + m[2])
			} else if strings.EqualFold(m[1], "description") {
				out.WriteString(m[2] + "\n\n")
			}
		case plain == "#" || strings.HasPrefix(plain, "# "):
		default:
			out.WriteString(orgLine(line) + "\n")
		}
	}
	if code != "" {
		out.WriteString("```\n")
	}
	if doc.Text = strings.TrimLeft(out.String(), "\n"); doc.Title == "" {
		doc.Title = FirstHeading(doc.Text)
	}
	return doc
}

// orgLine makes Markdown of a line of text.
func orgLine(line string) string {
	if m := orgHeading().FindStringSubmatch(line); m != nil && m[2] != "" {
		line = strings.Repeat("#", min(len(m[1]), 6)) + " " + m[2]
	}
	if !strings.Contains(line, "[[") {
		return line
	}
	return orgLink().ReplaceAllStringFunc(line, func(s string) string {
		m := orgLink().FindStringSubmatch(s)
		if m[2] == "" {
			return m[1]
		}
		return "[" + m[2] + "](" + m[1] + ")"
	})
}
