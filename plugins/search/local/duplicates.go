package local

import (
	"hash/fnv"
	"math/bits"
	"net/url"
	"strings"
	"unicode"
)

// fingerprint tells documents with the same text. It is made of the words alone: spaces, punctuation and case are nothing.
type fingerprint struct {
	// Words is a hash of all words in order; 0 stands for a text without words.
	Words uint64 `json:"w,omitempty"`
	// Title is a hash of the title's words.
	Title uint64 `json:"t,omitempty"`
	// Similar is a SimHash of all groups of three words: texts that differ in little differ in few of its bits. It is 0 for
	// a text that is too short for that.
	Similar uint64 `json:"s,omitempty"`
}

const (
	// minSimilar is how many words a text has at least of which others can be variants; an ideograph is a word.
	minSimilar = 60
	// maxDifferent is in how many of the 64 bits variants differ at most: about one word in twenty is another.
	maxDifferent = 6
)

// newFingerprint makes the fingerprint of a document. One without words has none.
func newFingerprint(title, text string) fingerprint {
	all := fnv.New64a()
	var votes [64]int
	var before [2]uint64
	words := 0
	eachWord(text, func(word string) {
		_, _ = all.Write([]byte(word + "\n"))
		h := hashWord(word)
		group := mix(before[0]*3 + mix(before[1]*5+mix(h)))
		before[0], before[1] = before[1], h
		if words++; words < 3 {
			return
		}
		for i := range votes {
			votes[i] += int(group>>i&1)*2 - 1
		}
	})
	if words == 0 {
		return fingerprint{}
	}
	out := fingerprint{Words: all.Sum64()}
	if words < minSimilar {
		return out
	}
	eachWord(title, func(word string) { out.Title = mix(out.Title + hashWord(word)) })
	for i, v := range votes {
		if v > 0 {
			out.Similar |= 1 << i
		}
	}
	return out
}

func hashWord(word string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(word))
	return h.Sum64()
}

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// eachWord yields the words of a text in small letters; an ideograph is one.
func eachWord(text string, yield func(string)) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			yield(word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		switch {
		case isCJK(r):
			end()
			yield(string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
}

// similar reports whether one text is a variant of the other.
func (f fingerprint) similar(g fingerprint) bool {
	return f.Similar != 0 && g.Similar != 0 && bits.OnesCount64(f.Similar^g.Similar) <= maxDifferent
}

// variants finds documents that are variants of others.
type variants struct {
	byText  map[uint64]*listing
	byTitle map[uint64][]*listing
}

func newVariants() *variants {
	return &variants{byText: map[uint64]*listing{}, byTitle: map[uint64][]*listing{}}
}

// add adds l and returns it, unless it is a variant of a document that was added before: one with the same text, or with
// the same title and nearly the same text. Then it returns nil, or that document if the text is the same and l has the
// better address: the document takes the address and loses its passages, which are those of another address.
func (v *variants) add(l *listing) (kept *listing, fresh bool) {
	if same := v.byText[l.print.Words]; same != nil {
		if !betterAddress(l.address, same.address) {
			return nil, false
		}
		same.address, same.passages = l.address, nil
		return same, false
	}
	for _, other := range v.byTitle[l.print.Title] {
		if other.print.similar(l.print) {
			return nil, false
		}
	}
	if l.print.Words != 0 {
		v.byText[l.print.Words] = l
	}
	if l.print.Similar != 0 {
		v.byTitle[l.print.Title] = append(v.byTitle[l.print.Title], l)
	}
	return l, true
}

// betterAddress reports whether a is a better address of a document than b: without a query rather than with one, then
// encrypted rather than not, then the shorter one, then the first in order.
func betterAddress(a, b string) bool {
	rank := func(address string) (queries, plain, length int) {
		u, err := url.Parse(address)
		if err != nil {
			return 1, 1, len(address)
		}
		if u.RawQuery != "" {
			queries = 1
		}
		if u.Scheme == "http" {
			plain = 1
		}
		return queries, plain, len(address)
	}
	aq, ap, al := rank(a)
	bq, bp, bl := rank(b)
	switch {
	case aq != bq:
		return aq < bq
	case ap != bp:
		return ap < bp
	case al != bl:
		return al < bl
	}
	return a < b
}
