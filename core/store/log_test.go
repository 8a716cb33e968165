package store_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestSlowStatementsAreLoggedWithoutValues(t *testing.T) {
	const value = "s3cr3t-value"
	slow := map[store.Dialect]string{
		store.SQLite:   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000000) SELECT count(*) FROM n WHERE ? <> ''",
		store.Postgres: "SELECT count(pg_sleep(0.3)) WHERE ?::text <> ''",
	}
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		var out bytes.Buffer
		cfg.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &out, Mutex: &sync.Mutex{}})
		st := testkit.OpenStore(t, cfg)
		var n int
		if err := st.DB(t.Context()).Raw(slow[cfg.Dialect], value).Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, "slow statement") || strings.Contains(text, value) {
			t.Errorf("got %s", text)
		}
	})
}
