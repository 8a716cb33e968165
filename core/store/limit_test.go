package store_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestLimit: the number stands in the text of the statement, and bounds its rows on each kind of database.
func TestLimit(t *testing.T) {
	if got := store.Limit(7); got != " LIMIT 7" {
		t.Errorf("%q", got)
	}
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg)
		var rows []int
		sql := "SELECT n FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) few ORDER BY n"
		if err := st.DB(t.Context()).Raw(sql + store.Limit(2)).Scan(&rows).Error; err != nil || len(rows) != 2 {
			t.Errorf("%v, %v", rows, err)
		}
	})
}
