package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// inner is an index in another one, which would otherwise have a field of the name of a method.
type inner = bleve.Index

// recorder is an index that notes how large the batches are, in documents and in bytes.
type recorder struct {
	inner
	documents, bytes []int
}

func (r *recorder) Batch(b *bleve.Batch) error {
	r.documents, r.bytes = append(r.documents, b.Size()), append(r.bytes, int(b.TotalDocsSize()))
	return r.inner.Batch(b)
}

// newTestFollower returns a follower of the folder docs in base, whose index records its batches.
func newTestFollower(t *testing.T, base string) (*follower, *recorder) {
	t.Helper()
	inst := search.Instance{BaseDir: base, DataDir: t.TempDir(), Log: hclog.NewNullLogger()}
	r, diags := newRules(inst, Config{MaxFileSize: 64 << 20})
	roots, d := newRoots(base, []string{"docs"}, r)
	if append(diags, d...).HasErrors() {
		t.Fatal(diags, d)
	}
	ix, manifest, err := openIndex(indexDir(inst), inst.Log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Bleve.Close() })
	rec := &recorder{inner: ix.Bleve}
	ix.Bleve = rec
	f := &follower{
		index: ix, roots: roots, documents: documents.NewReader(documents.Config{}), rules: r, generation: openGeneration(inst.DataDir),
		log: inst.Log, now: time.Now, manifest: manifest, written: manifest,
		ready: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	return f, rec
}

func writeDoc(t *testing.T, base, name, text string) {
	t.Helper()
	full := filepath.Join(base, "docs", name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What indexing takes of memory goes with the size of a batch, so that neither one large document nor many small ones
// may be in one.
func TestBatchesAreBounded(t *testing.T) {
	const most = 5 << 20
	base := t.TempDir()
	paragraph := strings.Repeat("The harbour crane lifts containers from ships. ", 20) + "\n\n"
	writeDoc(t, base, "large.md", strings.Repeat(paragraph, 8<<20/len(paragraph)))
	for i := range 100 {
		writeDoc(t, base, fmt.Sprintf("small/%d.md", i), fmt.Sprintf("# Document %d\n\n%s", i, strings.Repeat(paragraph, 8)))
	}
	f, rec := newTestFollower(t, base)
	check := func(what string) {
		t.Helper()
		for i, n := range rec.bytes {
			if n > most {
				t.Errorf("%s: batch %d of %d has %d bytes in %d documents", what, i, len(rec.bytes), n, rec.documents[i])
			}
		}
		parts := 0
		for _, e := range f.manifest {
			parts += e.Parts + 1
		}
		if n, err := f.index.Bleve.DocCount(); err != nil || int(n) != parts || parts == 0 {
			t.Errorf("%s: the index has %d parts, the manifest %d, %v", what, n, parts, err)
		}
		rec.bytes, rec.documents = nil, nil
	}
	if err := f.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("first index")
	writeDoc(t, base, "large.md", strings.Repeat(paragraph, 1<<19/len(paragraph))+"changed")
	if err := f.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("change")
}

// stoppedAfter is an index that fails after some batches.
type stoppedAfter struct {
	inner
	left int
}

func (s *stoppedAfter) Batch(b *bleve.Batch) error {
	if s.left--; s.left < 0 {
		return context.Canceled
	}
	return s.inner.Batch(b)
}

// A document of several batches that was indexed in part is indexed anew, whole and without remains.
func TestDocumentIndexedInPart(t *testing.T) {
	base := t.TempDir()
	paragraph := strings.Repeat("The harbour crane lifts containers from ships. ", 20) + "\n\n"
	writeDoc(t, base, "large.md", strings.Repeat(paragraph, 8<<20/len(paragraph)))
	f, rec := newTestFollower(t, base)
	f.index.Bleve = &stoppedAfter{inner: rec, left: 2}
	if err := f.syncFiles(t.Context()); err == nil {
		t.Fatal("the document fits into two batches")
	}
	f.index.Bleve = rec
	manifest, err := readManifest(f.index)
	if err != nil {
		t.Fatalf("after two batches: %v", err)
	}
	f.manifest = manifest
	if err := f.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := f.manifest["file:docs/large.md"]
	if n, err := rec.DocCount(); err != nil || int(n) != e.Parts+1 || !e.Text || e.Parts < 480 {
		t.Errorf("%d parts, %+v, %v", n, e, err)
	}
}

func TestQueriesAreBounded(t *testing.T) {
	base := t.TempDir()
	for i := range 20 {
		writeDoc(t, base, fmt.Sprintf("%d.md", i), "# Letters\n\na b c d e f g h i j k l m n o p q r s t u v w x y z 的 一 是 了\n")
	}
	f, _ := newTestFollower(t, base)
	if err := f.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(f.ready)
	b := &backend{follower: f}
	started := func() uint64 {
		stats, _ := f.index.Bleve.StatsMap()["index"].(map[string]any)
		n, ok := stats["term_searchers_started"].(uint64)
		if !ok {
			t.Fatalf("the index does not count: %v", stats)
		}
		return n
	}
	var many strings.Builder
	for n := range 300 {
		fmt.Fprintf(&many, "%c%c ", 'a'+n%26, 'a'+n/26)
	}
	for name, tt := range map[string]struct {
		query string
		most  uint64
	}{
		"a word 300 times":       {strings.Repeat("a ", 300), 40},
		"an ideograph 300 times": {strings.Repeat("的", 300), 40},
		"all letters":            {strings.Repeat("a b c d e f g h i j k l m n o p q r s t u v w x y z ", 10), 500},
		"300 words":              {many.String(), 500},
	} {
		before := started()
		if _, err := b.findDocuments(t.Context(), searchParams{query: tt.query, results: 5}); err != nil {
			t.Fatal(err)
		}
		if n := started() - before; n > tt.most {
			t.Errorf("%s: %d lists of parts were read, %d is enough", name, n, tt.most)
		}
	}
}

// The rarest words of a long query are looked for even if they stand behind many that are equally common.
func TestLongQueryKeepsItsRarestWords(t *testing.T) {
	base := t.TempDir()
	var common strings.Builder
	for n := range 25 {
		fmt.Fprintf(&common, "%c%c%c ", 'b'+n, 'b'+n, 'k')
	}
	for i := range 3 {
		writeDoc(t, base, fmt.Sprintf("%d.md", i), common.String())
	}
	writeDoc(t, base, "rare.md", "zanzibar")
	f, _ := newTestFollower(t, base)
	if err := f.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(f.ready)
	b := &backend{follower: f}
	hits, err := b.findDocuments(t.Context(), searchParams{query: common.String() + "zanzibar", results: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		if h.address == "file:docs/rare.md" {
			return
		}
	}
	t.Errorf("%d documents without the one that has the rarest word", len(hits))
}

// readManifest reads the manifest of an index that is open.
func readManifest(ix *index.Index) (map[string]entry, error) {
	raw, err := ix.Entries(countParts)
	if err != nil {
		return nil, err
	}
	return decodeEntries(raw)
}
