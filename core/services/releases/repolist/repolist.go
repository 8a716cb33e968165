// Package repolist reads which repositories a text names: a list, an OPML file of a feed reader, a go.mod or a package.json.
package repolist

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// Format is how a text names repositories.
type Format string

// The formats.
const (
	// Auto finds the format by the text.
	Auto    Format = "auto"
	List    Format = "list"
	OPML    Format = "opml"
	GoMod   Format = "go.mod"
	Package Format = "package.json"
)

// Formats are all of them.
var Formats = []Format{Auto, List, OPML, GoMod, Package}

const (
	// MaxSize is the longest text, in bytes.
	MaxSize = 256 << 10
	// MaxEntries is how many repositories one text may name.
	MaxEntries = 1000
	// maxShown is how much of an entry a problem quotes, in bytes.
	maxShown = 120
)

// Entry is a repository that a text names.
type Entry struct {
	// Line is where, from 1 on; Text what stands there.
	Line int
	Text string
	// Site is the host of its address, in lower case, "" where the text has the name alone.
	Site string
	// FullName is owner/name.
	FullName string
}

// Problem is an entry that names no repository.
type Problem struct {
	Line int
	Text string
	// Message says what is wrong, in one sentence.
	Message string
}

// Parsed is what a text names.
type Parsed struct {
	Format   Format
	Entries  []Entry
	Problems []Problem
	// seen has the entries by site and name.
	seen map[string]bool
}

// Parse reads a text. An error says that it is too long, or not of the format at all; what is wrong with an entry is a problem.
func Parse(format Format, text string) (out Parsed, err error) {
	if len(text) > MaxSize {
		return out, invalidText("The text has %d bytes; at most %d are allowed.", len(text), MaxSize)
	}
	if format == "" || format == Auto {
		format = findFormat(text)
	}
	out.Format = format
	switch format {
	case List:
		out.parseList(text)
	case OPML:
		err = out.parseOPML(text)
	case GoMod:
		out.parseGoMod(text)
	case Package:
		err = out.parsePackage(text)
	default:
		return out, fault.New(fault.BadRequest, "format must be auto, list, opml, go.mod or package.json.").With("field", "format")
	}
	if err == nil && len(out.Entries) > MaxEntries {
		err = invalidText("The text names %d repositories; at most %d are allowed.", len(out.Entries), MaxEntries)
	}
	return out, err
}

func invalidText(format string, args ...any) error {
	return fault.New(fault.BadRequest, format, args...).With("field", "content")
}

// findFormat finds the format of a text by how it begins.
func findFormat(text string) Format {
	trimmed := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	switch {
	case strings.HasPrefix(trimmed, "<"):
		return OPML
	case strings.HasPrefix(trimmed, "{"):
		return Package
	}
	for line := range strings.Lines(text) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); slices.Contains([]string{"module", "require", "go"}, word) {
			return GoMod
		}
	}
	return List
}

// add takes an entry: a name, or an address.
func (p *Parsed) add(line int, text string) {
	site, name, err := ParseAddress(text)
	if err != nil {
		p.refuse(line, text, err.Error())
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	key := site + "/" + repo.KeyOf(name)
	if p.seen[key] {
		return
	}
	p.seen[key] = true
	p.Entries = append(p.Entries, Entry{line, cutText(text), site, name})
}

// refuse notes what is wrong with an entry.
func (p *Parsed) refuse(line int, text, message string) {
	p.Problems = append(p.Problems, Problem{line, cutText(text), message})
}

// cutText returns what of an entry is quoted.
func cutText(text string) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

var errNoRepository = errors.New("write owner/name, or the address of a repository")

// ParseAddress returns the site and the name of a repository from its name or its address, such as
// https://forge.example/owner/name/releases or git@forge.example:owner/name.git. The site is "" for a name alone.
func ParseAddress(text string) (site, name string, err error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "git+")
	path := text
	if rest, ok := strings.CutPrefix(text, "git@"); ok {
		site, path, _ = strings.Cut(rest, ":")
	} else if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return "", "", errNoRepository
		}
		if site, path = u.Host, u.Path; u.Scheme != "http" && u.Scheme != "https" {
			// The port is that of another service than the site.
			site = u.Hostname()
		}
	} else if first, rest, ok := strings.Cut(text, "/"); ok && strings.Contains(first, ".") && strings.Contains(rest, "/") {
		site, path = first, rest
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 2 || site == "" && len(parts) > 2 {
		return "", "", errNoRepository
	}
	name, err = repo.ParseName(parts[0] + "/" + strings.TrimSuffix(parts[1], ".git"))
	if err != nil {
		return "", "", errNoRepository
	}
	return strings.TrimPrefix(strings.ToLower(site), "www."), name, nil
}

// parseList reads a repository from each line; # begins a comment.
func (p *Parsed) parseList(text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		for word := range strings.FieldsFuncSeq(line,
			func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == '\ufeff' }) {
			p.add(number, word)
		}
	}
}

// parseGoMod reads the modules that a go.mod requires itself.
func (p *Parsed) parseGoMod(text string) {
	number, inside := 0, false
	for line := range strings.Lines(text) {
		number++
		code, comment, _ := strings.Cut(strings.TrimSpace(line), "//")
		words := strings.Fields(code)
		switch {
		case len(words) == 0:
			continue
		case inside && words[0] == ")":
			inside = false
			continue
		case !inside && words[0] == "require" && len(words) > 1 && words[1] == "(":
			inside = true
			continue
		case !inside && words[0] == "require":
			words = words[1:]
		case !inside:
			continue
		}
		if len(words) < 2 || strings.TrimSpace(comment) == "indirect" {
			continue
		}
		module := strings.Trim(words[0], `"`)
		if strings.Count(module, "/") < 2 {
			p.refuse(number, module, "the path of the module is not the address of a repository")
			continue
		}
		p.add(number, module)
	}
}

// parseOPML reads the repositories whose feeds a feed reader follows.
func (p *Parsed) parseOPML(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	seen := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := d.InputPos()
		if err != nil {
			return invalidText("The text is not OPML: line %d cannot be read.", line)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !seen && !strings.EqualFold(start.Name.Local, "opml") {
			return invalidText("The text is not OPML: it begins with the element %s.", cutText(start.Name.Local))
		}
		seen = true
		if strings.EqualFold(start.Name.Local, "outline") {
			p.addOutline(line, start.Attr)
		}
	}
	if !seen {
		return invalidText("The text is not OPML: it has no element.")
	}
	return nil
}

// addOutline takes the address of the page of a feed, or else that of the feed itself. An outline without both is a folder.
func (p *Parsed) addOutline(line int, attributes []xml.Attr) {
	page, feed := "", ""
	for _, a := range attributes {
		switch strings.ToLower(a.Name.Local) {
		case "htmlurl":
			page = a.Value
		case "xmlurl":
			feed = a.Value
		}
	}
	for _, address := range []string{feed, page} {
		if _, _, err := ParseAddress(address); err == nil {
			p.add(line, address)
			return
		}
	}
	if feed != "" || page != "" {
		p.refuse(line, feed+page, "the feed is not one of a repository")
	}
}

// dependencySections are the members of a package.json that name packages.
var dependencySections = []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"}

// parsePackage reads the dependencies of a package.json that name a repository instead of a version.
func (p *Parsed) parsePackage(text string) error {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &doc); err != nil {
		return invalidText("The text is not a package.json: %s.", describeJSON(text, err))
	}
	for _, section := range dependencySections {
		raw, ok := doc[section]
		if !ok {
			continue
		}
		versions := map[string]string{}
		if err := json.Unmarshal(raw, &versions); err != nil {
			return invalidText("The field %s must be an object of strings.", section)
		}
		names := make([]string, 0, len(versions))
		for name := range versions {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return findLine(text, a) - findLine(text, b) })
		for _, name := range names {
			p.addPackage(findLine(text, name), name, versions[name])
		}
	}
	return nil
}

// addPackage takes a dependency.
func (p *Parsed) addPackage(line int, name, version string) {
	address, _, _ := strings.Cut(version, "#")
	if kind, rest, ok := strings.Cut(address, ":"); ok && !strings.HasPrefix(rest, "//") && !strings.Contains(kind, "/") &&
		!strings.Contains(kind, "@") {
		// The shorthand of a code host, which names it by a word.
		address = rest
	}
	if _, _, err := ParseAddress(address); err != nil || strings.HasPrefix(version, "npm:") || strings.HasPrefix(version, "file:") {
		p.refuse(line, name, "a package of a registry does not say where its repository is: name that in a list")
		return
	}
	p.add(line, address)
}

// findLine returns the line on which a member of a JSON text stands.
func findLine(text, member string) int {
	at := strings.Index(text, fmt.Sprintf("%q", member))
	return 1 + strings.Count(text[:max(0, at)], "\n")
}

// describeJSON says where a JSON text is wrong.
func describeJSON(text string, err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("line %d cannot be read", 1+strings.Count(text[:min(int(syntax.Offset), len(text))], "\n"))
	}
	return "it must be an object"
}
