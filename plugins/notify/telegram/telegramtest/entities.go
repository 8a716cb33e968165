package telegramtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Entity is one piece of formatting; Offset and Length are in UTF-16 code units.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

// Units is the length of a text as the API counts it.
func Units(s string) int { return len(utf16.Encode([]rune(s))) }

// types are the tags that the API knows, and the entities that they make.
var types = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline", "s": "strikethrough",
	"strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "a": "text_link", "code": "code", "pre": "pre",
	"blockquote": "blockquote",
}

var (
	attribute = regexp.MustCompile(`^\s+([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?`)
	reference = regexp.MustCompile(`&(?:#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))|(lt|gt|amp|quot));?`)
)

type openTag struct {
	name   string
	entity Entity
	begin  int
}

// badRequestError is an error in the words of the API.
func badRequestError(format string, args ...any) error {
	return fmt.Errorf("can't parse entities: "+format, args...)
}

// htmlParser reads the API's HTML.
type htmlParser struct {
	in       string
	at       int
	out      strings.Builder
	open     []openTag
	entities []Entity
}

// ParseHTML takes the markup from a text, or fails in the words of the API.
func ParseHTML(in string) (string, []Entity, error) {
	p := &htmlParser{in: in}
	for p.at < len(in) {
		next := strings.IndexByte(in[p.at:], '<')
		if next < 0 {
			next = len(in) - p.at
		}
		p.out.WriteString(unescapeText(in[p.at : p.at+next]))
		if p.at += next; p.at == len(in) {
			break
		}
		if err := p.readTag(); err != nil {
			return "", nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, badRequestError("Can't find end tag corresponding to start tag \"%s\"", p.open[n-1].name)
	}
	return p.out.String(), p.entities, nil
}

// readTag reads the tag that begins at p.at.
func (p *htmlParser) readTag() error {
	begin := p.at
	if strings.HasPrefix(p.in[p.at:], "</") {
		return p.endTag(begin)
	}
	p.at++
	name := p.readName()
	if name == "" {
		return badRequestError("Unsupported start tag \"\" at byte offset %d", begin)
	}
	if types[name] == "" {
		return badRequestError("Unsupported start tag \"%s\" at byte offset %d", name, begin)
	}
	e := Entity{Type: types[name], Offset: Units(p.out.String())}
	for {
		a := attribute.FindStringSubmatch(p.in[p.at:])
		if a == nil {
			break
		}
		p.at += len(a[0])
		if name == "a" && strings.EqualFold(a[1], "href") {
			e.URL = unescapeText(a[2] + a[3] + a[4])
		}
	}
	p.at += len(p.in[p.at:]) - len(strings.TrimLeft(p.in[p.at:], " \t\r\n"))
	if !strings.HasPrefix(p.in[p.at:], ">") {
		return badRequestError("Unclosed start tag at byte offset %d", begin)
	}
	p.at++
	p.open = append(p.open, openTag{name: name, entity: e, begin: begin})
	return nil
}

func (p *htmlParser) endTag(begin int) error {
	p.at += 2
	name := p.readName()
	p.at += len(p.in[p.at:]) - len(strings.TrimLeft(p.in[p.at:], " \t\r\n"))
	if !strings.HasPrefix(p.in[p.at:], ">") {
		return badRequestError("Unclosed end tag at byte offset %d", begin)
	}
	p.at++
	n := len(p.open)
	if n == 0 {
		return badRequestError("Unexpected end tag at byte offset %d", begin)
	}
	last := p.open[n-1]
	if name != "" && name != last.name {
		return badRequestError("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", begin, last.name, name)
	}
	p.open = p.open[:n-1]
	last.entity.Length = Units(p.out.String()) - last.entity.Offset
	if last.entity.Length > 0 && (last.name != "a" || last.entity.URL != "") {
		p.entities = append(p.entities, last.entity)
	}
	return nil
}

// readName reads the name of a tag in lower case.
func (p *htmlParser) readName() string {
	end := strings.IndexFunc(p.in[p.at:], func(r rune) bool { return strings.ContainsRune(" \t\r\n>/=", r) })
	if end < 0 {
		end = len(p.in) - p.at
	}
	name := strings.ToLower(p.in[p.at : p.at+end])
	p.at += end
	return name
}

var named = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}

// unescapeText resolves the references that the API knows; all others stay as they are.
func unescapeText(s string) string {
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		if m[3] != "" {
			return named[m[3]]
		}
		base, digits := 16, m[1]
		if digits == "" {
			base, digits = 10, m[2]
		}
		n, err := strconv.ParseInt(digits, base, 32)
		if err != nil || n == 0 || n > 0x10ffff {
			return ref
		}
		return string(rune(n))
	})
}
