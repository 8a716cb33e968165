package app

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
)

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestFirstStartSaysThatTheDatabaseIsNew: one line, not one for each migration; the next start says nothing of it.
func TestFirstStartSaysThatTheDatabaseIsNew(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"testsearch": testplugin.Well},
		"search \"testsearch\" \"main\" {}\nservice \"search\" { backend = search.main }\n")
	for _, want := range []int{1, 0} {
		var log lockedBuffer
		a, diags, err := Start(t.Context(), Config{Path: r.path, Env: r.env, Version: "1.2.3", LogOutput: &log})
		must(t, err)
		must(t, diags.Err())
		must(t, a.Close())
		text := log.String()
		if got := strings.Count(text, "database created: version=1.2.3"); got != want || strings.Contains(text, "migrated") {
			t.Errorf("%d lines about a new database, want %d:\n%s", got, want, text)
		}
	}
}
