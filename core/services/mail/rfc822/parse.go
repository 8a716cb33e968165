package rfc822

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// leaf is a part without parts of its own.
type leaf struct {
	contentType string
	disposition string
	filename    string
	contentID   string
	charset     string
	// body is the decoded content, of what isBody as UTF-8.
	body io.Reader
}

// isBody reports whether the leaf is text of the message: one that is shown, whether it has a name or not.
func (l *leaf) isBody() bool {
	return l.disposition != string(DispositionAttachment) && (l.contentType == "text/plain" || l.contentType == "text/html")
}

// leafVisitor is called for each leaf of a message, in their order. It need not read the body.
type leafVisitor func(*leaf) error

// Errors of the parsers.
var (
	errTooComplex  = fmt.Errorf("the message has more than %d parts, or parts nested deeper than %d", maxParts, maxDepth)
	errTooLarge    = fmt.Errorf("the message is larger than the %d bytes that can be repaired", maxTolerant)
	errUnsupported = errors.New("the message has a character set or an encoding that is not known")
	// errStop ends a walk early.
	errStop = errors.New("stop")
)

// Parse parses a message. It fails only when the raw bytes cannot be read: a message that cannot be parsed is returned with
// ParseFailed.
func Parse(open Opener) (*Parsed, error) {
	base := &Parsed{}
	var fields []Header
	if err := withReader(open, func(r io.Reader) error {
		fields = readFields(bufio.NewReader(r))
		base.setHeader(fields, "")
		return nil
	}); err != nil {
		return nil, err
	}
	for _, parser := range []Parser{StreamParser, TolerantParser} {
		c := &collector{parsed: *base}
		err := walk(parser, open, c.addLeaf)
		if err == nil {
			if c.charset != "" {
				c.parsed.setRawHeader(fields, c.charset)
			}
			return c.finish(parser), nil
		}
		if broken := new(readError); errors.As(err, &broken) {
			return nil, broken.err
		}
		if errors.Is(err, errTooComplex) {
			break
		}
	}
	return parseAsText(open, base)
}

// walk calls visit for each leaf that a parser finds. A panic of a parser is an error.
func walk(parser Parser, open Opener, visit leafVisitor) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parse the message: %v", p)
		}
	}()
	return withReader(open, func(r io.Reader) error {
		switch parser {
		case StreamParser:
			return walkStream(r, visit)
		case TolerantParser:
			return walkTolerant(r, visit)
		}
		return nil
	})
}

// readError is an error of the raw bytes, not of the message.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// markedReader marks its errors as readError.
type markedReader struct{ r io.Reader }

// Read implements io.Reader.
func (m markedReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		err = &readError{err}
	}
	return n, err
}

// withReader calls read with the raw bytes.
func withReader(open Opener, read func(io.Reader) error) error {
	r, err := open()
	if err != nil {
		return &readError{err}
	}
	defer r.Close()
	return read(markedReader{r})
}

// parseAsText returns a message that no parser can read: its header, and the beginning of its body as text.
func parseAsText(open Opener, p *Parsed) (*Parsed, error) {
	p.Status, p.Parser = ParseFailed, NoParser
	err := withReader(open, func(r io.Reader) error {
		b := bufio.NewReader(r)
		if len(readFields(b)) == 0 {
			// There is no header: everything is body.
			return nil
		}
		return p.readText(b)
	})
	if err == nil && p.Text == "" {
		err = withReader(open, p.readText)
	}
	return p, err
}

// readText takes the beginning of r as the text.
func (p *Parsed) readText(r io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	p.Text, p.TextTruncated = texts.Limit(string(raw), MaxText), len(raw) > MaxText
	return err
}

// collector makes a Parsed of the leaves of a message.
type collector struct {
	parsed     Parsed
	text, html bytes.Buffer
	// calendars is how much of calendars was read, in bytes.
	calendars int
	// charset is the first one that a part has named, if any other than UTF-8.
	charset string
}

// addLeaf implements leafVisitor.
func (c *collector) addLeaf(l *leaf) error {
	if isUTF8(c.charset) {
		c.charset = l.charset
	}
	switch {
	case l.isBody() && l.contentType == "text/plain":
		return c.addText(&c.text, l.body)
	case l.isBody():
		return c.addText(&c.html, l.body)
	}
	var calendar bytes.Buffer
	if l.contentType == calendarType {
		if _, err := calendar.ReadFrom(io.LimitReader(l.body, int64(maxCalendar-c.calendars))); err != nil {
			return err
		}
		c.calendars += calendar.Len()
		c.addEvents(toUTF8(calendar.String(), l.charset))
	}
	size, err := io.Copy(io.Discard, l.body)
	if err != nil {
		return err
	}
	size += int64(calendar.Len())
	c.parsed.Attachments = append(c.parsed.Attachments, l.attachment(len(c.parsed.Attachments)+1, size))
	return nil
}

// addEvents adds the events of a calendar. One that stands in several forms is added once.
func (c *collector) addEvents(calendar string) {
	for _, e := range parseCalendar(texts.Valid(calendar)) {
		if len(c.parsed.Events) < maxEvents && !slices.Contains(c.parsed.Events, e) {
			c.parsed.Events = append(c.parsed.Events, e)
		}
	}
}

// addText appends a text to those before it.
func (c *collector) addText(to *bytes.Buffer, body io.Reader) error {
	if to.Len() > 0 && to.Len() < MaxText {
		to.WriteString("\n")
	}
	if _, err := to.ReadFrom(io.LimitReader(body, int64(max(0, MaxText-to.Len())))); err != nil {
		return err
	}
	rest, err := io.Copy(io.Discard, body)
	c.parsed.TextTruncated = c.parsed.TextTruncated || rest > 0
	return err
}

func (c *collector) finish(parser Parser) *Parsed {
	p := &c.parsed
	p.Status, p.Parser = ParseOK, parser
	p.Text, p.HTML = texts.Valid(c.text.String()), texts.Valid(c.html.String())
	return p
}

// attachment describes the leaf.
func (l *leaf) attachment(number int, size int64) Attachment {
	a := Attachment{Number: number, Filename: safeFilename(l.filename), ContentType: safeType(l.contentType), Size: size,
		Disposition: DispositionUnknown}
	if a.Filename == "" && a.ContentType == calendarType {
		a.Filename = calendarName
	}
	a.ContentID = texts.OneLine(strings.Trim(l.contentID, " <>"), 500)
	switch d := Disposition(l.disposition); d {
	case DispositionAttachment, DispositionInline:
		a.Disposition = d
	}
	return a
}

// maxFilename is the longest name of a file, in bytes: what file systems take.
const maxFilename = 255

// safeFilename returns the name of a file without folders and control characters, or "". One that is too long keeps its ending.
func safeFilename(name string) string {
	name = texts.OneLine(strings.ReplaceAll(decodeWords(name), `\`, "/"), maxField)
	if name = path.Base(name); name == "." || name == "/" || name == ".." {
		return ""
	}
	if len(name) > maxFilename {
		ending := path.Ext(name)
		if len(ending) > maxEnding {
			ending = ""
		}
		name = strings.TrimRight(texts.Limit(name, maxFilename-len(ending)), " .") + ending
	}
	return name
}

// maxEnding is the longest ending that a cut name keeps, in bytes.
const maxEnding = 20

// safeType returns a media type without parameters; that of unknown content for one that is none.
func safeType(contentType string) string {
	kind, _, err := mime.ParseMediaType(texts.OneLine(contentType, 200))
	if err != nil || !strings.Contains(kind, "/") {
		return "application/octet-stream"
	}
	return kind
}

// ErrNoAttachment is the error of ReadAttachment for a number that the message does not have.
var ErrNoAttachment = errors.New("the message has no such attachment")

// ReadAttachment calls read with an attachment and its decoded content. Of the Attachment, the Size is not known.
func ReadAttachment(parser Parser, open Opener, number int, read func(Attachment, io.Reader) error) error {
	at := 0
	err := walk(parser, open, func(l *leaf) error {
		if l.isBody() {
			return nil
		}
		if at++; at != number {
			return nil
		}
		if err := read(l.attachment(number, 0), l.body); err != nil {
			return err
		}
		return errStop
	})
	switch {
	case errors.Is(err, errStop):
		return nil
	case err == nil:
		return ErrNoAttachment
	}
	return err
}
