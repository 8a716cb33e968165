package library

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

const (
	// mostFound is how many pages Find returns at most.
	mostFound = 20
	// excerptSize is about how many bytes an excerpt has.
	excerptSize = 200
)

// Found is a page that a text finds.
type Found struct {
	Name, Title, Excerpt string
	// Anchor is the section, such as #tokens; "" for the page.
	Anchor string
}

// Find returns the pages that have each word of a text, those first that have them in the title, then in a heading.
func (l *Library) Find(query string) []Found {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	type scored struct {
		Found
		score int
	}
	var all []scored
	for _, p := range l.pages {
		f, score := p.match(words)
		if score > 0 {
			all = append(all, scored{f, score})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.Name, b.Name))
	})
	var out []Found
	for _, s := range all[:min(len(all), mostFound)] {
		out = append(out, s.Found)
	}
	return out
}

// match returns the page as found by some words, and how well they fit; 0 for not at all.
func (p *Page) match(words []string) (Found, int) {
	f := Found{Name: p.Name, Title: p.Title, Excerpt: excerpt(p.text, words)}
	if hasAll(p.Title, words) {
		return f, 100
	}
	for _, h := range p.Headings {
		if hasAll(h.Text, words) {
			f.Title, f.Anchor = p.Title+": "+h.Text, "#"+h.ID
			return f, 50
		}
	}
	if !hasAll(p.Title+"\n"+p.text, words) {
		return f, 0
	}
	score := 0
	for _, w := range words {
		score += min(strings.Count(strings.ToLower(p.text), w), 10)
	}
	if strings.HasPrefix(p.Name, DecisionsName+"/") || p.Name == "CHANGELOG" || p.Name == "third-party-licences" {
		score = 1
	}
	return f, min(score, 40)
}

// hasAll reports whether each word stands in a text, in any case.
func hasAll(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// excerpt returns the line of a text that has the most of some words, cut to a size.
func excerpt(text string, words []string) string {
	best, most := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		n := 0
		for _, w := range words {
			if strings.Contains(strings.ToLower(line), w) {
				n++
			}
		}
		if n > most {
			best, most = line, n
		}
	}
	if len(best) > excerptSize {
		best = strings.ToValidUTF8(best[:excerptSize], "") + " …"
	}
	return best
}

// Excerpt returns the line of a page that has the most words of a text; "" for none.
func (l *Library) Excerpt(name, query string) string {
	return excerpt(l.pages[name].text, strings.Fields(strings.ToLower(query)))
}

// Locate returns the name of the page that a document of the search service is: one of a folder docs with the title of the page. It
// returns "" for another document.
func (l *Library) Locate(address, title string) string {
	file, isFile := strings.CutPrefix(address, "file:")
	if !isFile {
		return ""
	}
	file, _, _ = strings.Cut(file, "#")
	name := strings.TrimSuffix(path.Base(file), ".md")
	if path.Base(path.Dir(file)) == DecisionsName {
		name = DecisionsName + "/" + name
	}
	if p := l.pages[name]; p != nil && strings.HasPrefix(title, p.Title) {
		return name
	}
	return ""
}
