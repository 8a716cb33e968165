package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
)

// Fields of a passage.
const (
	fieldText    = "text"
	fieldTitle   = "title"
	fieldHeading = "heading"
	fieldPath    = "path"
)

var passageFields = []string{fieldText, fieldTitle, fieldHeading, fieldPath}

// formatVersion changes with everything that makes an index useless for newer code: mapping, passages, manifest.
const formatVersion = "3"

const (
	// maxBatchBytes and maxBatchChanges bound what is indexed at once, in bytes of text and in passages.
	maxBatchBytes   = 256 << 10
	maxBatchChanges = 2000

	lockTimeout  = "5s"
	keyManifest  = "patchbay.manifest"
	keyVersion   = "patchbay.version"
	passageMark  = "#"
	dirMode      = 0o700
	lockedPhrase = "timeout"
)

// entry is what is known of an indexed file.
type entry struct {
	Size  int64  `json:"s"`
	MTime int64  `json:"m"`
	Hash  string `json:"h"`
	// Checked is when the content was read, in nanoseconds as MTime is.
	Checked int64 `json:"c"`
	// Passages is how many are in the index; Text is false for a file that is no text.
	Passages int  `json:"n"`
	Text     bool `json:"t"`
	// Why is the reason for a file that is no document.
	Why documents.Reason `json:"w,omitempty"`
	// Print tells documents with the same text.
	Print fingerprint `json:"f"`
	// Generation is that in which the content was indexed.
	Generation int64 `json:"g,omitempty"`
}

// index is a bleve index with the manifest of its files. It is written by one goroutine.
type index struct {
	bleve bleve.Index
}

// openIndex opens the index in dir. One that is of another version or cannot be read is made anew; one that another
// process holds is an error.
func openIndex(dir string, log hclog.Logger) (*index, map[string]entry, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, nil, fmt.Errorf("make index directory: %w", err)
	}
	ix, manifest, err := tryOpen(dir)
	if err == nil {
		return ix, manifest, nil
	}
	if strings.Contains(err.Error(), lockedPhrase) {
		return nil, nil, errors.New("open index: another process holds it")
	}
	if !errors.Is(err, bleve.ErrorIndexMetaMissing) {
		log.Warn("search index is made anew", "reason", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, nil, fmt.Errorf("remove old index: %w", err)
	}
	ix, err = create(dir)
	return ix, map[string]entry{}, err
}

func config() map[string]any { return map[string]any{"bolt_timeout": lockTimeout} }

func tryOpen(dir string) (ix *index, manifest map[string]entry, err error) {
	defer func() {
		if p := recover(); p != nil {
			ix, err = nil, errors.New("index is damaged")
		}
	}()
	b, err := bleve.OpenUsing(dir, config())
	if err != nil {
		return nil, nil, err
	}
	manifest, err = readManifest(b)
	if err != nil {
		_ = b.Close()
		return nil, nil, err
	}
	return &index{bleve: b}, manifest, nil
}

func readManifest(b bleve.Index) (map[string]entry, error) {
	version, err := b.GetInternal([]byte(keyVersion))
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	if string(version) != formatVersion {
		return nil, fmt.Errorf("index has version %q instead of %q", version, formatVersion)
	}
	raw, err := b.GetInternal([]byte(keyManifest))
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	manifest := map[string]entry{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &manifest); err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
	}
	want := uint64(0)
	for _, e := range manifest {
		want += uint64(e.Passages)
	}
	if have, err := b.DocCount(); err != nil || have != want {
		return nil, fmt.Errorf("index has %d passages instead of %d", have, want)
	}
	return manifest, nil
}

func create(dir string) (*index, error) {
	m, err := newMapping()
	if err != nil {
		return nil, fmt.Errorf("make index mapping: %w", err)
	}
	b, err := bleve.NewUsing(dir, m, scorch.Name, scorch.Name, config())
	if err != nil {
		return nil, fmt.Errorf("make index: %w", err)
	}
	if err := b.SetInternal([]byte(keyVersion), []byte(formatVersion)); err != nil {
		_ = b.Close()
		return nil, fmt.Errorf("write index version: %w", err)
	}
	return &index{bleve: b}, nil
}

func newMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = bleveindex.BM25Scoring
	if err := addAnalyzers(m); err != nil {
		return nil, err
	}
	doc := bleve.NewDocumentStaticMapping()
	for _, name := range passageFields {
		f := bleve.NewTextFieldMapping()
		f.Name, f.Analyzer = name, indexAnalyzer
		// The places of words are not kept: they would be most of the index, and a search looks at few passages.
		f.IncludeInAll, f.DocValues, f.IncludeTermVectors = false, false, false
		doc.AddFieldMappingsAt(name, f)
	}
	m.DefaultMapping = doc
	return m, nil
}

// update is a set of changes that are written at once.
type update struct {
	batch *bleve.Batch
	// bytes is how much text is in it, changes how many passages are added or removed.
	bytes, changes int
}

func (ix *index) begin() *update { return &update{batch: ix.bleve.NewBatch()} }

// full reports whether the update is as large as one may be. Indexing takes memory by the size of an update.
func (u *update) full() bool { return u.bytes >= maxBatchBytes || u.changes >= maxBatchChanges }

func passageID(address string, n int) string { return address + passageMark + strconv.Itoa(n) }

// documentOf returns the address of the document of a passage.
func documentOf(id string) string {
	at := strings.LastIndex(id, passageMark)
	return id[:max(at, 0)]
}

// remove takes n passages of a document out.
func (u *update) remove(address string, n int) {
	for i := range n {
		u.batch.Delete(passageID(address, i))
	}
	u.changes += n
}

// put adds passage n of a document.
func (u *update) put(address, rel string, title string, n int, p passage) error {
	fields := map[string]any{fieldText: p.text, fieldTitle: title, fieldHeading: p.heading, fieldPath: rel}
	if err := u.batch.Index(passageID(address, n), fields); err != nil {
		return fmt.Errorf("index %s: %w", address, err)
	}
	u.bytes += len(p.text) + len(title) + len(p.heading) + len(rel)
	u.changes++
	return nil
}

// commit writes the changes together with the manifest that results from them.
func (ix *index) commit(ctx context.Context, u *update, manifest map[string]entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	u.batch.SetInternal([]byte(keyManifest), raw)
	if err := ix.bleve.Batch(u.batch); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}
