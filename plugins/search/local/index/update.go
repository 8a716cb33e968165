package index

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

const (
	// maxBatchBytes and maxBatchChanges bound what is indexed at once, in bytes of text and in parts.
	maxBatchBytes   = 3 << 20
	maxBatchChanges = 4000

	// partSize is how long a part of a document is, in bytes, or as long as one passage. Parts are what is looked for: most documents
	// are one, and a search reads those that it finds.
	partSize = 16 << 10

	// bytesPerTerm is about how many bytes of text have a term more.
	bytesPerTerm = 24

	partMark = "#"
)

// Update is a set of changes that are written at once.
type Update struct {
	batch    *bleve.Batch
	analysis *analysis
	// bytes is how much text is in it, changes how many parts are added or removed.
	bytes, changes int
}

// Begin begins an update.
func (ix *Index) Begin() *Update {
	return &Update{batch: ix.Bleve.NewBatch(), analysis: ix.analysis}
}

// IsFull reports whether the update is as large as one may be. Indexing takes memory by the size of an update.
func (u *Update) IsFull() bool { return u.bytes >= maxBatchBytes || u.changes >= maxBatchChanges }

// IsEmpty reports whether nothing changes.
func (u *Update) IsEmpty() bool { return u.changes == 0 }

func partID(address string, n int) string { return address + partMark + strconv.Itoa(n) }

// documentID is that of what is known of a document.
func documentID(address string) string { return address + partMark }

// DocumentOf returns the address of the document of a part.
func DocumentOf(id string) string {
	at := strings.LastIndex(id, partMark)
	return id[:max(at, 0)]
}

// Remove takes the first n parts of a document out.
func (u *Update) Remove(address string, n int) {
	for i := range n {
		u.batch.Delete(partID(address, i))
		u.changes++
	}
}

// Forget takes out what is known of a document.
func (u *Update) Forget(address string) {
	u.batch.Delete(documentID(address))
	u.changes++
}

// Document is a document that is being put into the index.
type Document struct {
	update         *Update
	address, title string
	// short are the terms of title and path, which each part has.
	short *termCounts
	words map[string]bool
	// part are the passages of the next part, of so many bytes; parts is how many were put in.
	part  []Passage
	bytes int
	parts int
}

// Put begins to put a document in.
func (u *Update) Put(address, path, title string) *Document {
	d := &Document{update: u, address: address, title: title, words: map[string]bool{}, short: newTermCounts(0)}
	d.short.addTerms(u.analysis, title, titleCount, d.words)
	d.short.addTerms(u.analysis, path, 1, d.words)
	return d
}

// Continue goes on in the next update.
func (d *Document) Continue(u *Update) { d.update = u }

// Parts is how many parts were put in.
func (d *Document) Parts() int { return d.parts }

// Add adds the next passage.
func (d *Document) Add(p Passage) error {
	if d.bytes > 0 && d.bytes+len(p.Text) > partSize {
		if err := d.Finish(); err != nil {
			return err
		}
	}
	d.part = append(d.part, p)
	d.bytes += len(p.Text)
	return nil
}

// Finish puts the passages in that were added last.
func (d *Document) Finish() error {
	if len(d.part) == 0 {
		return nil
	}
	u := d.update
	counts := newTermCounts(d.bytes / bytesPerTerm)
	for _, p := range d.part {
		counts.addTerms(u.analysis, p.Text, 1, d.words)
		counts.addTerms(u.analysis, p.Heading, 1, d.words)
	}
	counts.addAll(d.short)
	doc := document.NewDocument(partID(d.address, d.parts))
	doc.AddField(counts.makeField(fieldTerms, bleveindex.IndexField))
	addStored(doc, fieldTitle, []byte(d.title))
	addStored(doc, fieldPassages, encodePassages(d.part, d.bytes))
	if err := u.batch.IndexAdvanced(doc); err != nil {
		return fmt.Errorf("index %s: %w", d.address, err)
	}
	u.bytes += d.bytes
	u.changes++
	d.part, d.bytes, d.parts = d.part[:0], 0, d.parts+1
	return nil
}

// Note notes what is known of a document. d holds its words; it is nil for one without text.
func (u *Update) Note(address string, data []byte, d *Document) error {
	doc := document.NewDocument(documentID(address))
	addStored(doc, fieldEntry, data)
	kind := newTermCounts(1)
	kind.countTerm(kindDocument, 1)
	doc.AddField(kind.makeField(fieldKind, bleveindex.IndexField|bleveindex.SkipFreqNorm))
	if d != nil {
		words := newTermCounts(len(d.words))
		for w := range d.words {
			words.countTerm(w, 1)
		}
		doc.AddField(words.makeField(fieldWords, bleveindex.IndexField|bleveindex.SkipFreqNorm))
	}
	if err := u.batch.IndexAdvanced(doc); err != nil {
		return fmt.Errorf("index %s: %w", address, err)
	}
	u.changes++
	return nil
}

// Commit writes the changes.
func (ix *Index) Commit(ctx context.Context, u *Update) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := ix.Bleve.Batch(u.batch); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}
