package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// envBackup makes the test binary write a backup of the configuration of that name, until it is killed.
const envBackup = "PATCHBAY_TEST_BACKUP"

func source(path string) settings.Source {
	return settings.Source{Path: path, Env: func(string) (string, bool) { return "", false }}
}

// newSource returns a new configuration with a database that is empty, on PostgreSQL one of its own.
func newSource(t *testing.T, dialect store.Dialect) settings.Source {
	t.Helper()
	src, text := source(filepath.Join(t.TempDir(), "plugin.hcl")), "core {}\n"
	if dialect == store.Postgres {
		text = fmt.Sprintf("storage \"postgres\" {\n  url = %q\n}\n", testkit.Postgres(t))
	}
	must(t, os.WriteFile(src.Path, []byte(text), 0o600))
	return src
}

// openDatabase opens the database of a configuration.
func openDatabase(t *testing.T, src settings.Source, exclusive bool) *store.Store {
	t.Helper()
	set, diags, err := src.Read()
	must(t, errors.Join(err, diags.Err()))
	set.Store.Exclusive = exclusive
	must(t, os.MkdirAll(set.DataDir, 0o700))
	st, err := store.Open(t.Context(), set.Store)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// newInstallation makes a data directory with a database that a core uses, and returns the database and the configuration.
func newInstallation(t *testing.T, dialect store.Dialect) (*store.Store, settings.Source) {
	t.Helper()
	src := newSource(t, dialect)
	data := filepath.Join(filepath.Dir(src.Path), "data")
	must(t, os.MkdirAll(filepath.Join(data, "instances", "search.docs"), 0o700))
	must(t, os.WriteFile(filepath.Join(data, "master.key"), []byte("a key"), 0o600))
	st := openDatabase(t, src, true)
	must(t, st.Tx(t.Context(), "create", func(ctx context.Context) error {
		return st.Writer(ctx).Exec("CREATE TABLE pairs (writer INTEGER, n INTEGER, side TEXT)").Error
	}))
	return st, src
}

// pairs returns how many rows there are, and how many have no other side.
func pairs(t *testing.T, st *store.Store) (rows, single int) {
	t.Helper()
	must(t, st.DB(t.Context()).Raw("SELECT COUNT(*) FROM pairs").Scan(&rows).Error)
	must(t, st.DB(t.Context()).Raw("SELECT COUNT(*) FROM (SELECT 1 FROM pairs GROUP BY writer, n HAVING COUNT(*) <> 2) s").Scan(&single).Error)
	return rows, single
}

// TestBackupAndRestoreUnderLoad writes pairs of rows in transactions and changes the folder of an instance, backs that up and restores
// it elsewhere meanwhile: what comes back has whole transactions alone, at least those that had ended when the backup began.
func TestBackupAndRestoreUnderLoad(t *testing.T) {
	for _, dialect := range []store.Dialect{store.SQLite, store.Postgres} {
		t.Run(string(dialect), func(t *testing.T) { backUpUnderLoad(t, dialect) })
	}
}

func backUpUnderLoad(t *testing.T, dialect store.Dialect) {
	st, src := newInstallation(t, dialect)
	requireTools(t, src)
	folder := filepath.Join(filepath.Dir(src.Path), "data", "instances", "search.docs")
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				err := st.Tx(context.WithoutCancel(ctx), "write pair", func(ctx context.Context) error {
					return errors.Join(st.Writer(ctx).Exec("INSERT INTO pairs VALUES (?, ?, 'left')", w, n).Error,
						st.Writer(ctx).Exec("INSERT INTO pairs VALUES (?, ?, 'right')", w, n).Error)
				})
				file := filepath.Join(folder, fmt.Sprint("segment-", w, "-", n%8))
				if err := errors.Join(err, os.WriteFile(file+".new", make([]byte, 1000*(n%8)), 0o600), os.Rename(file+".new", file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Cleanup(writers.Wait)
	t.Cleanup(stop)
	for round := range 3 {
		before, _ := pairs(t, st)
		testkit.Eventually(t, time.Minute, func() bool { now, _ := pairs(t, st); return now > before+20 }, "the writers write")
		archive := filepath.Join(t.TempDir(), "backup.tar.gz")
		began, _ := pairs(t, st)
		_, err := Backup(t.Context(), src, archive, true)
		must(t, err)
		ended, _ := pairs(t, st)

		if _, _, err := Restore(t.Context(), src, Restoring{Archive: archive, Overwrite: true, MaxSize: 1 << 30}); !errors.Is(err,
			store.ErrLocked) {
			t.Fatalf("over a database that a core uses: %v", err)
		}
		other := source(filepath.Join(t.TempDir(), "plugin.hcl"))
		if dialect == store.Postgres {
			other = newSource(t, dialect)
		}
		done, diags, err := Restore(t.Context(), other, Restoring{Archive: archive, MaxSize: 1 << 30})
		must(t, err)
		must(t, diags.Err())
		if len(done.Kept) > 0 || dialect == store.SQLite && len(done.Beside) > 0 {
			t.Errorf("nothing was there, but %+v", done)
		}
		data := filepath.Join(filepath.Dir(other.Path), "data")
		restored := openDatabase(t, other, false)
		rows, single := pairs(t, restored)
		must(t, restored.Close())
		if single > 0 || rows < began || rows > ended {
			t.Errorf("round %d: %d rows came back, of %d to %d; %d have no other side", round, rows, began, ended, single)
		}
		segments, err := os.ReadDir(filepath.Join(data, "instances", "search.docs"))
		must(t, err)
		if key, err := os.ReadFile(filepath.Join(data, "master.key")); err != nil || string(key) != "a key" || len(segments) == 0 {
			t.Errorf("the key is %q, %v; the instance has %d files", key, err, len(segments))
		}
	}
}

// requireTools skips the test where what copies the database is missing.
func requireTools(t *testing.T, src settings.Source) {
	t.Helper()
	set, _, err := src.Read()
	must(t, err)
	testkit.Require(t, "postgresql-client", set.Store.CheckTools() == nil, "install postgresql-client")
}

// TestRestoreKeepsWhatIsThere restores over another installation with PostgreSQL: only if that is asked for, and what was there is kept.
// An archive of the other kind of database is refused.
func TestRestoreKeepsWhatIsThere(t *testing.T) {
	st, src := newInstallation(t, store.Postgres)
	requireTools(t, src)
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	_, err := Backup(t.Context(), src, archive, true)
	must(t, err)
	must(t, st.Close())
	data := filepath.Join(filepath.Dir(src.Path), "data")
	must(t, os.WriteFile(filepath.Join(data, "master.key"), []byte("another key"), 0o600))
	if done, _, err := Restore(t.Context(), src, Restoring{Archive: archive, MaxSize: 1 << 30}); !errors.Is(err, store.ErrDatabaseExists) ||
		len(done.Kept) > 0 {
		t.Errorf("over a database: %+v, %v", done, err)
	}
	done, _, err := Restore(t.Context(), src, Restoring{Archive: archive, Overwrite: true, MaxSize: 1 << 30})
	must(t, err)
	if kept := strings.Join(done.Kept, "\n"); len(done.Kept) != 2 || !strings.Contains(kept, "the schema before_restore_") ||
		!strings.Contains(kept, "master.key.before-restore-") {
		t.Errorf("it has kept %q", done.Kept)
	}
	if rows, single := pairs(t, openDatabase(t, src, true)); rows+single > 0 {
		t.Errorf("%d rows, %d of them alone", rows, single)
	}
	if left, err := filepath.Glob(filepath.Join(data, "[br]*-*")); err != nil || len(left) > 0 {
		t.Errorf("backup and restore left %q, %v", left, err)
	}
	other := newSource(t, store.SQLite)
	if _, _, err := Restore(t.Context(), other, Restoring{Archive: archive, MaxSize: 1 << 30}); err == nil ||
		!strings.Contains(err.Error(), "another kind of database than plugin.hcl says: patchbay.sqlite3") {
		t.Errorf("into SQLite: %v", err)
	}
}

// TestKilledBackupLeavesNoArchive kills a process while it writes an archive: there is none under the final name, and the next
// backup is whole.
func TestKilledBackupLeavesNoArchive(t *testing.T) {
	_, src := newInstallation(t, store.SQLite)
	dir := filepath.Dir(src.Path)
	large := filepath.Join(dir, "data", "instances", "search.docs", "large")
	must(t, os.WriteFile(large, nil, 0o600))
	must(t, os.Truncate(large, 4<<30))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envBackup+"="+src.Path)
	var out strings.Builder
	cmd.Stderr = &out
	must(t, cmd.Start())
	testkit.Eventually(t, time.Minute, func() bool {
		partial, err := filepath.Glob(filepath.Join(dir, partialPattern))
		must(t, err)
		if len(partial) == 0 {
			return false
		}
		info, err := os.Stat(partial[0])
		return err == nil && info.Size() > 0
	}, "the archive is being written")
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil || out.String() != "" {
		t.Fatalf("the backup has ended by itself: %v %s", err, &out)
	}
	archive := filepath.Join(dir, "backup.tar.gz")
	if _, err := os.Lstat(archive); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("there is an archive: %v", err)
	}
	must(t, os.Truncate(large, 1000))
	partial, err := filepath.Glob(filepath.Join(dir, partialPattern))
	must(t, err)
	must(t, os.Chtimes(partial[0], time.Time{}, time.Now().Add(-2*staleAfter)))
	_, err = Backup(t.Context(), src, archive, true)
	must(t, err)
	for _, pattern := range []string{partialPattern, "data/backup-*"} {
		if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("the killed backup left %q, %v", left, err)
		}
	}
	other := source(filepath.Join(t.TempDir(), "plugin.hcl"))
	_, _, err = Restore(t.Context(), other, Restoring{Archive: archive, MaxSize: 1 << 30})
	must(t, err)
}
