package store_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// startPooler runs PgBouncer before the server of a URL, and returns the URL through it.
func startPooler(t *testing.T, server, mode string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
		_, err = os.Stat(program)
	}
	testkit.Require(t, "pgbouncer", err == nil, "install PgBouncer, on Debian by apt-get install pgbouncer")
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	dir := t.TempDir()
	path, err := "", os.Chmod(dir, 0o755)
	if err == nil {
		path = filepath.Join(dir, "pgbouncer.ini")
		err = os.WriteFile(path, fmt.Appendf(nil, "[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=%d\n"+
			"unix_socket_dir=\nauth_type=any\npool_mode=%s\ndefault_pool_size=10\n",
			u.Hostname(), u.Port(), u.User.Username(), port, mode), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755)
	}
	args := []string{"-q", path}
	if os.Geteuid() == 0 { // it refuses to run as root
		args = append([]string{"-u", "nobody"}, args...)
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	u.Host = fmt.Sprintf("127.0.0.1:%d", port)
	testkit.Eventually(t, 30*time.Second, func() bool {
		conn, err := pgx.Connect(context.Background(), u.String())
		if err == nil {
			_ = conn.Close(context.Background())
		}
		return err == nil
	}, "the pooler answers")
	return u.String()
}

// TestPoolerThatSharesSessions: behind a pooler in transaction mode a lock would be anybody's, so that the store refuses it, unless the
// server itself is named as well. Then the lock holds, and the store works through the pooler.
func TestPoolerThatSharesSessions(t *testing.T) {
	t.Parallel()
	direct := testkit.Postgres(t)
	pooled := startPooler(t, direct, "transaction")
	ctx := context.Background()
	cfg := store.Config{Dialect: store.Postgres, URL: pooled, Exclusive: true}
	if s, err := store.Open(ctx, cfg); !errors.Is(err, store.ErrSharedSessions) {
		t.Fatalf("opened %v through a pooler in transaction mode: %v", s != nil, err)
	}
	cfg.DirectURL = pooled
	if _, err := store.Open(ctx, cfg); !errors.Is(err, store.ErrSharedSessions) {
		t.Fatalf("direct_url through the pooler: %v", err)
	}
	cfg.DirectURL = testkit.Postgres(t)
	if _, err := store.Open(ctx, cfg); err == nil || errors.Is(err, store.ErrSharedSessions) {
		t.Fatalf("direct_url of another database: %v", err)
	}
	cfg.DirectURL = direct
	s, err := store.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := store.Open(ctx, cfg); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second core: %v", err)
	}
	err = s.Tx(ctx, "create", func(ctx context.Context) error {
		return s.Writer(ctx).Exec("CREATE TABLE pooled (id int, name text)").Error
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		err := s.Tx(ctx, "insert", func(ctx context.Context) error {
			return s.Writer(ctx).Exec("INSERT INTO pooled VALUES (?, ?)", i, "name").Error
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var n int64
	if err := s.DB(ctx).Table("pooled").Where("name = ?", "name").Count(&n).Error; err != nil || n != 20 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestPoolerWithSessions: a pooler in session mode is as good as the server.
func TestPoolerWithSessions(t *testing.T) {
	t.Parallel()
	cfg := store.Config{Dialect: store.Postgres, URL: startPooler(t, testkit.Postgres(t), "session") + "&pool_max_conns=2", Exclusive: true}
	s, err := store.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestPoolerOfSharedStores: one of several cores is refused, too, behind a pooler that shares sessions, and shares the lock through the
// server itself.
func TestPoolerOfSharedStores(t *testing.T) {
	t.Parallel()
	direct := testkit.Postgres(t)
	pooled := startPooler(t, direct, "transaction")
	shared := store.Config{Dialect: store.Postgres, URL: pooled, Shared: true, MigrateWithoutCopy: true}
	unlocked, err := store.Open(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	defer unlocked.Close()
	if err := store.LockShared(t.Context(), unlocked); !errors.Is(err, store.ErrSharedSessions) {
		t.Errorf("through a pooler in transaction mode: %v", err)
	}
	shared.DirectURL = direct
	for range 2 {
		testkit.Must(t, store.LockShared(t.Context(), testkit.OpenStore(t, shared)))
	}
	alone := store.Config{Dialect: store.Postgres, URL: pooled, DirectURL: direct, Exclusive: true}
	if _, err := store.Open(t.Context(), alone); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a core alone beside two: %v", err)
	}
}
