// Package index keeps parts of documents in a full-text index, together with what is known of each document.
package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/hashicorp/go-hclog"
)

// Fields of a part: its words with those of its document's title and path, the title, and the passages that it consists of.
const (
	fieldTerms    = "terms"
	fieldTitle    = "title"
	fieldPassages = "passages"
)

// Fields of a document: what is known of it, its words as they are written, and a mark by which all documents are found.
const (
	fieldEntry = "entry"
	fieldWords = "words"
	fieldKind  = "kind"

	kindDocument = "document"
)

// formatVersion changes with everything that makes an index useless for newer code: terms, parts, entries.
const formatVersion = "4"

const (
	lockTimeout  = "5s"
	lockedPhrase = "timeout"
	keyVersion   = "patchbay.version"
	dirMode      = 0o700
)

// Index is written by one goroutine and read by any.
type Index struct {
	// Bleve is the index itself.
	Bleve    bleve.Index
	analysis *analysis
}

// Open opens the index in dir and returns the entries of its documents. parts reads from the data of an entry how many parts it has. An
// index of another version or one that cannot be read is made anew; one that another process holds is an error.
func Open(dir string, parts func(data []byte) (int, error), log hclog.Logger) (*Index, map[string][]byte, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, nil, fmt.Errorf("make index directory: %w", err)
	}
	ix, entries, err := tryOpen(dir, parts)
	if err == nil {
		return ix, entries, nil
	}
	if strings.Contains(err.Error(), lockedPhrase) {
		return nil, nil, errors.New("open index: another process holds it")
	}
	if !errors.Is(err, bleve.ErrorIndexMetaMissing) {
		log.Warn("search index rebuilt", "reason", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, nil, fmt.Errorf("remove old index: %w", err)
	}
	ix, err = createIndex(dir)
	return ix, map[string][]byte{}, err
}

// segments is how many files of one size there are before they are merged. More of them cost searches little, and merging is a large
// part of the cost of indexing.
const segments = 20

func storeConfig() map[string]any {
	return map[string]any{"bolt_timeout": lockTimeout, "scorchMergePlanOptions": map[string]any{
		"MaxSegmentsPerTier": segments, "SegmentsPerMergeTask": segments,
	}}
}

func tryOpen(dir string, parts func([]byte) (int, error)) (ix *Index, entries map[string][]byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			ix, err = nil, errors.New("index is damaged")
		}
	}()
	b, err := bleve.OpenUsing(dir, storeConfig())
	if err != nil {
		return nil, nil, err
	}
	ix = &Index{Bleve: b, analysis: newAnalysis()}
	if entries, err = ix.Entries(parts); err != nil {
		_ = b.Close()
		return nil, nil, err
	}
	return ix, entries, nil
}

// Entries reads what is known of the documents, and checks that the index has the parts that they are said to have.
func (ix *Index) Entries(parts func([]byte) (int, error)) (map[string][]byte, error) {
	version, err := ix.Bleve.GetInternal([]byte(keyVersion))
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	if string(version) != formatVersion {
		return nil, fmt.Errorf("index has version %q instead of %q", version, formatVersion)
	}
	reader, err := ix.Read()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	entries, want := map[string][]byte{}, uint64(0)
	err = reader.eachWith(context.Background(), fieldKind, kindDocument, func(id string) error {
		data, err := reader.readField(id, fieldEntry)
		if err != nil {
			return err
		}
		n, err := parts(data)
		entries[DocumentOf(id)] = data
		want += uint64(n) + 1
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	if have, err := ix.Bleve.DocCount(); err != nil || have != want {
		return nil, fmt.Errorf("index has %d parts instead of %d", have, want)
	}
	return entries, nil
}

func createIndex(dir string) (*Index, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = bleveindex.BM25Scoring
	b, err := bleve.NewUsing(dir, m, scorch.Name, scorch.Name, storeConfig())
	if err != nil {
		return nil, fmt.Errorf("make index: %w", err)
	}
	if err := b.SetInternal([]byte(keyVersion), []byte(formatVersion)); err != nil {
		_ = b.Close()
		return nil, fmt.Errorf("write index version: %w", err)
	}
	return &Index{Bleve: b, analysis: newAnalysis()}, nil
}

// Close closes the index.
func (ix *Index) Close() error {
	if err := ix.Bleve.Close(); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return nil
}
