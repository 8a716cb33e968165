package inbound

import (
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
