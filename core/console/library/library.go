// Package library holds the documents of Patchbay as pages: rendered, with a table of contents, and found by their words.
package library

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	core "github.com/patchbay-dev/patchbay/core/docs"
	sdk "github.com/patchbay-dev/patchbay/sdk/docs"
)

// IndexName is the page with the contents, and DecisionsName the list of decisions.
const (
	IndexName     = "index"
	DecisionsName = "adr"
)

// Page is one document. Name is what follows /system/docs/ in its address, such as mail or adr/0001-hcl-without-hcldec.
type Page struct {
	Name, Title string
	// HTML is the document without its title, and Headings its sections.
	HTML     string
	Headings []Heading
	// text is what a reader sees, for Find; lower is the same with the title, in small letters.
	text, lower string
	// links are the addresses of other documents that it names, as they stand in it.
	links []string
}

// Heading is a section of a page: its anchor, its words, and 2 or 3.
type Heading struct {
	ID, Text string
	Level    int
}

// Group is a heading of the contents with the pages below it.
type Group struct {
	Title string
	Pages []Entry
}

// Entry is a page in the contents.
type Entry struct{ Name, Title string }

// Library is all pages.
type Library struct {
	pages  map[string]*Page
	groups []Group
}

// Open returns the documents that this program holds. They are read once.
var Open = sync.OnceValues(readLibrary)

// readLibrary renders all documents.
func readLibrary() (*Library, error) {
	l := &Library{pages: map[string]*Page{}}
	for _, source := range []struct {
		files   fs.FS
		pattern string
	}{{core.Files, "*.md"}, {core.Files, "adr/*.md"}, {sdk.Files, "*.md"}} {
		names, err := fs.Glob(source.files, source.pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			content, err := fs.ReadFile(source.files, file)
			if err != nil {
				return nil, err
			}
			page, err := renderPage(strings.TrimSuffix(file, ".md"), content)
			if err != nil {
				return nil, fmt.Errorf("render %s: %w", file, err)
			}
			l.pages[page.Name] = page
		}
	}
	index := l.pages[IndexName]
	if index == nil {
		return nil, fmt.Errorf("the documents have no page %s", IndexName)
	}
	if err := l.addDecisions(); err != nil {
		return nil, err
	}
	l.groups = l.readGroups(index)
	return l, nil
}

// addDecisions adds the page that lists the decisions.
func (l *Library) addDecisions() error {
	var b strings.Builder
	b.WriteString("# Decisions\n\nWhy Patchbay is built as it is, one page for each decision.\n\n")
	for _, name := range slices.Sorted(maps.Keys(l.pages)) {
		if strings.HasPrefix(name, DecisionsName+"/") {
			fmt.Fprintf(&b, "- [%s](%s.md)\n", l.pages[name].Title, name)
		}
	}
	page, err := renderPage(DecisionsName, []byte(b.String()))
	if err == nil {
		l.pages[DecisionsName] = page
	}
	return err
}

// readGroups returns the contents: the sections of the index with the pages that each names.
func (l *Library) readGroups(index *Page) (out []Group) {
	content, err := fs.ReadFile(core.Files, IndexName+".md")
	if err != nil {
		return nil
	}
	for section := range strings.SplitSeq("\n"+string(content), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		g := Group{Title: strings.TrimSpace(title)}
		for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
			name, _ := pageName(IndexName, m[2])
			if l.pages[name] != nil && !slices.Contains(g.Pages, Entry{name, m[1]}) {
				g.Pages = append(g.Pages, Entry{name, m[1]})
			}
		}
		if len(g.Pages) > 0 {
			if strings.HasPrefix(g.Title, "#") || g.Title == "" {
				g.Title = index.Title
			}
			out = append(out, g)
		}
	}
	return out
}

// Page returns the page of a name, or nil.
func (l *Library) Page(name string) *Page { return l.pages[name] }

// Groups returns the contents in the order of the index.
func (l *Library) Groups() []Group { return l.groups }

// Picture returns a picture by the name that pages use, such as architecture.svg, and its media type.
func (l *Library) Picture(name string) ([]byte, string, error) {
	types := map[string]string{".svg": "image/svg+xml", ".png": "image/png"}
	mediaType := types[path.Ext(name)]
	if mediaType == "" {
		return nil, "", fs.ErrNotExist
	}
	content, err := fs.ReadFile(core.Files, name)
	return content, mediaType, err
}
