package rfc822

import (
	"bufio"
	"io"
	"mime/quotedprintable"
	"strings"

	"github.com/emersion/go-message/textproto"
)

// walkStream calls visit for each leaf that the strict parser finds, while it reads the message.
func walkStream(r io.Reader, visit leafVisitor) error {
	limited := &headerReader{r: r, left: maxHeader}
	br := skipMboxLine(limited)
	header, err := textproto.ReadHeader(br)
	if err != nil {
		return err
	}
	limited.left = -1
	w := &streamWalk{visit: visit}
	return w.walkEntity(header, br, 0)
}

// headerReader fails after some bytes, unless the rest is negative.
type headerReader struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (h *headerReader) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, errTooLarge
	}
	if h.left > 0 && len(p) > h.left {
		p = p[:h.left]
	}
	n, err := h.r.Read(p)
	if h.left > 0 {
		h.left -= n
	}
	return n, err
}

// streamWalk counts the parts of a message.
type streamWalk struct {
	visit leafVisitor
	parts int
	// charset is the last one that a text has named.
	charset string
}

// walkEntity visits the leaves of an entity at a depth.
func (w *streamWalk) walkEntity(header textproto.Header, body io.Reader, depth int) error {
	if w.parts++; w.parts > maxParts || depth > maxDepth {
		return errTooComplex
	}
	kind, params := parseParams(header.Get("Content-Type"), w.charset)
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		l, err := w.newLeaf(header, leafType(kind, params, depth), params, body)
		if err != nil {
			return err
		}
		return w.visit(l)
	}
	parts := textproto.NewMultipartReader(bufio.NewReader(body), params["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.walkEntity(part.Header, part, depth+1); err != nil {
			return err
		}
	}
}

// leafType returns the type of an entity without parts. A type that cannot be read is that of text in the message itself, or where it
// says that it is text, and that of an attachment elsewhere.
func leafType(kind string, params map[string]string, depth int) string {
	switch {
	case strings.HasPrefix(kind, "multipart/"), kind == "", kind == "text":
		return "text/plain"
	case strings.Contains(kind, "/"):
		return kind
	case depth == 0 && params["name"] == "":
		return "text/plain"
	}
	return "application/octet-stream"
}

// newLeaf describes an entity without parts. Of two names that contradict each other, that of Content-Disposition counts.
func (w *streamWalk) newLeaf(header textproto.Header, kind string, params map[string]string, body io.Reader) (*leaf, error) {
	if params["charset"] != "" {
		w.charset = params["charset"]
	}
	l := &leaf{contentType: kind, contentID: header.Get("Content-Id"), charset: params["charset"]}
	disposition, with := parseParams(header.Get("Content-Disposition"), w.charset)
	l.disposition = disposition
	if l.filename = with["filename"]; l.filename == "" {
		l.filename = params["name"]
	}
	var err error
	if l.body, err = decodeTransfer(header.Get("Content-Transfer-Encoding"), body); err != nil {
		return nil, err
	}
	if l.isBody() && !isUTF8(l.charset) {
		if l.body, err = readCharset(l.charset, l.body); err != nil {
			return nil, errUnsupported
		}
	}
	return l, nil
}

// decodeTransfer returns a body without its transfer encoding.
func decodeTransfer(encoding string, body io.Reader) (io.Reader, error) {
	encoding, _, _ = strings.Cut(strings.ToLower(stripComments(encoding)), ";")
	switch strings.Trim(encoding, " \t\"") {
	case "base64":
		return newBase64Reader(body), nil
	case "quoted-printable":
		return quotedprintable.NewReader(body), nil
	case "7bit", "8bit", "binary", "", "7-bit", "8-bit", "7bits", "8bits":
		return body, nil
	}
	return nil, errUnsupported
}
