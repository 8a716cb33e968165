package documents

import (
	"regexp"
	"strings"
	"sync"
)

var (
	asciiDocEntry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:!?([\w-]+)!?:(?:\s+(.*))?$`) })
	asciiDocValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[\w-]+\}`) })
	asciiDocAttrs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([^\]]*)\]$`) })
	asciiDocImage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bimage::?[^\s\[]+\[([^\],]*)[^\]]*\]`) })
	asciiDocLink  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:link:|xref:)?([\w.+:/#?&=%~-]+)\[([^\]]+)\]`) })
	asciiDocRef   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<<([^,>]+)(?:,\s*([^>]+))?>>`) })
)

// asciiDoc goes through the lines of a document.
type asciiDoc struct {
	out   strings.Builder
	title string
	// block is the mark that ends the block that is open, language that of the next block of code.
	block, language string
	attributes      map[string]string
}

// parseAsciiDoc makes Markdown of the headings and the code of an AsciiDoc document; attributes and comments go.
func parseAsciiDoc(text string) *Document {
	d := asciiDoc{attributes: map[string]string{}}
	for line := range strings.Lines(text) {
		d.addLine(strings.TrimRight(line, " \t\r\n"))
	}
	if d.block != "" && d.block[0] != '/' {
		d.out.WriteString("```\n")
	}
	return &Document{Title: d.title, Text: strings.TrimLeft(d.out.String(), "\n")}
}

func (d *asciiDoc) addLine(line string) {
	switch {
	case d.block != "":
		d.addBlockLine(line)
	case isAsciiDocFence(line):
		d.block = line
		if line[0] != '/' {
			d.out.WriteString("```" + d.language + "\n")
		}
		d.language = ""
	case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "ifdef::"), strings.HasPrefix(line, "ifndef::"),
		strings.HasPrefix(line, "endif::"), strings.HasPrefix(line, "[[") && strings.HasSuffix(line, "]]"), line == "====", line == "****",
		line == "--":
	case asciiDocEntry().MatchString(line):
		m := asciiDocEntry().FindStringSubmatch(line)
		if len(m[2]) <= maxHeading {
			d.attributes[m[1]] = m[2]
		}
	case asciiDocAttrs().MatchString(line):
		d.readAttributes(asciiDocAttrs().FindStringSubmatch(line)[1])
	default:
		d.addText(line)
	}
}

func (d *asciiDoc) addBlockLine(line string) {
	end, comment := line == d.block, d.block[0] == '/'
	switch {
	case end && !comment:
		d.out.WriteString("```\n")
	case !comment:
		d.out.WriteString(line + "\n")
	}
	if end {
		d.block = ""
	}
}

// isAsciiDocFence reports whether a line begins a block of code, of literal text or a comment.
func isAsciiDocFence(line string) bool {
	return len(line) >= 4 && (strings.Trim(line, "-") == "" || strings.Trim(line, ".") == "" || strings.Trim(line, "/") == "" ||
		line == "++++")
}

// readAttributes reads what stands in brackets above a block.
func (d *asciiDoc) readAttributes(list string) {
	words := strings.Split(list, ",")
	switch kind, _, _ := strings.Cut(strings.TrimSpace(words[0]), "%"); {
	case kind == "source" && len(words) > 1:
		d.language = cleanWord(words[1])
	case kind == "source":
		d.language = cleanWord(d.attributes["source-language"])
	case kind == "" && len(words) > 1:
		d.language = cleanWord(words[1])
	}
}

// cleanWord returns s if it is one word that may name a language.
func cleanWord(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 32 || strings.ContainsAny(s, " \t=`\"'{}") {
		return ""
	}
	return s
}

func (d *asciiDoc) addText(line string) {
	rest := strings.TrimLeft(line, "=")
	if n := len(line) - len(rest); n >= 1 && n <= 6 && strings.HasPrefix(rest, " ") {
		heading := d.convertInline(strings.TrimSpace(rest))
		if d.title == "" {
			d.title = heading
		}
		d.out.WriteString(strings.Repeat("#", n) + " " + heading + "\n")
		return
	}
	if strings.HasPrefix(line, ".") && len(line) > 1 && line[1] != '.' && line[1] != ' ' {
		line = "**" + line[1:] + "**"
	}
	d.out.WriteString(d.convertInline(line) + "\n")
}

// convertInline makes Markdown of the links of a line and puts the values of attributes in.
func (d *asciiDoc) convertInline(line string) string {
	if strings.Contains(line, "{") {
		line = asciiDocValue().ReplaceAllStringFunc(line, func(s string) string {
			if value, ok := d.attributes[s[1:len(s)-1]]; ok {
				return value
			}
			return s
		})
	}
	if strings.Contains(line, "image:") {
		line = asciiDocImage().ReplaceAllString(line, "$1")
	}
	if strings.Contains(line, "<<") {
		line = asciiDocRef().ReplaceAllStringFunc(line, func(s string) string {
			m := asciiDocRef().FindStringSubmatch(s)
			if m[2] != "" {
				return m[2]
			}
			return m[1]
		})
	}
	if strings.Contains(line, "://") || strings.Contains(line, "link:") || strings.Contains(line, "xref:") {
		line = asciiDocLink().ReplaceAllStringFunc(line, func(s string) string {
			m := asciiDocLink().FindStringSubmatch(s)
			if !strings.Contains(s, "://") && !strings.HasPrefix(s, "link:") && !strings.HasPrefix(s, "xref:") {
				return s
			}
			return "[" + m[2] + "](" + strings.TrimPrefix(strings.TrimPrefix(m[1], "link:"), "xref:") + ")"
		})
	}
	return line
}
