package inbound

import (
	"bytes"
	"errors"
	"io"
)

// errBareLineEnd is the error of a message with a CR or LF that is not part of CR LF. Servers that take one of them for the end
// of a line can be made to see two messages in one.
var errBareLineEnd = errors.New("the message has a bare CR or LF")

// strictReader fails where r has a bare CR or LF.
type strictReader struct {
	r       io.Reader
	afterCR bool
}

// Read implements io.Reader.
func (s *strictReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for _, c := range p[:n] {
		if s.afterCR != (c == '\n') {
			return 0, errBareLineEnd
		}
		s.afterCR = c == '\r'
	}
	if err == io.EOF && s.afterCR {
		return n, errBareLineEnd
	}
	return n, err
}

// dataScanner follows a message to its end, CR LF, a full stop and CR LF.
type dataScanner struct {
	state scanState
	// bareCR says that a CR was not followed by LF.
	bareCR bool
}

type scanState int

const (
	lineBegins scanState = iota
	lineBeginsWithDot
	dotThenCR
	inLine
	inLineAfterCR
)

// scan looks at what comes of a message. It returns how much of it belongs to the message, and whether that is its end. It finds the end
// where the library does: what follows a bare CR is in the middle of a line.
func (d *dataScanner) scan(p []byte) (n int, end bool) {
	for i := 0; i < len(p); i++ {
		switch c := p[i]; d.state {
		case lineBegins:
			d.state = stateAfter(c)
			if c == '.' {
				d.state = lineBeginsWithDot
			}
		case lineBeginsWithDot:
			if d.state = inLine; c == '\r' {
				d.state = dotThenCR
			}
		case dotThenCR:
			if c == '\n' {
				return i + 1, true
			}
			d.state, d.bareCR = inLine, true
		case inLineAfterCR:
			if d.state = lineBegins; c != '\n' {
				d.state, d.bareCR = inLine, true
			}
		case inLine:
			next := bytes.IndexByte(p[i:], '\r')
			if next < 0 {
				return len(p), false
			}
			i, d.state = i+next, inLineAfterCR
		}
	}
	return len(p), false
}

func stateAfter(c byte) scanState {
	if c == '\r' {
		return inLineAfterCR
	}
	return inLine
}
