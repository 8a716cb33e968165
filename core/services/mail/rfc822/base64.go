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
// as the footer of a list.
type base64Reader struct {
	r *bufio.Reader
	// out is what is decoded and not read yet, a part of buffer.
	out, buffer []byte
	// group is what is not decoded yet.
	group   []byte
	started bool
	err     error
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
	text, rest, found := bytes.Cut(line, []byte("="))
	padded := found && len(bytes.Trim(rest, "= \t")) == 0
	valid := !found || padded
	for _, c := range text {
		valid = valid && (isBase64(c) || c == ' ' || c == '\t')
	}
	switch {
	case !valid && b.started && len(b.group) == 0:
		b.err = io.EOF
		b.drain()
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
		b.err = io.EOF
		b.drain()
	}
}

// drain reads what follows the content, so that an error of the raw bytes is not lost.
func (b *base64Reader) drain() {
	if _, err := io.Copy(io.Discard, b.r); err != nil {
		b.err = err
	}
}
