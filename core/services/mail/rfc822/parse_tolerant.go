package rfc822

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/jhillyerd/enmime/v2"
)

// tolerantParser is the library with what costs too much switched off.
var tolerantParser = enmime.NewParser(enmime.DisableTextConversion(true), enmime.SkipMalformedParts(true),
	enmime.MultipartWOBoundaryAsSinglePart(true),
	enmime.MaxStoredPartErrors(10), enmime.StripMediaTypeInvalidCharacters(true))

// walkTolerant calls visit for each leaf that the tolerant parser finds.
func walkTolerant(r io.Reader, visit leafVisitor) error {
	raw, err := io.ReadAll(io.LimitReader(skipMboxLine(r), maxTolerant+1))
	switch {
	case err != nil:
		return err
	case len(raw) > maxTolerant:
		return errTooLarge
	case looksComplex(raw):
		return errTooComplex
	case len(parseFields(raw)) == 0:
		return errNoHeader
	}
	root, err := tolerantParser.ReadParts(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	w := &tolerantWalk{visit: visit}
	return w.walkPart(root, 0)
}

// errNoHeader is the error of bytes that do not begin with a header field.
var errNoHeader = fmt.Errorf("the message has no header")

// looksComplex reports whether a message may have more parts, or deeper ones, than the limits allow. The library has no
// limits of its own.
func looksComplex(raw []byte) bool {
	return bytes.Count(bytes.ToLower(raw), []byte("boundary")) > 2*maxDepth || bytes.Count(raw, []byte("\n--")) > 2*maxParts
}

// tolerantWalk counts the parts of a message.
type tolerantWalk struct {
	visit leafVisitor
	parts int
}

// walkPart visits the leaves of a part and of those that follow it.
func (w *tolerantWalk) walkPart(p *enmime.Part, depth int) error {
	for ; p != nil; p = p.NextSibling {
		if w.parts++; w.parts > maxParts || depth > maxDepth {
			return errTooComplex
		}
		if p.FirstChild != nil {
			if err := w.walkPart(p.FirstChild, depth+1); err != nil {
				return err
			}
			continue
		}
		if err := w.visit(partLeaf(p)); err != nil {
			return err
		}
	}
	return nil
}

// partLeaf describes a part without parts.
func partLeaf(p *enmime.Part) *leaf {
	l := &leaf{contentType: strings.ToLower(p.ContentType), disposition: strings.ToLower(p.Disposition), filename: p.FileName,
		contentID: p.ContentID, charset: p.Charset, body: bytes.NewReader(p.Content)}
	if l.contentType == "" || strings.HasPrefix(l.contentType, "multipart/") {
		l.contentType = "text/plain"
	}
	return l
}
