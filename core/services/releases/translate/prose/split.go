package prose

import (
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Chunk is a part of a masked text. The chunks of a text, with what stands around them, are the text.
type Chunk struct {
	// Before and After are white space that is not translated.
	Before, Text, After string
}

// Join returns a translation of the chunk with the white space around it.
func (c Chunk) Join(translated string) string {
	return c.Before + strings.TrimSpace(translated) + c.After
}

// HasWords reports whether there is something to translate: a word that is not masked. A letter alone, as in v1.2.0, is none.
func HasWords(text string) bool { return words.MatchString(maskPattern.ReplaceAllString(text, "")) }

var words = regexp.MustCompile(`\p{L}{2}|[\p{Han}\p{Hiragana}\p{Katakana}]`)

// line is a line of a text with its end, and how well a chunk may begin with it.
type line struct {
	text   string
	tokens int64
	rank   int
}

// Ranks of lines. A chunk never begins within a fence or a table.
const (
	neverSplit = iota
	splitAtLine
	splitAtItem
	splitAtBlock
	splitAtHeading
)

var (
	fencePattern   = regexp.MustCompile("^[ >]*(?:[-*+] +|\\d+[.)] +)?(`{3,}|~{3,})")
	headingPattern = regexp.MustCompile(`^#{1,6}\s`)
	itemPattern    = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])\s`)
)

// Split divides a masked text into chunks of at most limit tokens, as estimated: before a heading if possible, else before a block,
// an item of a list, or a line. A table, a fence or a line that is longer stays whole, so a chunk may be larger.
func Split(masked string, limit int64) (chunks []Chunk) {
	lines := readLines(masked)
	for len(lines) > 0 {
		n := chunkLength(lines, limit)
		var b strings.Builder
		for _, l := range lines[:n] {
			b.WriteString(l.text)
		}
		chunks = append(chunks, newChunk(b.String()))
		lines = lines[n:]
	}
	return chunks
}

func newChunk(whole string) Chunk {
	text := strings.Trim(whole, " \t\r\n")
	if text == "" {
		return Chunk{Before: whole}
	}
	at := strings.Index(whole, text)
	// Indentation of the first line belongs to the text.
	start := strings.LastIndexByte(whole[:at], '\n') + 1
	return Chunk{whole[:start], whole[start : at+len(text)], whole[at+len(text):]}
}

// chunkLength returns how many lines the next chunk has: as many as fit, cut back to the best place in their second half.
func chunkLength(lines []line, limit int64) int {
	total := int64(0)
	best, bestRank := len(lines), 0
	for i, l := range lines {
		if total+l.tokens > limit && i > 0 {
			if bestRank > neverSplit {
				return best
			}
			// Nothing fits: the next place where the text may be cut.
			for k := i; k < len(lines); k++ {
				if lines[k].rank > neverSplit {
					return k
				}
			}
			return len(lines)
		}
		if next := i + 1; next < len(lines) && total+l.tokens >= limit/2 && lines[next].rank >= bestRank {
			best, bestRank = next, lines[next].rank
		} else if next < len(lines) && bestRank == neverSplit && lines[next].rank > neverSplit && total+l.tokens < limit/2 {
			best, bestRank = next, splitAtLine
		}
		total += l.tokens
	}
	return len(lines)
}

// readLines divides a text into lines and ranks them.
func readLines(text string) (lines []line) {
	fence, blank := "", true
	for l := range strings.Lines(text) {
		trimmed := strings.TrimSpace(l)
		rank := rankLine(l, trimmed, blank)
		found := fencePattern.FindStringSubmatch(l)
		switch {
		case fence != "":
			rank = neverSplit
			if strings.HasPrefix(strings.TrimLeft(trimmed, "> "), fence) {
				fence = ""
			}
		case found != nil:
			fence = found[1]
		}
		lines = append(lines, line{l, translator.EstimateTokens(l), rank})
		blank = trimmed == ""
	}
	return lines
}

// rankLine returns how well a chunk may begin with a line outside of fences. blank says that the line before is blank.
func rankLine(l, trimmed string, blank bool) int {
	switch {
	case trimmed == "" || strings.Contains(trimmed, "|"):
		return neverSplit
	case headingPattern.MatchString(l):
		return splitAtHeading
	case blank && l[0] != ' ' && l[0] != '\t':
		return splitAtBlock
	case itemPattern.MatchString(l):
		return splitAtItem
	}
	if strings.Trim(trimmed, "=-") == "" {
		// The underline of a heading.
		return neverSplit
	}
	return splitAtLine
}
