package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxRunes bounds what is looked at of one text; no place shows as many.
const maxRunes = 400

const (
	joiner       = '\u200d'
	firstFlag    = '\U0001F1E6'
	lastFlag     = '\U0001F1FF'
	firstTone    = '\U0001F3FB'
	lastTone     = '\U0001F3FF'
	firstTag     = '\U000E0020'
	lastTag      = '\U000E007F'
	firstHangulV = '\u1160'
	lastHangulT  = '\u11ff'
)

// splitClusters returns what people take for characters: a letter with its accents, an emoji with all that it is put together of.
// White space becomes single spaces; what cannot be seen is dropped.
func splitClusters(s string) (out [][]rune) {
	var joined, flag bool
	for _, r := range normalizeText(s) {
		last := len(out) - 1
		switch {
		case r == joiner:
			joined = last >= 0
			continue
		case last >= 0 && (joined || extendsCluster(r) || flag && isFlag(r)):
			out[last] = append(out[last], r)
			flag = false
		default:
			out = append(out, []rune{r})
			flag = isFlag(r)
		}
		joined = false
	}
	return out
}

// normalizeText composes accents where there is a letter for it, and bounds the length.
func normalizeText(s string) string {
	if utf8.RuneCountInString(s) > maxRunes {
		s = string([]rune(s)[:maxRunes])
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == joiner:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && !isTag(r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(s, string(utf8.RuneError))))
	return strings.Join(strings.Fields(s), " ")
}

func isFlag(r rune) bool { return firstFlag <= r && r <= lastFlag }

func isTag(r rune) bool { return firstTag <= r && r <= lastTag }

// extendsCluster reports whether a character belongs to the one before.
func extendsCluster(r rune) bool {
	return unicode.Is(unicode.M, r) || firstTone <= r && r <= lastTone || isTag(r) || firstHangulV <= r && r <= lastHangulT
}

// plainLetter returns the letter that people write in place of one that has no decomposition.
func plainLetter(r rune) (rune, bool) {
	to, ok := map[rune]rune{'ł': 'l', 'Ł': 'L', 'đ': 'd', 'Đ': 'D', 'ħ': 'h', 'Ħ': 'H', 'ı': 'i', 'ŧ': 't', 'Ŧ': 'T', 'ŋ': 'n',
		'Ŋ': 'N', 'ĸ': 'k', 'ſ': 's'}[r]
	return to, ok
}

// substituteFor returns what can be drawn for a character that the font lacks: the letter without its accent, or the one in its place.
func substituteFor(r rune, has func(rune) bool) (rune, bool) {
	if to, ok := plainLetter(r); ok && has(to) {
		return to, true
	}
	for _, to := range norm.NFKD.String(string(r)) {
		return to, to != r && has(to)
	}
	return 0, false
}
