package store_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestSyncToDisk(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := testkit.OpenStore(t, cfg)
		if err := s.SyncToDisk(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestIsDiskFull(t *testing.T) {
	s := testkit.OpenStore(t, testkit.SQLiteConfig(t))
	err := s.Tx(context.Background(), "fill the disk", func(ctx context.Context) error {
		// SQLite reports the same error when a database reaches its largest size.
		w := s.Writer(ctx)
		if err := w.Exec("PRAGMA max_page_count = 50").Error; err != nil {
			return err
		}
		if err := w.Exec("CREATE TABLE filler (data BLOB)").Error; err != nil {
			return err
		}
		return w.Exec("INSERT INTO filler VALUES (zeroblob(10000000))").Error
	})
	if err == nil || !store.IsDiskFull(err) {
		t.Errorf("%v is not recognised", err)
	}
	if store.IsDiskFull(nil) || store.IsDiskFull(fmt.Errorf("write: %w", syscall.EIO)) || !store.IsDiskFull(fmt.Errorf("write: %w", syscall.ENOSPC)) {
		t.Error("the errors of files are not told apart")
	}
}
