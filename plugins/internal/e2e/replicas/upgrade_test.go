package replicas

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// nextVersion is the version of the cores that buildNext builds.
const nextVersion = "0.2.0-next"

// buildNext builds a core of the next version: the present one with more migrations, each a statement.
func buildNext(t *testing.T, statements ...string) (binary string) {
	t.Helper()
	dir, overlay := t.TempDir(), struct{ Replace map[string]string }{map[string]string{}}
	for i, s := range statements {
		name := fmt.Sprintf("%d_next.sql", 9001+i)
		overlay.Replace[filepath.Join(kit.Root(), "core/services/search/migrations", name)] = filepath.Join(dir, name)
		kit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("-- +goose Up\n"+s+";\n"), 0o600))
	}
	raw, err := json.Marshal(overlay)
	kit.Must(t, err)
	list := filepath.Join(dir, "overlay.json")
	kit.Must(t, os.WriteFile(list, raw, 0o600))
	binary = filepath.Join(dir, "patchbay")
	kit.Must(t, kit.GoBuild(binary, "core/cmd/patchbay", true, "-overlay", list, "-ldflags",
		"-s -w -X github.com/patchbay-dev/patchbay/core/cli.Version="+nextVersion))
	return binary
}

// addEverywhere returns statements that add a column to each table of the cores, and a table.
func addEverywhere(t *testing.T, s setup) (statements []string) {
	t.Helper()
	rows, err := openDatabase(t, s).Query(`SELECT tablename FROM pg_tables
		WHERE schemaname = 'public' AND tablename !~ '^(goose|river)_' ORDER BY tablename`)
	kit.Must(t, err)
	defer rows.Close()
	for rows.Next() {
		var table string
		kit.Must(t, rows.Scan(&table))
		statements = append(statements, "ALTER TABLE "+table+" ADD COLUMN next_note TEXT")
	}
	kit.Must(t, rows.Err())
	return append(statements, "CREATE TABLE search_next (id BIGINT PRIMARY KEY)")
}

// countVersions returns how many cores run with each version, as one of them tells it.
func countVersions(t *testing.T, c *kit.Core) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, n := range kit.Decode[struct {
		Nodes []struct{ State, Version string }
	}](t, c.CLI("node", "list", "-json")).Nodes {
		if n.State == "running" {
			found[n.Version]++
		}
	}
	return found
}

// TestRollingUpgrade replaces three cores by those of the next version, one after the other under load, when that version adds a column to
// each table. Nothing fails. Each core is drained by its own program, also when a newer one has changed the schema.
func TestRollingUpgrade(t *testing.T) {
	s := newSetup(t)
	cores := startCores(t, s, 3)
	next := buildNext(t, addEverywhere(t, s)...)
	l := startLoad(t, startNginx(t, cores), cores, knownToken(t, cores))
	present := slices.Collect(maps.Keys(countVersions(t, cores[0])))[0]
	for i, c := range cores {
		l.after(50)
		c.CLI("node", "drain")
		kit.Eventually(t, kit.StartWithin, "the core drains", func() bool { return !isReady(c) })
		c.Stop()
		if i == 1 {
			if out := c.Run("", "serve"); out.Status == 0 || !strings.Contains(out.Stderr, "start the newer version of patchbay") {
				t.Errorf("a core of the former version: %d, %s", out.Status, kit.LastLines(out.Stderr, 5))
			}
		}
		c.Binary = next
		c.Start()
		l.after(50)
		want := map[string]int{present: 2 - i, nextVersion: i + 1}
		maps.DeleteFunc(want, func(_ string, count int) bool { return count == 0 })
		for _, witness := range cores {
			if got := countVersions(t, witness); !maps.Equal(got, want) {
				t.Errorf("the versions are %v, want %v", got, want)
			}
		}
	}
	l.stop()
	if failed, failedGets := l.failures(); len(failed)+len(failedGets) > 0 {
		t.Errorf("%d searches and %d questions failed:\n%s", len(failed), len(failedGets), strings.Join(append(failed, failedGets...), "\n"))
	}
	expectBooks(t, s, l, 0)
	for i, c := range cores {
		if at := strings.Index(c.Logs(), "cached plan"); at >= 0 {
			t.Errorf("core-%d has a statement that does not name its columns: %s", i+1, c.Logs()[max(0, at-200):at])
		}
	}
}

// TestBreakingUpgrade: a core whose version changes a column does not start beside others, which go on, and starts when all of them have
// stopped.
func TestBreakingUpgrade(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	cores := startCores(t, s, 2)
	token := knownToken(t, cores)
	next := s.newCore(t, "core-3", fmt.Sprintf("url = %q", s.url))
	next.Binary = buildNext(t, "ALTER TABLE search_tokens ALTER COLUMN note TYPE VARCHAR(1000)")
	refuse := func(stop string) {
		t.Helper()
		want := "9001_next.sql changes what the running cores of this database use: stop " + stop + ", start this version"
		if out := next.Run("", "serve"); out.Status == 0 || !strings.Contains(out.Stderr, want) {
			t.Errorf("%d, %s", out.Status, kit.LastLines(out.Stderr, 5))
		}
	}
	refuse("core-1, core-2")
	for _, c := range cores {
		c.Search(t, token, http.StatusOK)
	}
	cores[0].Stop()
	refuse("core-2")
	cores[1].Stop()
	start(t, next)
	if got := countVersions(t, next); !maps.Equal(got, map[string]int{nextVersion: 1}) {
		t.Errorf("the versions are %v", got)
	}
}
