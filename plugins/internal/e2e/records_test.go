package e2e

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "github.com/mattn/go-sqlite3"    // the driver "sqlite3"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// storage is where a core keeps its records.
type storage struct {
	// hcl is the storage block; empty for the default.
	hcl string
	// postgres is the URL of the database; empty for SQLite.
	postgres string
}

// eachStorage runs a test on SQLite and on PostgreSQL.
func eachStorage(t *testing.T, test func(t *testing.T, s storage)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, storage{})
	})
	t.Run("postgres", func(t *testing.T) {
		admin := os.Getenv(envPostgres)
		testkit.Require(t, "postgres", admin != "", "set "+envPostgres+" to the URL of a server on which databases may be created")
		t.Parallel()
		name := newDatabase(t, admin)
		test(t, storage{hcl: fmt.Sprintf("storage \"postgres\" {\n  url = %q\n}\n", name), postgres: name})
	})
}

func newDatabase(t testing.TB, admin string) string {
	t.Helper()
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	name := "patchbay_e2e_" + hex.EncodeToString(b)
	db := open(t, "pgx", admin)
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		if _, err := open(t, "pgx", admin).Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// records reads the core's database.
type records struct {
	t  testing.TB
	db *sql.DB
}

func (c *core) records(t testing.TB, s storage) records {
	t.Helper()
	if s.postgres != "" {
		return records{t, open(t, "pgx", s.postgres)}
	}
	path := filepath.Join(c.dir, "data", "patchbay.sqlite3")
	return records{t, open(t, "sqlite3", "file:"+path+"?mode=ro&_busy_timeout=5000")}
}

// writable opens a SQLite file for changes while no core runs.
func (c *core) writable(t testing.TB) *sql.DB {
	t.Helper()
	return open(t, "sqlite3", "file:"+filepath.Join(c.dir, "data", "patchbay.sqlite3")+"?_busy_timeout=5000")
}

// number is the one number that a query gives.
func (r records) number(query string) (n int64) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience*10*time.Second)
	defer cancel()
	if err := r.db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// text is the one text that a query gives.
func (r records) text(query string) (s string) {
	r.t.Helper()
	if err := r.db.QueryRow(query).Scan(&s); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return s
}

// row is what the audit says about one request.
type row struct {
	operation, tokenID, keyID, code           string
	outcome, status, upstream, credits, tried int64
}

// The outcomes in the audit.
const (
	outcomeOpen = iota
	outcomeSuccess
	outcomeFailure
	outcomeRefused
	outcomeInterrupted
)

// audit waits for the end of a request to be written and returns its row.
func (r records) audit(requestID string) row {
	r.t.Helper()
	const query = "SELECT operation, token_id, key_id, error_code, outcome, status, upstream_status, credits, attempts FROM search_requests WHERE request_id = '%s' AND outcome <> 0"
	var out row
	eventually(r.t, 10*time.Second, "the audit row of "+requestID, func() bool {
		err := r.db.QueryRow(fmt.Sprintf(query, requestID)).Scan(&out.operation, &out.tokenID, &out.keyID, &out.code,
			&out.outcome, &out.status, &out.upstream, &out.credits, &out.tried)
		return err == nil
	})
	return out
}

// settled waits until no request is open.
func (r records) settled() {
	r.t.Helper()
	eventually(r.t, 10*time.Second, "no request is open", func() bool {
		return r.number("SELECT COUNT(*) FROM search_requests WHERE outcome = 0") == 0
	})
}

// books are what the places that count a token's use say.
type books struct{ audit, stored, hour, month int64 }

func (b books) agree() bool { return b.audit == b.stored && b.audit == b.hour && b.audit == b.month }

// balanced waits until audit, stored counters and usage endpoint agree about a token, and fails when they never do.
func (r records) balanced(c *core, token string) usage {
	r.t.Helper()
	r.settled()
	id := token[3:7]
	deadline := deadlineAfter(3 * time.Second)
	for {
		used := c.usage(r.t, token)
		credits := books{
			r.number("SELECT COALESCE(SUM(credits), 0) FROM search_requests WHERE token_id = '" + id + "'"),
			r.number("SELECT COALESCE(SUM(credits), 0) FROM quota_usage WHERE token_id = '" + id + "'"),
			used.HourlyCredits, used.MonthlyCredits,
		}
		requests := books{
			r.number("SELECT COUNT(*) FROM search_requests WHERE outcome <> 3 AND token_id = '" + id + "'"),
			r.number("SELECT COALESCE(SUM(requests), 0) FROM quota_usage WHERE token_id = '" + id + "'"),
			used.HourlyRequests, used.HourlyRequests,
		}
		if credits.agree() && requests.agree() {
			return used
		}
		if time.Now().After(deadline) {
			r.t.Errorf("the books differ: credits %+v, requests %+v", credits, requests)
			return used
		}
		time.Sleep(pollEvery)
	}
}
