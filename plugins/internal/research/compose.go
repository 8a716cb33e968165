package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

const (
	// maxQueries is how many searches one research makes.
	maxQueries = 4
	// readers is how many sources of one research are read at once.
	readers = 4
	// maxText is how much of a source is looked at, in bytes.
	maxText    = 1 << 20
	maxHeading = 200
)

// found is a source with the passages that will be quoted.
type found struct {
	Source
	score    float64
	passages []passage
}

// composeReport makes the report. It fails if no search could be made.
func composeReport(ctx context.Context, lib Library, t Task) (string, []Citation, error) {
	sources, err := findSources(ctx, lib, t)
	if err != nil {
		return "", nil, err
	}
	readAll(ctx, lib, sources)
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	pickPassages(sources, listTerms(t.Input), t.Effort.Passages)
	sources = slices.DeleteFunc(sources, func(f *found) bool { return len(f.passages) == 0 })
	citations := []Citation{}
	for _, f := range sources {
		citations = append(citations, Citation{Title: f.Title, URL: f.URL})
	}
	return writeReport(t, sources), citations, nil
}

// findSources makes the searches and merges what they find: what several find, and what is found first, comes first.
func findSources(ctx context.Context, lib Library, t Task) ([]*found, error) {
	byURL := map[string]*found{}
	var all []*found
	var problems []error
	queries := Queries(t.Input)
	for _, q := range queries {
		hits, err := lib.Find(ctx, Query{Text: q, Max: t.Effort.Sources, Include: t.Include, Exclude: t.Exclude})
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for rank, h := range hits {
			f := byURL[h.URL]
			if f == nil {
				f = &found{Source: h}
				byURL[h.URL] = f
				all = append(all, f)
			}
			f.score += 1 / float64(10+rank)
		}
	}
	if len(problems) == len(queries) {
		return nil, fmt.Errorf("search: %w", errors.Join(problems...))
	}
	slices.SortStableFunc(all, func(a, b *found) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), t.Effort.Sources)], nil
}

// Queries returns the searches that a research makes: the whole question and, if it has several sentences or lines, each
// of these.
func Queries(input string) []string {
	whole := strings.Join(strings.Fields(input), " ")
	out := []string{whole}
	parts := strings.FieldsFunc(input, func(r rune) bool { return strings.ContainsRune("?!;\n。？！；", r) })
	if len(parts) < 2 {
		return out
	}
	for _, p := range parts {
		p = strings.Join(strings.Fields(p), " ")
		if len(listTerms(p)) > 1 && !slices.Contains(out, p) && len(out) < maxQueries {
			out = append(out, p)
		}
	}
	return out
}

// readAll reads the sources. One that cannot be read is quoted from what the search showed.
func readAll(ctx context.Context, lib Library, sources []*found) {
	slots := make(chan struct{}, readers)
	var all sync.WaitGroup
	for _, f := range sources {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			text, err := readPage(ctx, lib, f.URL)
			if err != nil || strings.TrimSpace(text) == "" {
				text = f.Content
			}
			f.passages = splitPassages(text[:min(len(text), maxText)])
		})
	}
	all.Wait()
}

func readPage(ctx context.Context, lib Library, address string) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read source: panic: %v", p)
		}
	}()
	return lib.Read(ctx, address)
}

// writeReport makes the Markdown.
func writeReport(t Task, sources []*found) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", oneLine(t.Input))
	switch len(sources) {
	case 0:
		b.WriteString("No source was found for this question.\n")
		return b.String()
	case 1:
		b.WriteString("One source was found. These are its passages that fit the question best, in its own words.\n")
	default:
		fmt.Fprintf(&b, "%d sources were found. These are the passages that fit the question best, in the words of the sources.\n", len(sources))
	}
	for i, f := range sources {
		fmt.Fprintf(&b, "\n## %s\n", oneLine(f.headingText()))
		for _, p := range f.passages {
			fmt.Fprintf(&b, "\n%s\n>\n> [%d]\n", quoteText(p.text), i+1)
		}
	}
	b.WriteString("\n## Sources\n\n")
	for i, f := range sources {
		fmt.Fprintf(&b, "%d. [%s](<%s>)\n", i+1, oneLine(f.headingText()), escapeURL(f.URL))
	}
	return b.String()
}

func (f *found) headingText() string {
	if strings.TrimSpace(f.Title) == "" {
		return f.URL
	}
	return f.Title
}

// oneLine makes one line of a text that cannot end what it stands in.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"),
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > maxHeading {
		s = string(r[:maxHeading]) + "…"
	}
	return strings.NewReplacer("[", "(", "]", ")", "<", "‹", ">", "›", "`", "'").Replace(s)
}

// escapeURL makes an address that can stand between angle brackets.
func escapeURL(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\\", "%5C").Replace(s)
}

func quoteText(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	return strings.Join(lines, "\n")
}
