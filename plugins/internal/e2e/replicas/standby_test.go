package replicas

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// server is a PostgreSQL server of a test.
type server struct {
	t         *testing.T
	dir, port string
}

// newServer returns a server that has no data yet. It belongs to the user postgres if the test runs as root, whom PostgreSQL refuses.
func newServer(t *testing.T) server {
	t.Helper()
	top, err := os.MkdirTemp("", "pg")
	kit.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	if os.Getuid() == 0 {
		postgres, err := user.Lookup("postgres")
		testkit.Require(t, "postgres", err == nil, "install postgresql")
		uid, uidErr := strconv.Atoi(postgres.Uid)
		kit.Must(t, uidErr)
		kit.Must(t, os.Chown(top, uid, -1))
	}
	_, port, err := net.SplitHostPort(testkit.FreeAddress(t))
	kit.Must(t, err)
	return server{t, top, port}
}

// run runs a program of PostgreSQL, and what it prints goes to a file: a server that it starts would keep a pipe open.
func (s server) run(program string, args ...string) error {
	s.t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	testkit.Require(s.t, "postgres", err == nil && len(found) > 0, "install postgresql")
	args = append([]string{slices.Max(found)}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	out, err := os.Create(filepath.Join(s.t.TempDir(), program))
	kit.Must(s.t, err)
	defer out.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, "/"
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w: %s", program, err, text)
	}
	return nil
}

func (s server) data() string { return filepath.Join(s.dir, "data") }

// start runs the server until the test ends.
func (s server) start() {
	s.t.Helper()
	options := fmt.Sprintf("-p %s -k %s -c listen_addresses=127.0.0.1 -c max_connections=200", s.port, s.dir)
	kit.Must(s.t, s.run("pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.dir, "log"), "-o", options, "start"))
	s.t.Cleanup(s.kill)
}

// kill ends the server as a loss of power would, but for what the kernel still writes.
func (s server) kill() { _ = s.run("pg_ctl", "-D", s.data(), "-m", "immediate", "stop") }

// configure appends a setting to the server's configuration.
func (s server) configure(setting string) {
	s.t.Helper()
	file, err := os.OpenFile(filepath.Join(s.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	kit.Must(s.t, err)
	_, err = fmt.Fprintln(file, setting)
	kit.Must(s.t, err)
	kit.Must(s.t, file.Close())
}

// TestStandby promotes a synchronous standby under three cores: they go on there, and no acknowledged mail is lost.
func TestStandby(t *testing.T) {
	first, second := newServer(t), newServer(t)
	kit.Must(t, first.run("initdb", "-D", first.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8"))
	first.start()
	kit.Must(t, second.run("pg_basebackup", "-h", "127.0.0.1", "-p", first.port, "-U", "postgres", "-D", second.data(), "-R", "-X", "stream"))
	second.configure(fmt.Sprintf("primary_conninfo = 'host=127.0.0.1 port=%s user=postgres application_name=second'", first.port))
	second.start()
	first.configure("synchronous_standby_names = 'second'")
	kit.Must(t, first.run("pg_ctl", "-D", first.data(), "reload"))
	s := setup{fmt.Sprintf("postgres://postgres@127.0.0.1:%s,127.0.0.1:%s/postgres?sslmode=disable&target_session_attrs=read-write",
		first.port, second.port), []string{kit.NewMasterKey()}}
	db := openDatabase(t, s)
	kit.Eventually(t, kit.StartWithin, "the standby is synchronous", func() bool {
		var synchronous int
		err := db.QueryRow("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&synchronous)
		return err == nil && synchronous == 1
	})
	cores, l := startUnderLoad(t, s)
	l.after(50)
	first.kill()
	began := time.Now()
	kit.Must(t, second.run("pg_ctl", "-D", second.data(), "-w", "promote"))
	for _, c := range cores {
		kit.Eventually(t, time.Minute, "the cores take part again", func() bool { return isReady(c) })
	}
	t.Logf("all cores are ready %s after the server was lost", time.Since(began).Round(time.Millisecond))
	l.after(100)
	l.stop()
	for _, c := range cores {
		c.Search(t, l.token, http.StatusOK)
	}
}
