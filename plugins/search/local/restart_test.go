package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
)

func TestRestart(t *testing.T) {
	h := newHouse(t, library)
	b, stop := h.open(t)
	before := find(t, b, "credits").urls()
	make, _ := local.Definition().Build(h.instance(), h.cfg)
	if _, err := make(t.Context()); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second backend on the same directory: %v", err)
	}
	stop()
	h.write(t, "docs/quota.md", "# Penguins\n")
	h.write(t, "docs/new.md", "credits again")
	b, stop = h.open(t)
	if diff := cmp.Diff([]string{"file:docs/new.md"}, find(t, b, "credits").urls()); diff != "" {
		t.Errorf("after %v: %s", before, diff)
	}
	if len(find(t, b, "回滚").Results) != 1 {
		t.Error("an unchanged document is gone")
	}
	stop()
	h.cfg.Exclude = []string{"*.go", "zh"}
	b, _ = h.open(t)
	for _, q := range []string{"drainTimeout", "回滚"} {
		if n := len(find(t, b, q).Results); n != 0 {
			t.Errorf("%s: an excluded document is still found", q)
		}
	}
}

func TestDamagedIndex(t *testing.T) {
	h := newHouse(t, library)
	for name, damage := range map[string]func(dir string) error{
		"meta": func(dir string) error { return os.WriteFile(filepath.Join(dir, "index_meta.json"), []byte("{"), 0o600) },
		"store": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "store", "root.bolt"), []byte("broken"), 0o600)
		},
		"gone": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "store")) },
	} {
		b, stop := h.open(t)
		find(t, b, "credits")
		stop()
		if err := damage(filepath.Join(h.data, "index")); err != nil {
			t.Fatal(err)
		}
		b, stop = h.open(t)
		if n := len(find(t, b, "credits").Results); n != 1 {
			t.Errorf("%s: %d results after the repair", name, n)
		}
		stop()
	}
}
