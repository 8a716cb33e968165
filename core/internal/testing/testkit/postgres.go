package testkit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// EnvPostgres is the variable with the URL of a PostgreSQL server on which tests may create databases, for example
// postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable.
const EnvPostgres = "PATCHBAY_TEST_POSTGRES"

// Postgres creates an empty database for this test alone and returns its URL. The database is dropped when the test
// ends. Without a server the test is skipped, or fails (see Require).
func Postgres(t testing.TB) string {
	t.Helper()
	admin := os.Getenv(EnvPostgres)
	Require(t, "postgres", admin != "", "set "+EnvPostgres+" to the URL of a server on which databases may be created")
	name := "patchbay_test_" + randomHex(t)
	exec(t, admin, "CREATE DATABASE "+name)
	t.Cleanup(func() { exec(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("parse %s: %v", EnvPostgres, err)
	}
	u.Path = "/" + name
	return u.String()
}

func exec(t testing.TB, admin, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatalf("connect to the server in %s: %v", EnvPostgres, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("prepare the test database: %v", err)
	}
}

func randomHex(t testing.TB) string {
	t.Helper()
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		t.Fatalf("read random bytes: %v", err)
	}
	return hex.EncodeToString(b)
}
