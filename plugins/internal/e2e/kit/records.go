package kit

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// Storage is where a core keeps its records.
type Storage struct {
	// HCL is the storage block; empty for the default.
	HCL string
	// Postgres is the URL of the database; empty for SQLite.
	Postgres string
}

// EachStorage runs a test on SQLite and on PostgreSQL.
func EachStorage(t *testing.T, test func(t *testing.T, s Storage)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, Storage{})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		name := NewDatabase(t)
		test(t, Storage{HCL: fmt.Sprintf("storage \"postgres\" {\n  url = %q\n}\n", name), Postgres: name})
	})
}

// NewDatabase makes an empty database on the PostgreSQL of the tests until the test ends, and returns its URL. Without a server the test is
// skipped.
func NewDatabase(t testing.TB) string {
	t.Helper()
	admin := os.Getenv(EnvPostgres)
	testkit.Require(t, "postgres", admin != "", "set "+EnvPostgres+" to the URL of a server on which databases may be created")
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	name := "patchbay_e2e_" + hex.EncodeToString(b)
	db := openDatabase(t, "pgx", admin)
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		if _, err := openDatabase(t, "pgx", admin).Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
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

// NewMasterKey returns the variable of a new master key, for cores that share a database.
func NewMasterKey() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	return "SVC_SECRET_KEY=" + base64.StdEncoding.EncodeToString(raw)
}

func openDatabase(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Records reads the core's database.
type Records struct {
	t  testing.TB
	DB *sql.DB
}

// Records opens the database of the core for reading.
func (c *Core) Records(t testing.TB, s Storage) Records {
	t.Helper()
	if s.Postgres != "" {
		return Records{t, openDatabase(t, "pgx", s.Postgres)}
	}
	path := filepath.Join(c.Dir, "data", "patchbay.sqlite3")
	return Records{t, openDatabase(t, "sqlite3", "file:"+path+"?mode=ro&_busy_timeout=5000")}
}

// Writable opens a SQLite file for changes while no core runs.
func (c *Core) Writable(t testing.TB) *sql.DB {
	t.Helper()
	return openDatabase(t, "sqlite3", "file:"+filepath.Join(c.Dir, "data", "patchbay.sqlite3")+"?_busy_timeout=5000")
}

// Number is the one number that a query gives.
func (r Records) Number(query string) (n int64) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience*10*time.Second)
	defer cancel()
	if err := r.DB.QueryRowContext(ctx, query).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Text is the one text that a query gives.
func (r Records) Text(query string) (s string) {
	r.t.Helper()
	if err := r.DB.QueryRow(query).Scan(&s); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return s
}

// AuditRow is what the audit says about one request.
type AuditRow struct {
	Operation, TokenID, KeyID, Code           string
	Outcome, Status, Upstream, Credits, Tried int64
}

// The outcomes in the audit.
const (
	outcomeOpen = iota
	OutcomeSuccess
	OutcomeFailure
	outcomeRefused
	outcomeInterrupted
)

// Audit waits for the end of a request to be written and returns its row.
func (r Records) Audit(requestID string) AuditRow {
	r.t.Helper()
	const query = "SELECT operation, token_id, key_id, error_code, outcome, status, upstream_status, credits, attempts FROM search_requests WHERE request_id = '%s' AND outcome <> 0"
	var out AuditRow
	Eventually(r.t, 10*time.Second, "the audit row of "+requestID, func() bool {
		err := r.DB.QueryRow(fmt.Sprintf(query, requestID)).Scan(&out.Operation, &out.TokenID, &out.KeyID, &out.Code,
			&out.Outcome, &out.Status, &out.Upstream, &out.Credits, &out.Tried)
		return err == nil
	})
	return out
}

// Settled waits until no request is open.
func (r Records) Settled() {
	r.t.Helper()
	Eventually(r.t, 10*time.Second, "no request is open", func() bool {
		return r.Number("SELECT COUNT(*) FROM search_requests WHERE outcome = 0") == 0
	})
}

// books are what the places that count a token's use say.
type books struct{ audit, stored, hour, month int64 }

func (b books) checkAgreement() bool {
	return b.audit == b.stored && b.audit == b.hour && b.audit == b.month
}

// Balanced waits until audit, stored counters and usage endpoint agree about a token, and fails when they never do.
func (r Records) Balanced(c *Core, token string) usage {
	r.t.Helper()
	r.Settled()
	id := token[3:7]
	deadline := DeadlineAfter(3 * time.Second)
	for {
		used := c.Usage(r.t, token)
		credits := books{
			r.Number("SELECT COALESCE(SUM(credits), 0) FROM search_requests WHERE token_id = '" + id + "'"),
			r.Number("SELECT COALESCE(SUM(credits), 0) FROM quota_usage WHERE token_id = '" + id + "'"),
			used.HourlyCredits, used.MonthlyCredits,
		}
		requests := books{
			r.Number("SELECT COUNT(*) FROM search_requests WHERE outcome <> 3 AND token_id = '" + id + "'"),
			r.Number("SELECT COALESCE(SUM(requests), 0) FROM quota_usage WHERE token_id = '" + id + "'"),
			used.HourlyRequests, used.HourlyRequests,
		}
		if credits.checkAgreement() && requests.checkAgreement() {
			return used
		}
		if time.Now().After(deadline) {
			r.t.Errorf("the books differ: credits %+v, requests %+v", credits, requests)
			return used
		}
		time.Sleep(PollEvery)
	}
}
