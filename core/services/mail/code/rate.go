package code

import (
	"regexp"
	"sort"
	"strings"
)

// part is a part of a message with the words and the forms in it.
type part struct {
	source      Source
	text, lower string
	words       []foundWord
	forms       []form
	// subjectSays reports whether the subject names a code.
	subjectSays bool
	// hasCodeWord and hasContext report whether the part names a code, and whether it is about signing in or confirming.
	hasCodeWord, hasContext bool
}

// newPart returns the part for a text. The words of one without a form of a code are looked for in the subject alone.
func newPart(text string, source Source, subjectSays bool) *part {
	p := &part{source: source, text: normalizeText(text), subjectSays: subjectSays}
	p.forms = findForms(p.text)
	if len(p.forms) > 0 || source == Subject {
		p.lower = toLower(p.text)
		p.words = findWords(p.lower)
	}
	for _, w := range p.words {
		p.hasCodeWord = p.hasCodeWord || w.kind == codeWord
		p.hasContext = p.hasContext || w.kind == contextWord
	}
	return p
}

// How far from a code the words that name it may stand, in bytes.
const (
	sentence  = 160
	paragraph = 400
	phrase    = 60
)

// rateForm returns how likely a form is the code, as exactly as it must be to know whether that is less than least.
func (p *part) rateForm(f form, least float64) float64 {
	before, other, context := p.wordsBefore(f.start)
	after := p.wordAfter(f.end)
	rating := 0.0
	alone := p.isAlone(f.span)
	switch gap := p.textBetween(before, f.start); {
	case before.end > 0 && isDirect(gap):
		rating = 0.97
	case other.end > before.end && f.start-other.end < sentence && (!alone || before.end == 0 && f.start-other.end < phrase):
		// The nearest word names another number.
		rating = 0.1
		if after.end > 0 && p.isNamedAfter(f.end, after) {
			rating = 0.85
		}
	case after.end > 0 && p.isNamedAfter(f.end, after):
		rating = 0.92
	case p.isNumberFor(f.end):
		rating = 0.8
	case before.end > 0 && isJoined(gap) && len(gap) < sentence:
		rating = 0.85
	case alone && before.end > 0 && len(gap) < paragraph:
		rating = 0.85
	case alone && after.end > 0 && after.start-f.end < sentence:
		rating = 0.8
	case before.end > 0 && len(gap) < phrase && !strings.ContainsAny(gap, ".\n。") && !p.isCountOfWord(f.end):
		rating = 0.62
	case alone && p.subjectSays:
		rating = 0.75
	case p.source == Subject && (p.hasCodeWord || f.start == 0 && p.isHeading(f.end)):
		rating = 0.7
	case alone && (context || p.contextAfter(f.end)):
		rating = 0.65
	case context && isAsked(p.lower[max(0, f.start-phrase):f.start]):
		rating = 0.65
	case p.subjectSays || p.hasCodeWord || context:
		rating = 0.3
	}
	if rating < least {
		return rating
	}
	return p.lowerRating(f, rating, alone)
}

// lowerRating lowers a rating for what a number looks like.
func (p *part) lowerRating(f form, rating float64, alone bool) float64 {
	direct := rating > 0.9
	switch {
	case f.digits == 0 && (!direct && !alone || rating < 0.8 || !p.looksDrawn(f) || !p.isClosed(f.span)):
		return 0
	case rating > 0.3 && !p.hasContext && !p.subjectSays &&
		sale.MatchString(p.lower[max(0, f.start-sentence):min(len(p.lower), f.end+sentence)]):
		return min(rating, 0.3)
	case p.isCounted(f.span, direct):
		return 0.1
	case f.letters == 0 && p.isPlace(f) && !(alone && rating > 0.6) && !direct:
		return 0.1
	case f.letters == 0 && f.digits == 4 && !direct && isYear(f.value, alone):
		return min(rating, 0.3)
	case f.letters > 0 && f.digits > 0 && strings.ToUpper(f.value) != f.value && rating < 0.9:
		return min(rating, 0.5)
	}
	return rating
}

// looksDrawn reports whether a word of letters looks drawn by lot.
func (p *part) looksDrawn(f form) bool {
	return hasFewVowels(f.value) || f.letters >= 5 && strings.ToUpper(f.value) == f.value &&
		strings.ToUpper(p.lineAround(f.span)) != p.lineAround(f.span)
}

// isClosed reports whether something ends a line or a sentence, or stands in quotes, after what announces it, or in brackets with that.
func (p *part) isClosed(s span) bool {
	after := strings.TrimLeft(p.text[s.end:], " \t")
	if strings.ContainsRune(")）]】", firstRune(after)) {
		return strings.ContainsAny(p.text[max(0, s.start-20):s.start], "(（[【")
	}
	if after != "" && !strings.ContainsRune(".\n\"”,(", firstRune(after)) {
		return false
	}
	before := strings.TrimRight(p.text[:s.start], " \t")
	return before == "" || strings.ContainsRune(":：\n\"“", lastRune(before)) || isJoined(toLower(before[max(0, len(before)-20):]))
}

// wordsBefore returns the last word before i that names a code and the last one that names another number, and whether a word of the
// context is near.
func (p *part) wordsBefore(i int) (named, other foundWord, context bool) {
	n := sort.Search(len(p.words), func(k int) bool { return p.words[k].end > i })
	for k := n - 1; k >= 0 && i-p.words[k].end < paragraph; k-- {
		switch w := p.words[k]; {
		case w.kind == codeWord && named.end == 0:
			named = w
		case w.kind == otherWord && other.end == 0 && !strings.ContainsAny(p.text[w.end:i], "\n0123456789"):
			other = w
		case w.kind == contextWord:
			context = true
		}
	}
	return named, other, context
}

// wordAfter returns the next word after i if it names a code, in the same sentence or paragraph.
func (p *part) wordAfter(i int) foundWord {
	n := sort.Search(len(p.words), func(k int) bool { return p.words[k].start >= i })
	for ; n < len(p.words) && p.words[n].start-i < sentence; n++ {
		if p.words[n].kind != contextWord {
			break
		}
	}
	if n < len(p.words) && p.words[n].kind == codeWord && p.words[n].start-i < sentence {
		return p.words[n]
	}
	return foundWord{}
}

// contextAfter reports whether a word of the context stands near after i.
func (p *part) contextAfter(i int) bool {
	n := sort.Search(len(p.words), func(k int) bool { return p.words[k].start >= i })
	return n < len(p.words) && p.words[n].kind == contextWord && p.words[n].start-i < sentence
}

// textBetween returns what stands between a word, if there is one, and a place.
func (p *part) textBetween(before foundWord, start int) string {
	if before.end == 0 {
		return ""
	}
	return p.lower[before.end:start]
}

// marks separate a code from what names it.
const marks = " \t\n\"'“”„«»*:：=-–—()[]【】「」>|\u3000"

// isDirect reports whether nothing but marks and a word such as "is" stands in a gap.
func isDirect(gap string) bool {
	if len(gap) > phrase {
		return false
	}
	if strings.ContainsAny(gap, ":：\n") {
		gap = strings.TrimRight(gap, "#")
	}
	gap = strings.Trim(gap, marks)
	return gap == "" || joiners[gap]
}

// isJoined reports whether a gap ends with a colon or a word such as "is".
func isJoined(gap string) bool {
	trimmed := strings.TrimRight(gap, " \t\"'“„«*\n")
	if strings.HasSuffix(trimmed, ":") || strings.HasSuffix(trimmed, "：") {
		return true
	}
	fields := strings.Fields(trimmed)
	return len(fields) > 0 && joiners[fields[len(fields)-1]]
}

var (
	// namedAfter matches what stands between a code and the words that name it.
	namedAfter = regexp.MustCompile(`^[ \t\n"”*—–:,-]{0,4}(?:is|est|ist|es|è|é|là|adalah|это|to|jest|为|為|是|は|가|이|as)?[ \t\n-]{0,3}(?:(?:your|the|a|my|votre|le|ihr|dein|su|tu|el|o|seu|ваш|il|tuo|twój|je|uw|de|您的|你的|あなたの)[ \t\n]{1,3})?(?:[^\n.,;0-9]|\.[^ \n.,;0-9]){0,40}$`)
	// calledNumber matches words behind a code that call it a number or digits.
	calledNumber = regexp.MustCompile(`^["”*]? ?(?:is|est|ist|es|è|é|это|to|jest|为|為|是|は|가|이)? ?(?:the|your|die|ihre|le|votre|el|su|o|seu|il|tuo|het|je|は|です)? ?` +
		`(?:number|digits|figures|zahl|nummer|ziffern|numéro|chiffres|número|dígitos|numero|cifre|getal|cijfers|номер|цифры|numara|rakam|numer|liczba|cyfry|数字|數字|号码|號碼|番号|번호|숫자|số)`)
	// sale matches words of an offer.
	sale = regexp.MustCompile(`promo|coupon|discount|voucher|checkout|% off|gutschein|rabatt|descuento|desconto|промокод|скидк|sconto|indirim|优惠|優惠|折扣|クーポン|割引|할인|쿠폰|giảm giá|remise|réduction|korting|cupom|cupón`)
	// asked matches a request to type something.
	asked = regexp.MustCompile(`(?:enter|type|use|input|输入|輸入|entrez|saisissez|eingeben|introduce|ingresa|digite|inserisci|введите|wpisz|girin)[^.;0-9]{0,30}$`)
	// counted matches a unit after a number.
	counted = regexp.MustCompile(`^[  ]?(?:kb|mb|gb|am|pm|usd|eur|chf|gbp|cny|pln|try|rub|zł|tl|руб|hours?|minutes?|days?|points?|items?|users?|people|comments?|uhr|stunden|%|€|\$|£|¥|₽|₺|₩|₫|円|元|원|年|月|日|分|秒|小时|点|點|時|년|월|件|个|個|号线|đ)(?:[^a-z]|$)`)
	// streets matches the rest of an address after a house number.
	streets = regexp.MustCompile(`^ (?:[A-Z][\w.'-]*,? ){1,3}?(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Square|Parkway|Pkwy|Highway|Hwy)\b`)
	// state matches what stands before a postcode in the USA.
	state = regexp.MustCompile(`\b[A-Z]{2},? $`)
	// town matches the name of a town after a postcode.
	town = regexp.MustCompile(`^ (?:\p{Lu}{2} )?\p{Lu}\p{Ll}{2}`)
)

// isNamedAfter reports whether the word after a code names it.
func (p *part) isNamedAfter(end int, after foundWord) bool {
	return after.start-end <= phrase && namedAfter.MatchString(p.lower[end:after.start])
}

// isNumberFor reports whether what follows calls it the number, or the digits, with which somebody signs in or confirms.
func (p *part) isNumberFor(end int) bool {
	return p.contextAfter(end) && calledNumber.MatchString(p.lower[end:min(len(p.lower), end+phrase)])
}

// isHeading reports whether a dash or a colon and words of the context follow.
func (p *part) isHeading(end int) bool {
	after := strings.TrimLeft(p.text[end:], " ")
	return strings.IndexAny(after, "-–—:|：") == 0 && p.contextAfter(end)
}

// isYear reports whether four digits are likely those of a year. What stands alone may be one of few years.
func isYear(digits string, alone bool) bool {
	if alone {
		return digits >= "1970" && digits <= "2035"
	}
	return strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20")
}

func isAsked(before string) bool { return asked.MatchString(before) }

// isCounted reports whether a mark before a number or a unit after it makes it an amount, a time or the number of something. A code that is
// named may have a number sign.
func (p *part) isCounted(s span, named bool) bool {
	switch r := lastRune(strings.TrimRight(p.text[max(0, s.start-8):s.start], " ")); r {
	case '$', '€', '£', '¥', '￥', '₽', '₩', '+', '№', '〒', '°', '©':
		return true
	case '#':
		return s.start >= 2 && p.text[s.start-1] == '#' && !named && !strings.Contains(wordAround(p.text, s), "@") &&
			!strings.Contains(p.lineAround(s), "@")
	}
	return counted.MatchString(p.lower[s.end:min(len(p.lower), s.end+16)])
}

// isCountOfWord reports whether a word in lower case follows, of which a number may be the count.
func (p *part) isCountOfWord(end int) bool {
	return end+1 < len(p.text) && p.text[end] == ' ' && p.text[end+1] >= 'a' && p.text[end+1] <= 'z'
}

// isPlace reports whether a number looks like that of a house or a postcode.
func (p *part) isPlace(f form) bool {
	after := p.text[f.end:min(len(p.text), f.end+60)]
	return streets.MatchString(after) || f.digits == 5 && (state.MatchString(p.text[max(0, f.start-5):f.start]) || town.MatchString(after)) ||
		f.digits == 4 && town.MatchString(after)
}

// isAlone reports whether nothing else stands in the line.
func (p *part) isAlone(s span) bool {
	return strings.Trim(p.lineAround(s), marks+".,!。") == strings.Trim(lastLine(p.text[s.start:s.end]), marks)
}

// lastLine returns a text as it is, or "" in the end of several lines.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// lineAround returns the line in which something stands, no more than maxEndless bytes of it to each side.
func (p *part) lineAround(s span) string {
	start, end := max(0, s.start-maxEndless), min(len(p.text), s.end+maxEndless)
	if i := strings.LastIndexByte(p.text[start:s.start], '\n'); i >= 0 {
		start += i + 1
	}
	if i := strings.IndexByte(p.text[s.end:end], '\n'); i >= 0 {
		end = s.end + i
	}
	return p.text[start:end]
}
