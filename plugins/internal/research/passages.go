package research

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// passageRunes is how long a passage gets before the next one starts; shortRunes is what is too short to be one.
	passageRunes = 600
	shortRunes   = 40
)

// passage is a part of a source.
type passage struct {
	text  string
	terms map[string]int
	size  int
	at    int
	score float64
}

var (
	images   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`) })
	links    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`) })
	headings = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#{1,6} +`) })
)

// splitPassages cuts a text at empty lines into passages, without the marks of images, links and headings.
func splitPassages(text string) []passage {
	var out []passage
	var buf []string
	runes := 0
	flush := func() {
		if runes >= shortRunes {
			out = append(out, newPassage(strings.Join(buf, "\n"), len(out)))
		}
		buf, runes = nil, 0
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	for _, l := range strings.Split(text, "\n") {
		l = headings().ReplaceAllString(strings.TrimRight(links().ReplaceAllString(images().ReplaceAllString(l, ""), "$1"), " \t\r"), "")
		if strings.TrimSpace(l) == "" {
			if runes >= passageRunes/2 {
				flush()
			}
			continue
		}
		for _, part := range cutLine(l) {
			if n := utf8.RuneCountInString(part); runes > 0 && runes+n > passageRunes {
				flush()
			}
			buf = append(buf, part)
			runes += utf8.RuneCountInString(part)
		}
	}
	flush()
	return out
}

// cutLine breaks a line that is too long at ends of sentences, or wherever it must.
func cutLine(l string) []string {
	var out []string
	for utf8.RuneCountInString(l) > passageRunes {
		r := []rune(l)
		at := passageRunes
		for i := passageRunes - 1; i > passageRunes/2; i-- {
			if strings.ContainsRune(".。！？!?；", r[i]) {
				at = i + 1
				break
			}
		}
		out = append(out, string(r[:at]))
		l = strings.TrimLeft(string(r[at:]), " ")
	}
	return append(out, l)
}

func newPassage(text string, at int) passage {
	p := passage{text: text, terms: map[string]int{}, at: at}
	forEachWord(text, func(term string) {
		p.terms[term]++
		p.size++
	})
	return p
}

// common are words that say little about a question.
const common = " a about an and are as at be by can do does for from has have how i in is it its may of on or our should that the their " +
	"there these this to was we were what when where which who why will with you your "

// listTerms are the distinct words of a question that matter; all of them if none does.
func listTerms(input string) []string {
	var all, out []string
	forEachWord(input, func(term string) {
		if slices.Contains(all, term) {
			return
		}
		all = append(all, term)
		if !strings.Contains(common, " "+term+" ") {
			out = append(out, term)
		}
	})
	if len(out) == 0 {
		return all
	}
	return out
}

// forEachWord yields the words of a text in lower case, and of scripts without spaces the pairs of neighbours.
func forEachWord(text string, yield func(string)) {
	var word []rune
	var before rune
	end := func() {
		if len(word) > 0 {
			yield(stemWord(string(word)))
		}
		word = word[:0]
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			end()
			if before != 0 {
				yield(string([]rune{before, r}))
			}
			before = r
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word = append(word, unicode.ToLower(r))
		default:
			end()
		}
		before = 0
	}
	end()
}

// stemWord takes the plural off an English word, roughly.
func stemWord(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// pickPassages leaves the best passages of each source, in their order. A word counts the more the fewer passages hold it, and
// the less the longer the passage is (BM25).
func pickPassages(sources []*found, terms []string, keep int) {
	const k, b = 1.2, 0.6
	holds, total, size := map[string]int{}, 0, 0
	for _, f := range sources {
		for _, p := range f.passages {
			total++
			size += p.size
			for _, t := range terms {
				if p.terms[t] > 0 {
					holds[t]++
				}
			}
		}
	}
	mean := float64(size)/float64(max(1, total)) + 1
	for _, f := range sources {
		for i := range f.passages {
			p := &f.passages[i]
			for _, t := range terms {
				n := float64(p.terms[t])
				weight := math.Log(1 + (float64(total-holds[t])+0.5)/(float64(holds[t])+0.5))
				p.score += weight * n * (k + 1) / (n + k*(1-b+b*float64(p.size)/mean))
			}
		}
		f.passages = bestPassages(f.passages, keep)
	}
}

func bestPassages(all []passage, keep int) []passage {
	all = slices.DeleteFunc(all, func(p passage) bool { return p.score <= 0 })
	slices.SortStableFunc(all, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	all = all[:min(len(all), keep)]
	slices.SortFunc(all, func(a, b passage) int { return cmp.Compare(a.at, b.at) })
	return all
}
