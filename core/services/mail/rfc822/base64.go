package rfc822

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
)

// errBase64 is the error of bytes that are not base64.
var errBase64 = errors.New("the content is not base64")

// base64Reader decodes base64 as mail has it. It ends with the padding, and at a line of other text after whole groups, such
// as the footer of a list. A long line of base64 right after padding is content too, as of encoders that pad each piece. If more
// base64 follows otherwise, the content is damaged, and the error is errBase64.
type base64Reader struct {
	r *bufio.Reader
	// out is what is decoded and not read yet, a part of buffer.
	out, buffer []byte
	// group holds the characters that are read and not decoded yet.
	group   []byte
	started bool
	// padded reports whether the last line ended with padding.
	padded bool
	err    error
}

func newBase64Reader(r io.Reader) io.Reader { return &base64Reader{r: bufio.NewReaderSize(r, 8192)} }

// Read implements io.Reader.
func (b *base64Reader) Read(p []byte) (int, error) {
	for len(b.out) == 0 && b.err == nil {
		b.readLine()
	}
	if len(b.out) > 0 {
		n := copy(p, b.out)
		b.out = b.out[n:]
		return n, nil
	}
	return 0, b.err
}

// readLine decodes the next line.
func (b *base64Reader) readLine() {
	line, err := b.r.ReadSlice('\n')
	if err != nil && err != bufio.ErrBufferFull {
		b.err = err
	}
	line = bytes.TrimSpace(line)
	if b.padded && len(line) > 0 {
		if f := (footer{}); !f.addLine(line) {
			b.readFooter(line)
			return
		}
	}
	text, rest, found := bytes.Cut(line, []byte("="))
	padded := found && len(bytes.Trim(rest, "= \t")) == 0
	valid := !found || padded
	for _, c := range text {
		valid = valid && (isBase64(c) || c == ' ' || c == '\t')
	}
	switch {
	case !valid && b.started && len(b.group) == 0:
		b.readFooter(line)
		return
	case !valid:
		b.err = errBase64
		return
	}
	for _, c := range text {
		if isBase64(c) {
			b.group = append(b.group, c)
		}
	}
	b.started = b.started || len(b.group) > 0
	whole := len(b.group) / 4 * 4
	if padded || b.err == io.EOF {
		whole = len(b.group)
		if whole%4 == 1 {
			whole--
		}
	}
	b.buffer = slices.Grow(b.buffer[:0], base64.RawStdEncoding.DecodedLen(whole))
	n, err := base64.RawStdEncoding.Decode(b.buffer[:cap(b.buffer)], b.group[:whole])
	if err != nil {
		b.err = errBase64
	}
	b.out = b.buffer[:n]
	b.group = b.group[:copy(b.group, b.group[whole:])]
	if padded && b.started {
		b.padded, b.group = true, b.group[:0]
	} else if len(line) > 0 {
		b.padded = false
	}
}

// readFooter reads what follows the content, from a line on, and sets the error: io.EOF, errBase64 if more content follows, or that of
// the raw bytes.
func (b *base64Reader) readFooter(line []byte) {
	var f footer
	f.addLine(line)
	for err := b.err; err == nil || err == bufio.ErrBufferFull; {
		line, err = b.r.ReadSlice('\n')
		f.addLine(bytes.TrimSpace(line))
		if err != nil && err != bufio.ErrBufferFull {
			b.err = err
		}
	}
	if b.err == io.EOF && f.hasContent() {
		b.err = errBase64
	}
}

// footer tells the text after base64 from base64 that goes on.
type footer struct {
	// long and short report whether there are lines of base64, and words whether there are lines of several words. A short line
	// of base64 may be a word.
	long, short, words bool
}

// minLong is the length from which on a line of base64 is not taken for a word.
const minLong = 24

// addLine looks at a line, and reports whether it is certainly base64. One damaged place in a line of base64 does not make it a
// text; an address has more.
func (f *footer) addLine(line []byte) bool {
	if len(bytes.Fields(line)) > 1 {
		f.words = true
		return false
	}
	content, other := 0, 0
	for i, c := range line {
		switch {
		case isBase64(c):
			content++
		case c != '=' && (i == 0 || isBase64(line[i-1]) || line[i-1] == '='):
			other++
		}
	}
	if content < 2 || len(line) < 4 || other > 1 {
		return false
	}
	padded := other == 0 && len(line)%4 == 0 && line[len(line)-1] == '='
	long := content >= minLong || padded
	f.long, f.short = f.long || long, true
	return long && other == 0
}

// hasContent reports whether the lines have base64.
func (f *footer) hasContent() bool { return f.long || f.short && !f.words }
