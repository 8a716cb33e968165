package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const (
	// diffContext is how many unchanged lines stand around a change.
	diffContext = 3
	// maxDiffCells bounds the comparison of two texts.
	maxDiffCells = 4 << 20
)

// diffLine is a line of a comparison: kept (' '), taken out ('-') or added ('+'). old and new are its numbers, from 1.
type diffLine struct {
	sign     byte
	old, new int
}

// Difference returns what next changes in f, as a unified diff; "" if nothing. Values that may be secret are left out: those of
// sensitive attributes, of attributes that no schema knows, and of config blocks that DecodeInstance has not decoded.
func (f *File) Difference(next *File) string {
	f.showReferences()
	next.showReferences()
	lines := compareLines(splitLines(f.src.bytes), splitLines(next.src.bytes))
	var out strings.Builder
	for from := 0; from < len(lines); {
		if lines[from].sign == ' ' {
			from++
			continue
		}
		begin, end, quiet := max(0, from-diffContext), from, 0
		for ; end < len(lines) && quiet <= 2*diffContext; end++ {
			if quiet++; lines[end].sign != ' ' {
				quiet = 0
			}
		}
		end -= max(0, quiet-diffContext)
		writeHunk(&out, f.src, next.src, lines[begin:end])
		from = end
	}
	return out.String()
}

func splitLines(text []byte) [][]byte {
	lines := bytes.Split(text, []byte("\n"))
	if n := len(lines); n > 0 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	return lines
}

// compareLines returns the lines of both texts in their order, by the longest common subsequence.
func compareLines(a, b [][]byte) (out []diffLine) {
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	for i := range head {
		out = append(out, diffLine{' ', i + 1, i + 1})
	}
	out = append(out, compareMiddle(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for i := tail; i > 0; i-- {
		out = append(out, diffLine{' ', len(a) - i + 1, len(b) - i + 1})
	}
	return out
}

// compareMiddle compares what follows the first lines, head of them, that both texts have in common.
func compareMiddle(a, b [][]byte, head int) (out []diffLine) {
	var common [][]int32
	if len(a)*len(b) <= maxDiffCells {
		common = commonLengths(a, b)
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case common != nil && i < len(a) && j < len(b) && bytes.Equal(a[i], b[j]):
			out = append(out, diffLine{' ', head + i + 1, head + j + 1})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common == nil || common[i+1][j] >= common[i][j+1]):
			out = append(out, diffLine{'-', head + i + 1, head + j + 1})
			i++
		default:
			out = append(out, diffLine{'+', head + i + 1, head + j + 1})
			j++
		}
	}
	return out
}

// commonLengths returns the length of the longest common subsequence of a[i:] and b[j:] at [i][j].
func commonLengths(a, b [][]byte) [][]int32 {
	out := make([][]int32, len(a)+1)
	for i := range out {
		out[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if bytes.Equal(a[i], b[j]) {
				out[i][j] = out[i+1][j+1] + 1
			} else {
				out[i][j] = max(out[i+1][j], out[i][j+1])
			}
		}
	}
	return out
}

// writeHunk writes lines that belong together, with where they stand.
func writeHunk(out *strings.Builder, old, next *source, lines []diffLine) {
	var oldCount, newCount int
	for _, l := range lines {
		if l.sign != '+' {
			oldCount++
		}
		if l.sign != '-' {
			newCount++
		}
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", lines[0].old, oldCount, lines[0].new, newCount)
	for _, l := range lines {
		shown, number := next, l.new
		if l.sign == '-' {
			shown, number = old, l.old
		}
		fmt.Fprintf(out, "%c%s\n", l.sign, shown.shownLineWithComment(number))
	}
}

// quotedInComment finds a value that a comment holds.
var quotedInComment = regexp.MustCompile(`(=\s*)"[^"]*"`)

// shownLineWithComment returns a source line with its comment, and whatever may be secret left out.
func (s *source) shownLineWithComment(number int) string {
	shown := s.shownLine(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lexTokens()
	for _, t := range s.tokens {
		if t.Type != hclsyntax.TokenComment || number < t.Range.Start.Line || number > t.Range.End.Line {
			continue
		}
		lines := strings.Split(string(t.Bytes), "\n")
		comment := strings.TrimRight(lines[min(number-t.Range.Start.Line, len(lines)-1)], "\r")
		if comment == "" {
			continue
		}
		gap := " "
		if shown == "" {
			gap = strings.Repeat(" ", max(0, t.Range.Start.Column-1))
		}
		shown += gap + quotedInComment.ReplaceAllString(comment, `${1}"`+hidden+`"`)
	}
	return shown
}
