package terms

import (
	"strings"
)

// emitter passes the terms of one text on.
type emitter struct {
	*Analyzer
	text     string
	position int
	yield    func(Term)
}

// Each yields the terms of a text and returns how many words and ideographs it has, and how many of them are ideographs.
func (a *Analyzer) Each(text string, yield func(Term)) (words, ideographs int) {
	e := emitter{Analyzer: a, text: text, yield: yield}
	s := scanner{text: text}
	before, pairStart := "", 0
	for s.nextWord() {
		if !s.ideograph {
			before = ""
			e.emitCompound(&s)
			continue
		}
		ideographs++
		e.position++
		if a.wanted != nil && !a.wanted.ideographs[simplifyRune(s.rune)] && s.rune < firstHalfWidth {
			before = ""
			continue
		}
		folded := foldIdeograph(s.rune)
		if before != "" && s.start == s.gap {
			pair := before + folded
			yield(Term{Text: pair, Surface: pair, Kind: Pair, Position: e.position - 2, Start: pairStart, End: s.end})
		}
		yield(Term{Text: folded, Surface: folded, Kind: Ideograph, Position: e.position - 1, Start: s.start, End: s.end})
		before, pairStart = folded, s.start
	}
	return e.position, ideographs
}

// emitCompound yields the terms of words that are connected: a-b, a_b, 1.2.
func (e *emitter) emitCompound(s *scanner) {
	words := append(e.words[:0], s.currentSpan())
	for s.isConnected() {
		words = append(words, s.currentSpan())
	}
	e.words = words
	for i := 0; i < len(words); {
		if n := versionLength(words[i:]); n > 1 {
			e.emitVersions(words[i : i+n])
			i += n
			continue
		}
		if n := joinedLength(words[i:]); n > 1 {
			e.emitJoined(words[i : i+n])
		}
		e.emitWord(words[i])
		i++
	}
}

// versionLength returns how many numbers with dots between them words begin with.
func versionLength(words []span) int {
	n := 0
	for n < len(words) && words[n].digits && (n == 0 || words[n].before == '.') {
		n++
	}
	return n
}

// joinedLength returns how many words begin a compound that is joined; 0 within one.
func joinedLength(words []span) int {
	if isJoint(words[0].before) {
		return 0
	}
	n := 1
	for n < len(words) && isJoint(words[n].before) {
		n++
	}
	if n > maxJoinedWords || words[n-1].end-words[0].start > maxJoined {
		return 0
	}
	return n
}

func isJoint(c byte) bool { return c == '-' || c == '_' }

func (e *emitter) emitTerm(f form, kind Kind, start, end int) {
	if f.stem != "" {
		e.yield(Term{Text: f.stem, Surface: f.surface, Kind: kind, Position: e.position, Start: start, End: end})
	}
}

// emitVersions yields the version 1.2.10 as a whole, and 1.2 and 1 as its parts.
func (e *emitter) emitVersions(words []span) {
	first, last := words[0], words[len(words)-1]
	whole := strings.TrimLeft(e.text[first.start:last.end], "vV")
	e.emitTerm(form{whole, whole}, Name, first.start, last.end)
	for n := len(words) - 1; n > 0; n-- {
		part := strings.TrimLeft(e.text[first.start:words[n-1].end], "vV")
		e.emitTerm(form{part, part}, Part, first.start, words[n-1].end)
	}
	e.position++
}

func (e *emitter) emitJoined(words []span) {
	var b strings.Builder
	if e.wanted.passesOver(e.text[words[0].start:words[0].end]) {
		return
	}
	for _, w := range words {
		b.WriteString(e.text[w.start:w.end])
	}
	e.emitTerm(e.foldWord(b.String()), Joined, words[0].start, words[len(words)-1].end)
}

// emitWord yields a word, and the parts of one such as getUser.
func (e *emitter) emitWord(w span) {
	text := e.text[w.start:w.end]
	if n := skipSigns(e.text, w.start, w.end); n > 0 {
		f := e.foldWord(text)
		named := f.surface + e.text[w.end:w.end+n]
		e.emitTerm(form{named, named}, Name, w.start, w.end+n)
		e.emitTerm(f, Part, w.start, w.end)
		e.position++
		return
	}
	if !w.mixed {
		e.emitTerm(e.foldWord(text), Word, w.start, w.end)
		e.position++
		return
	}
	e.emitTerm(e.foldWord(text), Name, w.start, w.end)
	for from := 0; from < len(text); {
		to := from + partLength(text[from:])
		e.emitTerm(e.foldWord(text[from:to]), Part, w.start+from, w.start+to)
		e.position++
		from = to
	}
}

// partLength returns the length of the part that an identifier begins with: get of getUser, XML of XMLReader.
func partLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case !isCapital(text[i]):
		case !isCapital(text[i-1]):
			return i
		case i+1 < len(text) && isSmall(text[i+1]):
			return i
		}
	}
	return len(text)
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }
