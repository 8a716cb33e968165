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
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	regexpfilter "github.com/blevesearch/bleve/v2/analysis/char/regexp"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/hashicorp/go-hclog"
)

// Fields of a passage. Each is indexed twice: in English with word stems, and under its name with cjkSuffix with pairs
// of ideographs and unchanged words.
const (
	fieldText    = "text"
	fieldTitle   = "title"
	fieldHeading = "heading"
	fieldPath    = "path"
	cjkSuffix    = "_cjk"
)

// formatVersion changes with everything that makes an index useless for newer code: mapping, passages, manifest.
const formatVersion = "1"

const (
	english      = "patchbay_en"
	separators   = "patchbay_separators"
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
	// One character is replaced by one, so that the offsets of words stay those of the text.
	err := m.AddCustomCharFilter(separators, map[string]any{
		"type": regexpfilter.Name, "regexp": `[._/:\-]`, "replace": " ",
	})
	if err != nil {
		return nil, err
	}
	err = m.AddCustomAnalyzer(english, map[string]any{
		"type": custom.Name, "char_filters": []string{separators}, "tokenizer": unicode.Name,
		"token_filters": []string{en.PossessiveName, lowercase.Name, en.StopName, porter.Name},
	})
	if err != nil {
		return nil, err
	}
	doc := bleve.NewDocumentStaticMapping()
	for _, name := range []string{fieldText, fieldTitle, fieldHeading, fieldPath} {
		stored := name == fieldText || name == fieldTitle
		doc.AddFieldMappingsAt(name, field(name, english, stored), field(name+cjkSuffix, cjk.AnalyzerName, false))
	}
	m.DefaultMapping = doc
	return m, nil
}

func field(name, analyzer string, stored bool) *mapping.FieldMapping {
	f := bleve.NewTextFieldMapping()
	f.Name, f.Analyzer, f.Store = name, analyzer, stored
	f.IncludeInAll, f.DocValues = false, false
	return f
}

// update is a set of changes that are written at once.
type update struct {
	batch *bleve.Batch
	bytes int
	files int
}

func (ix *index) begin() *update { return &update{batch: ix.bleve.NewBatch()} }

func passageID(address string, n int) string { return address + passageMark + strconv.Itoa(n) }

// documentOf returns the address of the document of a passage.
func documentOf(id string) string {
	at := strings.LastIndex(id, passageMark)
	return id[:max(at, 0)]
}

func (u *update) remove(address string, e entry) {
	for n := range e.Passages {
		u.batch.Delete(passageID(address, n))
	}
	if e.Passages > 0 {
		u.files++
	}
}

func (u *update) put(address, rel string, doc document) error {
	for n, p := range doc.passages {
		fields := map[string]any{fieldText: p.text, fieldTitle: doc.title, fieldHeading: p.heading, fieldPath: rel}
		if err := u.batch.Index(passageID(address, n), fields); err != nil {
			return fmt.Errorf("index %s: %w", address, err)
		}
		u.bytes += len(p.text)
	}
	u.files++
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
