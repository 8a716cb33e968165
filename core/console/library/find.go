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
	// mostWords is how many words of a text count.
	mostWords = 8
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
	words := splitQuery(query)
	if len(words) == 0 {
		return nil
	}
	type scored struct {
		Found
		score int
	}
	var all []scored
	for _, p := range l.pages {
		f, score := p.matchWords(words)
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

// splitQuery returns the words of a text in small letters, at most mostWords.
func splitQuery(query string) []string {
	words := strings.Fields(strings.ToLower(query))
	return words[:min(len(words), mostWords)]
}

// matchWords returns the page as found by some words, and how well they fit; 0 for not at all.
func (p *Page) matchWords(words []string) (f Found, score int) {
	f = Found{Name: p.Name, Title: p.Title}
	defer func() {
		if score > 0 {
			f.Excerpt = p.cutExcerpt(words)
		}
	}()
	if hasAll(strings.ToLower(p.Title), words) {
		return f, 100
	}
	for _, h := range p.Headings {
		if hasAll(strings.ToLower(h.Text), words) {
			f.Title, f.Anchor = p.Title+": "+h.Text, "#"+h.ID
			return f, 50
		}
	}
	if !hasAll(p.lower, words) {
		return f, 0
	}
	for _, w := range words {
		score += min(strings.Count(p.lower, w), 10)
	}
	if strings.HasPrefix(p.Name, DecisionsName+"/") || p.Name == "CHANGELOG" || p.Name == "third-party-licences" {
		score = 1
	}
	return f, min(score, 40)
}

// hasAll reports whether each word stands in a text of small letters.
func hasAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// cutExcerpt returns the line of a page that has the most of some words, cut to a size.
func (p *Page) cutExcerpt(words []string) string {
	best, most := "", 0
	for line := range strings.SplitSeq(p.text, "\n") {
		n, lower := 0, strings.ToLower(line)
		for _, w := range words {
			if strings.Contains(lower, w) {
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
	return l.pages[name].cutExcerpt(splitQuery(query))
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
