package kit

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// StartProxy runs a proxy until the test ends, and waits until client gets the state of the core below base.
func StartProxy(t testing.TB, client *http.Client, base string, cmd *exec.Cmd) {
	t.Helper()
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log of the proxy:\n%s", LastLines(log.String(), 40))
		}
	})
	Eventually(t, StartWithin, "the proxy answers", func() bool {
		resp, err := client.Get(base)
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// CaddyCommand returns Caddy with the sites of a file, which it keeps in dir. It gets no certificates by itself.
func CaddyCommand(t testing.TB, dir, sites string) *exec.Cmd {
	t.Helper()
	binary, err := exec.LookPath("caddy")
	testkit.Require(t, "Caddy", err == nil, "install caddy")
	file := filepath.Join(dir, "Caddyfile")
	Must(t, os.WriteFile(file, []byte("{\n\tadmin off\n\tauto_https off\n}\n"+sites), 0o600))
	cmd := exec.Command(binary, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "PATCHBAY_PROXY_SECRET="+ProxySecret)
	return cmd
}

// NginxCommand returns nginx with the servers of a file, which it keeps in dir.
func NginxCommand(t testing.TB, dir, servers string) *exec.Cmd {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	testkit.Require(t, "nginx", err == nil, "install nginx-light")
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	main := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n",
		filepath.Join(dir, "nginx.pid"), temporary, servers)
	file := filepath.Join(dir, "nginx.conf")
	Must(t, os.WriteFile(file, []byte(main), 0o600))
	return exec.Command(binary, "-c", file, "-p", dir, "-e", "stderr")
}
