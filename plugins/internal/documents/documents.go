// Package documents reads files as documents: text in whatever encoding, Markdown, HTML, AsciiDoc, reStructuredText, Org,
// notebooks, DOCX and PDF. What they have of headings and code is marked as in Markdown.
package documents

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/pdftext"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

// Document is what was read of a file.
type Document struct {
	Title string
	Text  string
	// Prose tells that the text may have headings, as code and data have not.
	Prose bool
}

// Reason is why a file is no document.
type Reason string

// The reasons. Those up to Link are found by name and size alone.
const (
	Empty      Reason = "empty"
	TooLarge   Reason = "too_large"
	Generated  Reason = "generated"
	Sensitive  Reason = "sensitive"
	Link       Reason = "link"
	Unreadable Reason = "unreadable"
	Binary     Reason = "binary"
	Encoding   Reason = "encoding"
	HoldsKey   Reason = "key"
	NoText     Reason = "no_text"
	Damaged    Reason = "damaged"
	Encrypted  Reason = "encrypted"
	TooSlow    Reason = "too_slow"
)

// IsPassing reports whether the same file may be a document later: it was the machine that was busy or failed.
func (r Reason) IsPassing() bool { return r == TooSlow || r == Unreadable }

// Error is the error of a file that is no document.
type Error struct{ Reason Reason }

// Error implements error.
func (e *Error) Error() string { return "file is no document: " + string(e.Reason) }

// FindReason returns why a file is no document; other errors mean that it could not be read.
func FindReason(err error) Reason {
	var own *Error
	if errors.As(err, &own) {
		return own.Reason
	}
	return Unreadable
}

// maxText bounds the text that is made of a file, in bytes. Text of a file is not longer than the file, but for formats that
// are packed.
const maxText = 32 << 20

// Config configures a Reader.
type Config struct {
	// CacheDir is where what PDF files need is kept once it is prepared; it may be empty.
	CacheDir string
	// Generated lets minified programs and style sheets be read.
	Generated bool
}

// Reader reads files. It is safe for concurrent use. Close it.
type Reader struct {
	pdf       *pdftext.Reader
	generated bool
}

// NewReader makes a Reader. What PDF files need is prepared with the first of them.
func NewReader(cfg Config) *Reader {
	return &Reader{pdf: pdftext.NewReader(cfg.CacheDir), generated: cfg.Generated}
}

// IsSlow reports whether a file of that name takes far longer to read than a text of its size.
func IsSlow(name string) bool { return strings.EqualFold(path.Ext(name), ".pdf") }

// Close frees what the Reader holds.
func (r *Reader) Close() error { return r.pdf.Close() }

// Rest frees what the Reader holds until it is needed again.
func (r *Reader) Rest() { r.pdf.Rest() }

// Read reads the content of a file. The error is an *Error, or that of ctx. format is that of the text of HTML. A file that
// cannot be handled is an error, never a panic.
func (r *Reader) Read(ctx context.Context, name string, data []byte, format extract.Format) (doc *Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, &Error{Damaged}
		}
	}()
	doc, err = r.readDocument(ctx, name, data, format)
	if err != nil {
		return nil, err
	}
	doc.Text = texts.DropOpaque(strings.ToValidUTF8(texts.Head(doc.Text, maxText), "\uFFFD"))
	if strings.TrimSpace(doc.Text) == "" {
		return nil, &Error{NoText}
	}
	if doc.Title = strings.TrimSpace(doc.Title); doc.Title == "" {
		doc.Title = path.Base(name)
	}
	return doc, nil
}

// parsers read the text of formats by the end of a file's name.
var parsers = map[string]func(text string) *Document{
	".md": parseMarkdown, ".markdown": parseMarkdown, ".mdx": parseMarkdown, ".qmd": parseMarkdown, ".rmd": parseMarkdown,
	".adoc": parseAsciiDoc, ".asciidoc": parseAsciiDoc, ".asc": parseAsciiDoc,
	".rst": parseRST, ".rest": parseRST, ".org": parseOrg, ".txt": parsePlain, ".text": parsePlain,
}

func (r *Reader) readDocument(ctx context.Context, name string, data []byte, format extract.Format) (*Document, error) {
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".pdf":
		return r.readPDF(ctx, data)
	case ".docx", ".docm":
		return readDOCX(data)
	}
	text, err := decodeText(data)
	if err != nil {
		return nil, err
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if holdsKey(text) {
		return nil, &Error{HoldsKey}
	}
	if !r.generated && isMinified(ext, text) {
		return nil, &Error{Generated}
	}
	switch ext {
	case ".html", ".htm", ".xhtml":
		page, err := extract.HTML([]byte(text), "text/html; charset=utf-8", nil, format)
		if err != nil {
			return nil, &Error{NoText}
		}
		return &Document{Title: StripInline(page.Title), Text: stripMarks(page.Text), Prose: true}, nil
	case ".ipynb":
		return parseNotebook(text)
	}
	if parse, ok := parsers[ext]; ok {
		doc := parse(text)
		doc.Prose = true
		return doc, nil
	}
	return &Document{Text: text}, nil
}

func (r *Reader) readPDF(ctx context.Context, data []byte) (*Document, error) {
	title, text, err := r.pdf.Read(ctx, data)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, pdftext.ErrEncrypted):
		return nil, &Error{Encrypted}
	case errors.Is(err, pdftext.ErrTooSlow):
		return nil, &Error{TooSlow}
	case errors.Is(err, pdftext.ErrDamaged):
		return nil, &Error{Damaged}
	case err != nil:
		// The sandbox failed, whatever the file is.
		return nil, &Error{Unreadable}
	}
	return &Document{Title: title, Text: text}, nil
}

// holdsKey reports whether a text is an armoured key, whatever its file is called.
func holdsKey(text string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(texts.Head(text, 200)), "\n")
	return strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "PuTTY-User-Key-File")
}

func parseMarkdown(text string) *Document {
	text, title := CleanMarkdown(text)
	return &Document{Title: title, Text: text}
}

func parsePlain(text string) *Document { return &Document{Title: FirstHeading(text), Text: text} }
