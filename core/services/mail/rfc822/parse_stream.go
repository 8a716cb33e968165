package rfc822

import (
	"io"
	"strings"

	gomessage "github.com/emersion/go-message"
)

// walkStream calls visit for each leaf that the strict parser finds, while it reads the message.
func walkStream(r io.Reader, visit leafVisitor) error {
	entity, err := gomessage.ReadWithOptions(skipMboxLine(r), &gomessage.ReadOptions{MaxHeaderBytes: maxHeader})
	if err != nil {
		return explainEntity(err)
	}
	w := &streamWalk{visit: visit}
	return w.walkEntity(entity, 0)
}

// streamWalk counts the parts of a message.
type streamWalk struct {
	visit leafVisitor
	parts int
}

// walkEntity visits the leaves of an entity at a depth.
func (w *streamWalk) walkEntity(e *gomessage.Entity, depth int) error {
	if w.parts++; w.parts > maxParts || depth > maxDepth {
		return errTooComplex
	}
	parts := e.MultipartReader()
	if parts == nil {
		return w.visit(entityLeaf(e))
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return explainEntity(err)
		}
		if err := w.walkEntity(part, depth+1); err != nil {
			return err
		}
	}
}

// explainEntity returns errUnsupported for the errors with which the library returns content that it has not decoded.
func explainEntity(err error) error {
	if gomessage.IsUnknownCharset(err) || gomessage.IsUnknownEncoding(err) {
		return errUnsupported
	}
	return err
}

// entityLeaf describes an entity without parts.
func entityLeaf(e *gomessage.Entity) *leaf {
	kind, params, err := e.Header.ContentType()
	l := &leaf{contentType: strings.ToLower(kind), contentID: e.Header.Get("Content-Id"), body: e.Body}
	if err != nil || kind == "" {
		l.contentType = "text/plain"
	}
	disposition, with, _ := e.Header.ContentDisposition()
	l.disposition = strings.ToLower(disposition)
	if l.filename = with["filename"]; l.filename == "" {
		l.filename = params["name"]
	}
	return l
}
