// Package giteaserver runs a real Gitea for tests.
package giteaserver

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	official "code.gitea.io/sdk/gitea"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// EnvGitea names the variable with the path of Gitea's executable. Its folders templates, options and public stand beside it.
const EnvGitea = "PATCHBAY_TEST_GITEA"

// Server is a Gitea of a test, on loopback, with a SQLite file. URL is where people see it.
type Server struct {
	URL string

	bin, config string
}

// startLimit is how long a Gitea may take to make its database and answer.
const startLimit = time.Minute

// Start starts a Gitea without users that ends with the test. Without an executable the test is skipped, or fails where
// components are required.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := os.Getenv(EnvGitea)
	_, err := os.Stat(bin)
	testkit.Require(t, "gitea", err == nil, "set "+EnvGitea+" to a gitea executable with its folders templates, options and public beside it")
	dir, address := t.TempDir(), testkit.FreeAddress(t)
	s := &Server{URL: "http://" + address, bin: bin, config: filepath.Join(dir, "app.ini")}
	host, port, _ := net.SplitHostPort(address)
	if err := os.WriteFile(s.config, fmt.Appendf(nil, settings, dir, host, port, s.URL, filepath.Dir(bin)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.runCommand(t, "migrate")
	var log bytes.Buffer
	web := exec.Command(bin, "web", "--config", s.config)
	web.Stdout, web.Stderr = &log, &log
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = web.Wait() }()
	t.Cleanup(func() {
		_ = web.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = web.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("gitea:\n%s", log.Bytes())
		}
	})
	testkit.Eventually(t, startLimit, func() bool {
		res, err := http.Get(s.URL + "/api/v1/version")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, "Gitea answers")
	return s
}

// settings is the configuration of a Gitea, with its directory, address, port, URL and static files left open.
const settings = `
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %[1]s
[server]
HTTP_ADDR = %[2]s
HTTP_PORT = %[3]s
ROOT_URL = %[4]s/
STATIC_ROOT_PATH = %[5]s
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = %[1]s/gitea.db
[repository]
ROOT = %[1]s/repositories
[security]
INSTALL_LOCK = true
SECRET_KEY = secret-key-of-the-tests
PASSWORD_HASH_ALGO = pbkdf2$1000$50
[service]
DISABLE_REGISTRATION = true
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[log]
MODE = console
LEVEL = Error
`

// runCommand runs a command of Gitea and returns what it prints.
func (s *Server) runCommand(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(s.bin, append(args, "--config", s.config)...).CombinedOutput()
	if err != nil {
		t.Fatalf("gitea %q: %v\n%s", args, err, out)
	}
	return string(out)
}

var printedToken = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// CreateUser makes a person and returns an access token of theirs that may do everything.
func (s *Server) CreateUser(t testing.TB, login string) (token string) {
	t.Helper()
	out := s.runCommand(t, "admin", "user", "create", "--username", login, "--random-password", "--must-change-password=false", "--email",
		login+"@example.com",
		"--access-token", "--access-token-name", "tests", "--access-token-scopes", "all")
	if token = printedToken.FindString(out); token == "" {
		t.Fatalf("no token was printed for %s", login)
	}
	return token
}

// Client returns the official client with a token, and retries nothing.
func (s *Server) Client(t testing.TB, token string) *official.Client {
	t.Helper()
	c, err := official.NewClient(s.URL, official.SetToken(token))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
