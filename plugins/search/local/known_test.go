package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// newHeldBackend returns a backend that follows no files by itself: the test does what its follower would.
func newHeldBackend(t *testing.T, base string) *backend {
	t.Helper()
	f, _ := newTestFollower(t, base)
	b := &backend{follower: f}
	var err error
	if b.ops, err = webops.New(b.webopsSettings(search.Instance{Log: hclog.NewNullLogger()},
		Config{Timeout: 5e9, Parallel: 1, Pages: 10})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.ops.Close() })
	return b
}

// waiting are the operations that need the index.
var waiting = map[string]search.Request{
	"search":   {Operation: search.OpSearch, Body: []byte(`{"query":"crane"}`)},
	"extract":  {Operation: search.OpExtract, Body: []byte(`{"urls":["file:docs/old.md"]}`)},
	"research": {Operation: search.OpResearch, Body: []byte(`{"input":"crane"}`)},
}

// TestAnswersWhileIndexing: with documents in the index every operation answers from them, although the files were not looked at yet;
// with none it says when to come again.
func TestAnswersWhileIndexing(t *testing.T) {
	base := t.TempDir()
	writeDoc(t, base+"/empty", ".hidden/x.md", "text")
	empty := newHeldBackend(t, base+"/empty")
	writeDoc(t, base, "old.md", "# Crane\n\nThe crane lifts containers.\n")
	writeDoc(t, base, "secret/hidden.md", "# Crane\n\nThe other crane.\n")
	full := newHeldBackend(t, base)
	if err := full.follower.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As after a restart: the manifest is there, the files are not listed, and the rules may have changed.
	full.follower.files = nil
	exclude, diags := compileGlobs("exclude", []string{"docs/secret"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	full.follower.rules.exclude = exclude
	for name, req := range waiting {
		t.Run(name, func(t *testing.T) {
			resp, err := full.Invoke(t.Context(), &req)
			if err != nil || resp.Status != 200 || name != "research" && !strings.Contains(string(resp.Body), "lifts containers") ||
				strings.Contains(string(resp.Body), "hidden.md") {
				t.Errorf("while indexing: %v %+v", err, resp)
			}
			_, err = empty.Invoke(t.Context(), &req)
			if e := errs.From(err); err == nil || e.Reason != errs.ReasonNotReady || e.Code != codes.Unavailable || e.RetryAfter <= 0 {
				t.Errorf("with an empty index: %v", err)
			}
		})
	}
	t.Run("a stream", func(t *testing.T) {
		_, err := empty.Stream(t.Context(), &search.Request{Operation: search.OpResearch, Body: []byte(`{"input":"crane","stream":true}`)}, nil)
		if err == nil || errs.From(err).Reason != errs.ReasonNotReady {
			t.Errorf("with an empty index: %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := empty.Invoke(ctx, &search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"crane"}`)}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("after the caller has left: %v", err)
	}
}

// TestEmptyFolder: a folder without documents is indexed, and finds nothing.
func TestEmptyFolder(t *testing.T) {
	base := t.TempDir()
	writeDoc(t, base, "picture.md", "\x00\x01")
	b := newHeldBackend(t, base)
	if err := b.follower.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(b.follower.ready)
	resp, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"crane"}`)})
	var out searchAnswer
	if err != nil || json.Unmarshal(resp.Body, &out) != nil || len(out.Results) != 0 {
		t.Errorf("%v %+v", err, resp)
	}
}

// TestLocate compares what names say with what a look at the files finds.
func TestLocate(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"a.md", "sub/b.md", "sub/deep/c d.md", ".git/x.md", "sub/.hidden/y.md", "id_rsa", "key.pem", "out/z.md",
		"go.sum", "x.svg"} {
		writeDoc(t, base, name, "text")
	}
	f, _ := newTestFollower(t, base)
	f.rules.exclude, _ = compileGlobs("exclude", []string{"out"})
	all, err := scanRoots(t.Context(), f.roots, f.rules)
	if err != nil {
		t.Fatal(err)
	}
	found := all.files
	if len(found) != 3 {
		t.Fatalf("%v", found)
	}
	for _, name := range []string{"docs/a.md", "docs/sub/b.md", "docs/sub/deep/c d.md", "docs/.git/x.md", "docs/sub/.hidden/y.md",
		"docs/id_rsa", "docs/key.pem", "docs/out/z.md", "docs/../a.md", "other/a.md", "docs//a.md", "docs/go.sum", "docs/x.svg"} {
		got, ok := f.locateFile(name)
		want, listed := found[escapeAddress(name)]
		if ok != listed || ok && (got.path != want.path || got.address != want.address || got.root != want.root) {
			t.Errorf("%s: %+v %v, a look finds %+v %v", name, got, ok, want, listed)
		}
	}
}

// TestHealthTellsProgress: while many files wait for the index its health says how many are there.
func TestHealthTellsProgress(t *testing.T) {
	base := t.TempDir()
	for i := range 2 * manyFiles {
		writeDoc(t, base, fmt.Sprintf("%d.md", i), "text")
	}
	b := newHeldBackend(t, base)
	b.follower.setProgress(3, 10)
	if err := b.Health(t.Context()); err == nil || err.Error() != "indexing 3 of 10" {
		t.Errorf("during the first look: %v", err)
	}
	close(b.follower.ready)
	if err := b.Health(t.Context()); err != nil {
		t.Errorf("few files: %v", err)
	}
	b.follower.setProgress(1, 1+manyFiles)
	if err := b.Health(t.Context()); err == nil {
		t.Error("many files: no word")
	}
	if err := b.follower.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.Health(t.Context()); err != nil {
		t.Errorf("after the look: %v", err)
	}
}
