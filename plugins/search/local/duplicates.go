package local

import (
	"math"
	"math/bits"
	"net/url"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
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
	all := uint64(fnvOffset)
	var v votes
	var before [2]uint64
	words := 0
	eachWord(text, func(h uint64) {
		all = (all ^ h) * fnvPrime
		group := mixBits(before[0]*3 + mixBits(before[1]*5+mixBits(h)))
		before[0], before[1] = before[1], h
		if words++; words >= 3 {
			v.addBits(group)
		}
	})
	if words == 0 {
		return fingerprint{}
	}
	out := fingerprint{Words: all}
	if words < minSimilar {
		return out
	}
	eachWord(title, func(h uint64) { out.Title = mixBits(out.Title + h) })
	out.Similar = v.takeMajority()
	return out
}

// votes counts, for each of 64 bits, how many words had it set. Eight bits are counted at once in the bytes of a number, which are
// moved to counts before they overflow.
type votes struct {
	counts [64]int
	bytes  [8]uint64
	// recent is how many words bytes has, total how many there were.
	recent, total int
}

// spreadBits has the bits of a byte in the bytes of a number.
var spreadBits = func() (out [256]uint64) {
	for b := range out {
		for i := range 8 {
			out[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return out
}()

func (v *votes) addBits(bits uint64) {
	for i := range v.bytes {
		v.bytes[i] += spreadBits[byte(bits>>(8*i))]
	}
	v.total++
	if v.recent++; v.recent == math.MaxUint8 {
		v.flushCounts()
	}
}

func (v *votes) flushCounts() {
	for i, b := range v.bytes {
		for j := range 8 {
			v.counts[8*i+j] += int(byte(b >> (8 * j)))
		}
		v.bytes[i] = 0
	}
	v.recent = 0
}

// takeMajority has the bits that more than half of the words had.
func (v *votes) takeMajority() (out uint64) {
	v.flushCounts()
	for i, n := range v.counts {
		if 2*n > v.total {
			out |= 1 << i
		}
	}
	return out
}

// The numbers of the hash FNV-1a.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mixBits spreads the bits of a hash.
func mixBits(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// eachWord yields hashes of the words of a text in small letters; an ideograph is one.
func eachWord(text string, yield func(uint64)) {
	h := uint64(fnvOffset)
	end := func() {
		if h != fnvOffset {
			yield(h)
		}
		h = fnvOffset
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			// C, C# and C++ are different words.
			if sign := (r == '#' || r == '+') && h != fnvOffset; !isPlain(r) && !sign {
				end()
				continue
			}
			if 'A' <= r && r <= 'Z' {
				r |= 0x20
			}
		case terms.IsIdeograph(r):
			end()
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			r = unicode.ToLower(r)
		default:
			end()
			continue
		}
		h = (h ^ uint64(r)) * fnvPrime
		if terms.IsIdeograph(r) {
			end()
		}
	}
	end()
}

// isPlain reports whether a character of ASCII is a letter or a digit.
func isPlain(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' }

// isSimilar reports whether one text is a variant of the other.
func (f fingerprint) isSimilar(g fingerprint) bool {
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

// addListing adds l and returns it, unless it is a variant of a document that was added before: one with the same text, or with
// the same title and nearly the same text. Then it returns nil, or that document if the text is the same and l has the
// better address: the document takes the address and loses its parts, which are those of another address.
func (v *variants) addListing(l *listing) (kept *listing, fresh bool) {
	if same := v.byText[l.print.Words]; same != nil {
		if !betterAddress(l.address, same.address) {
			return nil, false
		}
		same.address, same.parts = l.address, nil
		return same, false
	}
	for _, other := range v.byTitle[l.print.Title] {
		if other.print.isSimilar(l.print) {
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
