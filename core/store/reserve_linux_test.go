package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fillerSchema is a table for rows of any size.
var fillerSchema = store.Migrations{Module: "filler",
	FS: fstest.MapFS{"0001_x.sql": {Data: []byte("-- +goose Up\nCREATE TABLE filler (id INTEGER PRIMARY KEY, data BLOB NOT NULL);\n")}}}

// TestFullDisk fills the disk of a database by what else lies there: changes are refused with a reason, deletions go on, and the reserve
// comes back with the space.
func TestFullDisk(t *testing.T) {
	dir := testkit.MountSmallDisk(t, "64m")
	path := filepath.Join(dir, "patchbay.sqlite3")
	st := testkit.OpenStore(t, store.Config{Dialect: store.SQLite, Path: path, Exclusive: true}, fillerSchema)
	insert := func(ctx context.Context, size int) error {
		return st.Tx(ctx, "insert", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("INSERT INTO filler (data) VALUES (zeroblob(?))", size).Error
		})
	}
	for range 100 {
		testkit.Must(t, insert(t.Context(), 1000))
	}
	ballast := filepath.Join(dir, "ballast")
	file, err := os.Create(ballast)
	testkit.Must(t, err)
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = file.Write(block)
	}
	for err = nil; err == nil; {
		_, err = file.Write(block[:512])
	}
	testkit.Must(t, file.Close())
	refused := insert(t.Context(), 8<<20)
	if fault.CodeOf(refused) != fault.InsufficientStorage || fault.StatusOf(refused) != 507 || !store.IsDiskFull(refused) {
		t.Fatalf("on a full disk: %v", refused)
	}
	essential := store.Essential(t.Context())
	var left int64
	for range 20 {
		err := st.Tx(essential, "delete", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("DELETE FROM filler WHERE id IN (SELECT id FROM filler LIMIT 5)").Error
		})
		if err != nil {
			t.Fatalf("a deletion on a full disk: %v", err)
		}
	}
	if err := st.DB(t.Context()).Raw("SELECT count(*) FROM filler").Scan(&left).Error; err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
	if err := insert(t.Context(), 8<<20); fault.CodeOf(err) != fault.InsufficientStorage {
		t.Errorf("the space of the reserve went to another change: %v", err)
	}
	testkit.Must(t, os.Remove(ballast))
	testkit.Eventually(t, 20*time.Second, func() bool { return insert(t.Context(), 8<<20) == nil }, "there is space again")
	if info, err := os.Stat(path + ".reserve"); err != nil || info.Size() != 16<<20 {
		t.Errorf("the reserve was not made again: %v", err)
	}
}

// TestDamagedPages damages a table that nobody reads: the first statement that does tells everybody.
func TestDamagedPages(t *testing.T) {
	cfg := testkit.SQLiteConfig(t)
	st := testkit.OpenStore(t, cfg, fillerSchema)
	err := st.Tx(t.Context(), "fill", func(ctx context.Context) error {
		for range 500 {
			if err := st.Writer(ctx).Exec("INSERT INTO filler (data) VALUES (randomblob(3000))").Error; err != nil {
				return err
			}
		}
		return nil
	})
	testkit.Must(t, err)
	testkit.Must(t, st.Close())
	file, err := os.OpenFile(cfg.Path, os.O_RDWR, 0)
	testkit.Must(t, err)
	info, err := file.Stat()
	testkit.Must(t, err)
	junk := make([]byte, info.Size()/2)
	for i := range junk {
		junk[i] = 0xa5
	}
	_, err = file.WriteAt(junk, info.Size()/2)
	testkit.Must(t, err)
	testkit.Must(t, file.Close())

	st = testkit.OpenStore(t, cfg, fillerSchema)
	testkit.Must(t, st.Ping(t.Context()))
	var sum int64
	if err := st.DB(t.Context()).Raw("SELECT sum(length(data)) FROM filler").Scan(&sum).Error; err == nil {
		t.Fatal("the damage was not read")
	}
	select {
	case <-st.Damaged():
	default:
		t.Error("nobody is told")
	}
	if st.Ping(t.Context()) == nil || st.Damage() == nil {
		t.Error("the database is called well")
	}
	write := func(ctx context.Context) error {
		return st.Tx(ctx, "write", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("INSERT INTO filler (id, data) VALUES (0, x'00')").Error
		})
	}
	if err := write(t.Context()); fault.CodeOf(err) != fault.NotReady {
		t.Errorf("a change of a damaged database: %v", err)
	}
}
