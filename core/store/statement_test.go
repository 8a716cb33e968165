package store_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestRunStatement(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := testkit.OpenStore(t, cfg)
		add := func(ctx context.Context, value int) error {
			return s.RunStatement(ctx, "add", func(conn gorm.ConnPool) error {
				_, err := conn.ExecContext(ctx, s.Dialect().Bind("INSERT INTO numbers VALUES (?)"), value)
				return err
			})
		}
		count := func() (n int) {
			t.Helper()
			if err := s.DB(t.Context()).Raw("SELECT COUNT(*) FROM numbers").Scan(&n).Error; err != nil {
				t.Fatal(err)
			}
			return n
		}
		if err := s.Tx(t.Context(), "create", func(ctx context.Context) error {
			return s.Writer(ctx).Exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)").Error
		}); err != nil {
			t.Fatal(err)
		}
		if err := add(t.Context(), 1); err != nil || count() != 1 {
			t.Fatalf("%v, %d rows", err, count())
		}
		if err := add(t.Context(), 1); err == nil || count() != 1 {
			t.Errorf("the same row again: %v, %d rows", err, count())
		}
		undone := errors.New("undone")
		err := s.Tx(t.Context(), "outer", func(ctx context.Context) error {
			if err := add(ctx, 2); err != nil {
				return err
			}
			return undone
		})
		if !errors.Is(err, undone) || count() != 1 {
			t.Errorf("in a transaction that is rolled back: %v, %d rows", err, count())
		}
	})
}
