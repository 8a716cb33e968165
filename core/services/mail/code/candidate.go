package code

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of the rules, in bytes of text.
const (
	minLength, maxLength = 4, 8
	maxGap               = 24
	nearby               = 40
)

// The scores of the rules. A candidate is accepted from minScore on, if it leads the next one by minLead.
const (
	digitsScore   = 120
	mixedScore    = 95
	subjectScore  = 40
	keywordScore  = 120
	contextScore  = 40
	sixScore      = 15
	yearScore     = -160
	unitScore     = -60
	negativeScore = -80
	minScore      = 150
	minLead       = 25
)

// keywords name a verification code by themselves.
var keywords = []string{
	"verification code", "security code", "passcode", "one-time code", "one time code", "one-time password", "one time password",
	"login code", "sign-in code", "confirm code", "confirmation code", "authentication code", "otp",
	"验证码", "校验码", "动态码", "认证码", "登入码", "登录码", "驗證碼",
}

// contextWords make it likely that a number beside them is a code.
var contextWords = []string{
	"verify", "verification", "authenticate", "authentication", "your code", "code is", "code:", "enter the code", "enter this code",
	"log in", "login", "sign in", "sign-in", "one-time", "two-factor", "2fa", "confirm your", "验证", "登录", "登入", "動態", "动态", "验证您",
}

// negativeWords name other numbers.
var negativeWords = []string{
	"promo", "coupon", "discount", "voucher", "zip code", "postal code", "area code", "error code", "status code", "code review",
	"order", "invoice", "tracking", "build", "ticket", "version", "port", "优惠",
}

// units after a number make it a size or a time of day.
var units = []string{"kb", "mb", "gb", "am", "pm"}

// candidate is a word that has the form of a code.
type candidate struct {
	span
	value  string
	digits bool
}

// findCandidates returns the words that have the form of a code and are no part of an address or a longer identifier.
func (p *part) findCandidates() (found []candidate) {
	for i := 0; i < len(p.text); {
		if !isAlphanumeric(p.text[i]) {
			i++
			continue
		}
		start := i
		digits, letters := 0, 0
		for ; i < len(p.text) && isAlphanumeric(p.text[i]); i++ {
			if isDigit(p.text[i]) {
				digits++
			} else {
				letters++
			}
		}
		n := i - start
		if n < minLength || n > maxLength || digits == 0 || p.isPartOfMore(span{start, i}) {
			continue
		}
		found = append(found, candidate{span{start, i}, p.text[start:i], letters == 0})
	}
	return found
}

// isPartOfMore reports whether the word at s belongs to an address, a link or an identifier with several parts.
func (p *part) isPartOfMore(s span) bool {
	if joins(p.text, s.start-1, -1) && !p.hasShortPrefix(s.start) || joins(p.text, s.end, 1) {
		return true
	}
	around := p.wordAround(s)
	return strings.ContainsAny(around, "@") && !strings.HasPrefix(around, "@") || strings.Contains(around, "://") || strings.HasPrefix(around, "www.")
}

// joins reports whether the byte at i is a mark that joins two words, with a letter or digit on its other side.
func joins(s string, i, step int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	switch s[i] {
	case '-', '_', '.', '/', ':', '+', '=', '&', '%', '~', '\\':
		other := i + step
		return other >= 0 && other < len(s) && isAlphanumeric(s[other])
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	if step < 0 {
		r, _ = utf8.DecodeLastRuneInString(s[:i+1])
	}
	// A letter of another alphabetic script is part of the word; Chinese, Japanese and Korean have no spaces.
	return r >= utf8.RuneSelf && unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// hasShortPrefix reports whether a single letter and a hyphen stand before start, as in "G-123456".
func (p *part) hasShortPrefix(start int) bool {
	return start >= 2 && p.text[start-1] == '-' && isLetter(p.text[start-2]) && (start == 2 || !isAlphanumeric(p.text[start-3]) && p.text[start-3] != '-')
}

// wordAround returns the text around s up to the next space, at most nearby bytes to each side for what is one endless word.
func (p *part) wordAround(s span) string {
	start, end := s.start, s.end
	for start > 0 && s.start-start < 10*nearby && !isSpace(p.text[start-1]) {
		start--
	}
	for end < len(p.text) && end-s.end < 10*nearby && !isSpace(p.text[end]) {
		end++
	}
	return p.lower[start:end]
}

func isSpace(c byte) bool {
	return c <= ' ' || c == '<' || c == '>' || c == '"' || c == '(' || c == ')'
}

// bestOf returns the candidate with the highest score, if it is high enough and leads the others.
func (p *part) bestOf(found []candidate, source Source) (string, bool) {
	if source == Subject && len(p.context) == 0 && len(p.keywords) == 0 {
		return "", false
	}
	scores := map[string]int{}
	for _, c := range found {
		if old, ok := scores[c.value]; !ok || old < p.score(c, source) {
			scores[c.value] = p.score(c, source)
		}
	}
	best, value, next := 0, "", 0
	for v, n := range scores {
		switch {
		case n > best || n == best && v < value:
			best, value, next = n, v, best
		case n > next:
			next = n
		}
	}
	return value, best >= minScore && best-next >= minLead
}

// score rates a candidate.
func (p *part) score(c candidate, source Source) int {
	n := mixedScore
	if c.digits {
		n = digitsScore
	}
	if source == Subject {
		n += subjectScore
	}
	keyword := hasNear(p.keywords, c.span, nearby)
	if keyword {
		n += keywordScore
	}
	if hasNear(p.context, c.span, nearby) {
		n += contextScore
	}
	if c.digits && len(c.value) == 6 {
		n += sixScore
	}
	if !keyword && c.digits && len(c.value) == 4 && (c.value[:2] == "19" || c.value[:2] == "20") {
		n += yearScore
	}
	if !keyword && hasNear(p.negative, c.span, maxGap) {
		n += negativeScore
	}
	if p.hasUnit(c.span) {
		n += unitScore
	}
	return n
}

// hasNear reports whether one of the words lies within the given number of bytes of s.
func hasNear(words []span, s span, distance int) bool {
	for _, w := range words {
		if w.start < s.end+distance && s.start < w.end+distance {
			return true
		}
	}
	return false
}

// hasUnit reports whether a unit follows s.
func (p *part) hasUnit(s span) bool {
	rest := strings.TrimLeft(p.lower[s.end:min(len(p.lower), s.end+4)], " ")
	for _, u := range units {
		if strings.HasPrefix(rest, u) && (len(rest) == len(u) || !isAlphanumeric(rest[len(u)])) {
			return true
		}
	}
	return false
}
