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

// TestRelaxDurability looks at what PostgreSQL waits for in a transaction and after it.
func TestRelaxDurability(t *testing.T) {
	s := testkit.OpenStore(t, testkit.PostgresConfig(t))
	var inside, after string
	err := s.Tx(t.Context(), "relax", func(ctx context.Context) error {
		if err := s.RelaxDurability(ctx); err != nil {
			return err
		}
		return s.DB(ctx).Raw("SHOW synchronous_commit").Scan(&inside).Error
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DB(t.Context()).Raw("SHOW synchronous_commit").Scan(&after).Error; err != nil {
		t.Fatal(err)
	}
	if inside != "off" || after == "off" {
		t.Errorf("a commit waits for %q, and after the transaction for %q", inside, after)
	}
	lite := testkit.OpenStore(t, testkit.SQLiteConfig(t))
	if err := lite.Tx(t.Context(), "relax", lite.RelaxDurability); err != nil {
		t.Error(err)
	}
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
	if store.IsDiskFull(nil) || store.IsDiskFull(fmt.Errorf("write: %w", syscall.EIO)) ||
		!store.IsDiskFull(fmt.Errorf("write: %w", syscall.ENOSPC)) {
		t.Error("the errors of files are not told apart")
	}
}
