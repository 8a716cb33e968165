package documents

import (
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

// maxHeading bounds a heading, in bytes.
const maxHeading = 200

// CleanMarkdown returns the text of a Markdown document without front matter and marks, and its title. A description in
// the front matter becomes the first paragraph.
func CleanMarkdown(source string) (text, title string) {
	front, rest := cutFrontMatter(source)
	text = stripMarks(rest)
	if front.description != "" {
		text = front.description + "\n\n" + strings.TrimLeft(text, "\n")
	}
	if front.title != "" {
		return text, front.title
	}
	return text, FirstHeading(text)
}

// FirstHeading returns the first heading of a text if it is near its beginning.
func FirstHeading(text string) string {
	lines := strings.SplitN(text, "\n", 60)
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		if h := Heading(line, next); h != "" {
			return h
		}
	}
	return ""
}

// Heading returns the text of a line that is a heading: marked with # or =, or underlined. next is the line below it.
func Heading(line, next string) string {
	line = strings.TrimRight(line, " \t\r")
	for _, mark := range []string{"#", "="} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 1 && n <= 6 && strings.HasPrefix(rest, " ") {
			return texts.Head(strings.TrimSpace(strings.TrimRight(rest, "# ")), maxHeading)
		}
	}
	next = strings.TrimRight(next, " \t\r")
	if len(next) < 3 || strings.TrimSpace(line) == "" || strings.HasPrefix(line, " ") || isRule(line) {
		return ""
	}
	if isRule(next) && utf8.RuneCountInString(line) <= 120 && len(next)*2 >= utf8.RuneCountInString(line) {
		return texts.Head(strings.TrimSpace(line), maxHeading)
	}
	return ""
}

func isRule(line string) bool {
	return len(line) >= 3 && strings.ContainsRune("=-~^", rune(line[0])) && strings.Trim(line, line[:1]) == ""
}
