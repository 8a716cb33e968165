package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"path"
	"strconv"
	"strings"
)

const (
	// maxPart bounds a part of a DOCX file as it is unpacked, in bytes, and maxWordDepth how deep its elements are nested.
	maxPart      = 64 << 20
	maxWordDepth = 200
	wordDocument = "word/document.xml"
	wordStyles   = "word/styles.xml"
	wordCore     = "docProps/core.xml"
)

// ole is how files of older programs begin, and DOCX files with a password.
const ole = "\xd0\xcf\x11\xe0"

// readDOCX makes Markdown of the paragraphs, headings, lists and tables of a DOCX file.
func readDOCX(data []byte) (*Document, error) {
	if bytes.HasPrefix(data, []byte(ole)) {
		return nil, &Error{Encrypted}
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, &Error{Damaged}
	}
	body, err := openPart(z, wordDocument)
	if err != nil {
		return nil, &Error{Damaged}
	}
	defer body.Close()
	w := wordReader{levels: readStyles(z)}
	if err := w.readBody(body); err != nil {
		return nil, &Error{Damaged}
	}
	doc := &Document{Title: readCoreTitle(z), Text: w.out.String(), Prose: true}
	if doc.Title == "" {
		doc.Title = w.title
	}
	if doc.Title == "" {
		doc.Title = FirstHeading(doc.Text)
	}
	return doc, nil
}

type part struct {
	io.Reader
	io.Closer
}

// openPart opens a part of a packed file, as much of it as is read.
func openPart(z *zip.Reader, name string) (part, error) {
	f, err := z.Open(path.Clean(name))
	if err != nil {
		return part{}, err
	}
	return part{io.LimitReader(f, maxPart), f}, nil
}

// findAttribute returns the value of an attribute of an element, whatever its name space.
func findAttribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readCoreTitle returns the title among the properties of a file.
func readCoreTitle(z *zip.Reader) string {
	p, err := openPart(z, wordCore)
	if err != nil {
		return ""
	}
	defer p.Close()
	var core struct {
		Title string `xml:"title"`
	}
	if xml.NewDecoder(p).Decode(&core) != nil {
		return ""
	}
	return strings.TrimSpace(core.Title)
}

// readStyles returns the levels of the styles that are headings, by their ids; the title has level 0.
func readStyles(z *zip.Reader) map[string]int {
	out := map[string]int{}
	p, err := openPart(z, wordStyles)
	if err != nil {
		return out
	}
	defer p.Close()
	d, id := xml.NewDecoder(p), ""
	for {
		token, err := d.RawToken()
		if err != nil {
			return out
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "style":
			id = findAttribute(e, "styleId")
		case "name":
			if level, ok := headingLevel(findAttribute(e, "val")); ok && id != "" {
				out[id] = level
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(findAttribute(e, "val")); err == nil && n >= 0 && n < 6 && id != "" {
				if _, known := out[id]; !known {
					out[id] = n + 1
				}
			}
		}
	}
}

// headingLevel returns the level that the name of a style stands for.
func headingLevel(name string) (level int, ok bool) {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	if name == "title" {
		return 0, true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "heading"))
	return n, err == nil && strings.HasPrefix(name, "heading") && n >= 1 && n <= 9
}

// wordReader goes through the body of a document.
type wordReader struct {
	levels map[string]int
	out    strings.Builder
	title  string
	// paragraphs and tables are those that are open, the innermost last: a text box is inside a paragraph, a table inside a cell.
	paragraphs []*wordParagraph
	tables     []*wordTable
	// deleted counts the parts that were taken out, inText the elements with text.
	deleted, inText int
}

// wordParagraph is a paragraph as far as it was read.
type wordParagraph struct {
	text  strings.Builder
	style string
	list  bool
}

// wordTable is a table as far as it was read: the texts of its open cell, the cells of its open row, and how many rows it had.
type wordTable struct {
	cell, row []string
	rows      int
}

// openParagraph returns the innermost paragraph that is open. Outside of all, what is written to it is lost.
func (w *wordReader) openParagraph() *wordParagraph {
	if len(w.paragraphs) == 0 {
		return &wordParagraph{}
	}
	return w.paragraphs[len(w.paragraphs)-1]
}

// openTable returns the innermost table that is open. Outside of all, what is written to it is lost.
func (w *wordReader) openTable() *wordTable {
	if len(w.tables) == 0 {
		return &wordTable{}
	}
	return w.tables[len(w.tables)-1]
}

func (w *wordReader) readBody(r io.Reader) error {
	d := xml.NewDecoder(r)
	d.Strict = false
	for depth := 0; max(depth, len(w.paragraphs), len(w.tables)) <= maxWordDepth && w.out.Len() < maxText; {
		token, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			w.startElement(t)
		case xml.EndElement:
			depth--
			w.endElement(t.Name.Local)
		case xml.CharData:
			if w.inText > 0 && w.deleted == 0 {
				w.openParagraph().text.Write(t)
			}
		}
	}
	return nil
}

func (w *wordReader) startElement(e xml.StartElement) {
	switch e.Name.Local {
	case "p":
		w.paragraphs = append(w.paragraphs, &wordParagraph{})
	case "pStyle":
		w.openParagraph().style = findAttribute(e, "val")
	case "numPr":
		w.openParagraph().list = true
	case "t":
		w.inText++
	case "tab":
		w.openParagraph().text.WriteByte(' ')
	case "br", "cr":
		w.openParagraph().text.WriteByte('\n')
	case "del", "moveFrom", "fallback", "Fallback":
		w.deleted++
	case "tbl":
		w.tables = append(w.tables, &wordTable{})
	case "tr":
		w.openTable().row = nil
	case "tc":
		w.openTable().cell = nil
	}
}

func (w *wordReader) endElement(name string) {
	switch name {
	case "p":
		w.endParagraph()
	case "t":
		w.inText = max(0, w.inText-1)
	case "del", "moveFrom", "fallback", "Fallback":
		w.deleted = max(0, w.deleted-1)
	case "tc":
		t := w.openTable()
		t.row = append(t.row, strings.Join(t.cell, " "))
	case "tr":
		w.endRow()
	case "tbl":
		w.tables = w.tables[:max(0, len(w.tables)-1)]
		if len(w.tables) == 0 {
			w.out.WriteByte('\n')
		}
	}
}

func (w *wordReader) endParagraph() {
	p := w.openParagraph()
	w.paragraphs = w.paragraphs[:max(0, len(w.paragraphs)-1)]
	text := strings.TrimSpace(p.text.String())
	if text == "" {
		return
	}
	if len(w.tables) > 0 {
		t := w.openTable()
		t.cell = append(t.cell, strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`))
		return
	}
	level, isHeading := w.levels[p.style]
	if !isHeading {
		level, isHeading = headingLevel(p.style)
	}
	switch {
	case isHeading:
		text = strings.Join(strings.Fields(text), " ")
		if w.title == "" && level == 0 {
			w.title = text
		}
		w.out.WriteString(strings.Repeat("#", min(max(level, 1), 6)) + " " + text + "\n\n")
	case p.list:
		w.out.WriteString("- " + text + "\n")
	default:
		w.out.WriteString(text + "\n\n")
	}
}

// endRow writes the row that ends. That of a table inside a cell becomes text of the cell, since Markdown knows no such table.
func (w *wordReader) endRow() {
	t := w.openTable()
	row := t.row
	if t.row = nil; len(row) == 0 {
		return
	}
	if len(w.tables) > 1 {
		outer := w.tables[len(w.tables)-2]
		outer.cell = append(outer.cell, strings.Join(row, " "))
		return
	}
	w.out.WriteString("| " + strings.Join(row, " | ") + " |\n")
	if t.rows++; t.rows == 1 {
		w.out.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
	}
}
