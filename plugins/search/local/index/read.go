package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	blevequery "github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

// maxWords is how many words of the dictionary are looked at for a word of a query.
const maxWords = 2000

// Reader reads the index as it is at one moment.
type Reader struct {
	index  *Index
	reader bleveindex.IndexReader
	// documents is how many there are.
	documents uint64
}

// Read begins to read.
func (ix *Index) Read() (*Reader, error) {
	advanced, err := ix.Bleve.Advanced()
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	reader, err := advanced.Reader()
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	out := &Reader{index: ix, reader: reader}
	if out.documents, err = out.countIn(fieldKind, kindDocument); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return out, nil
}

// Close ends reading.
func (r *Reader) Close() { _ = r.reader.Close() }

// Parts is how many parts of documents there are.
func (r *Reader) Parts() uint64 {
	n, err := r.reader.DocCount()
	if err != nil || n < r.documents {
		return 0
	}
	return n - r.documents
}

// Count is how many parts have a term.
func (r *Reader) Count(term string) (uint64, error) { return r.countIn(fieldTerms, term) }

func (r *Reader) countIn(field, term string) (uint64, error) {
	list, err := r.reader.TermFieldReader(context.Background(), []byte(term), field, false, false, false)
	if err != nil {
		return 0, fmt.Errorf("look up a word: %w", err)
	}
	n := list.Count()
	if err := list.Close(); err != nil {
		return 0, fmt.Errorf("look up a word: %w", err)
	}
	return n, nil
}

// Word is a word of the dictionary, or a stem of one.
type Word struct {
	// Term is what is looked for, Count about how many documents have it.
	Term  string
	Count uint64
}

// WithPrefix finds words of documents and stems that begin with a text.
func (r *Reader) WithPrefix(prefix string) (map[string]Word, error) {
	return r.listWords(func(field string) (bleveindex.FieldDict, error) {
		return r.reader.FieldDictPrefix(field, []byte(prefix))
	})
}

// Similar finds words of documents and stems that differ from a word in few letters.
func (r *Reader) Similar(word string, differences int) (map[string]Word, error) {
	fuzzy, ok := r.reader.(bleveindex.IndexReaderFuzzy)
	if !ok {
		return map[string]Word{}, nil
	}
	return r.listWords(func(field string) (bleveindex.FieldDict, error) {
		return fuzzy.FieldDictFuzzy(field, word, differences, "")
	})
}

// listWords reads the words that open yields of both dictionaries: that of the terms, and that of the words which are not their own stems.
func (r *Reader) listWords(open func(field string) (bleveindex.FieldDict, error)) (map[string]Word, error) {
	out := map[string]Word{}
	for _, field := range []string{fieldTerms, fieldWords} {
		words, err := open(field)
		if err != nil {
			return nil, fmt.Errorf("look for words: %w", err)
		}
		err = readWords(words, field == fieldWords, out)
		if err := errors.Join(err, words.Close()); err != nil {
			return nil, fmt.Errorf("look for words: %w", err)
		}
	}
	return out, nil
}

func readWords(words bleveindex.FieldDict, stem bool, to map[string]Word) error {
	for range maxWords {
		e, err := words.Next()
		if err != nil || e == nil {
			return err
		}
		w := Word{Term: e.Term, Count: e.Count}
		if stem {
			w.Term = terms.Stem(e.Term)
		}
		to[e.Term] = w
	}
	return nil
}

// eachWith yields the ids of all that have a term in a field.
func (r *Reader) eachWith(ctx context.Context, field, term string, yield func(id string) error) error {
	list, err := r.reader.TermFieldReader(ctx, []byte(term), field, false, false, false)
	if err != nil {
		return fmt.Errorf("look up a word: %w", err)
	}
	defer list.Close()
	var at bleveindex.TermFieldDoc
	for {
		next, err := list.Next(at.Reset())
		if err != nil {
			return fmt.Errorf("look up a word: %w", err)
		}
		if next == nil {
			return nil
		}
		id, err := r.reader.ExternalID(next.ID)
		if err != nil {
			return fmt.Errorf("look up a word: %w", err)
		}
		if err := yield(id); err != nil {
			return err
		}
	}
}

// EachWith yields the ids of the parts that have a term.
func (r *Reader) EachWith(ctx context.Context, term string, yield func(id string) error) error {
	return r.eachWith(ctx, fieldTerms, term, yield)
}

// readField reads what is kept in a field.
func (r *Reader) readField(id, name string) (value []byte, err error) {
	doc, err := r.reader.Document(id)
	if err != nil || doc == nil {
		return nil, fmt.Errorf("read %s of the index: %w", name, err)
	}
	doc.VisitFields(func(f bleveindex.Field) {
		if f.Name() == name {
			value = f.Value()
		}
	})
	return value, nil
}

// Part is what is kept of a part of a document.
type Part struct {
	Title    string
	Passages []Passage
}

// Part reads a part; one that is gone has no passages.
func (r *Reader) Part(id string) (p Part, err error) {
	doc, err := r.reader.Document(id)
	if err != nil {
		return p, fmt.Errorf("read part: %w", err)
	}
	if doc == nil {
		return p, nil
	}
	doc.VisitFields(func(f bleveindex.Field) {
		switch f.Name() {
		case fieldTitle:
			p.Title = string(f.Value())
		case fieldPassages:
			p.Passages = decodePassages(string(f.Value()))
		}
	})
	return p, nil
}

// Term is a term to look for, and how much it counts.
type Term struct {
	Text  string
	Boost float64
}

// List returns the ids of the parts that fit best: with any of the terms, and all of the required ones.
func (ix *Index) List(ctx context.Context, some []Term, required []string, size int) ([]string, error) {
	any := bleve.NewDisjunctionQuery()
	for _, t := range some {
		any.AddQuery(termQuery(t.Text, t.Boost))
	}
	var query blevequery.Query = any
	if len(required) > 0 {
		both := bleve.NewBooleanQuery()
		for _, t := range required {
			both.AddMust(termQuery(t, 0))
		}
		both.AddShould(any)
		query = both
	}
	found, err := ix.Bleve.SearchInContext(ctx, bleve.NewSearchRequestOptions(query, size, 0, false))
	if err != nil {
		return nil, fmt.Errorf("search index: %w", err)
	}
	out := make([]string, len(found.Hits))
	for i, h := range found.Hits {
		out[i] = h.ID
	}
	return out, nil
}

func termQuery(term string, boost float64) *blevequery.TermQuery {
	q := bleve.NewTermQuery(term)
	q.SetField(fieldTerms)
	q.SetBoost(boost)
	return q
}
