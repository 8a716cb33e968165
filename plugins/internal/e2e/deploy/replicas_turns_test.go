package deploy

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// callSocket makes a call to the socket of a core, as its supervisor does, and returns the core that it has to wait for.
func callSocket(t *testing.T, c *kit.Core, path string) (waitsFor string) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.Dir, "data", "patchbay.sock"))
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Post("http://core"+path, "", nil)
	kit.Must(t, err)
	defer resp.Body.Close()
	var body [4096]byte
	n, _ := resp.Body.Read(body[:])
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, resp.StatusCode, body[:n])
	}
	return kit.Decode[struct {
		WaitsFor string `json:"waits_for"`
	}](t, string(body[:n])).WaitsFor
}

// TestReplicasTakeTurns: a core whose upgrade begins is not ready any more. The others wait while it is replaced, until the new one says that
// the upgrade has ended, and it is ready then.
func TestReplicasTakeTurns(t *testing.T) {
	t.Parallel()
	r := startReplicas(t, "127.80.3.")
	begin := func(core int, want string) {
		t.Helper()
		if got := callSocket(t, r.cores[core], "/upgrade/begin"); got != want {
			t.Errorf("core-%d waits for %q, want %q", core+1, got, want)
		}
	}
	ready := func(core, status int) {
		t.Helper()
		kit.Eventually(t, 10*time.Second, "a core is ready, or no more", func() bool {
			resp, err := http.Get(r.cores[core].Admin + "/readyz")
			return err == nil && resp.Body.Close() == nil && resp.StatusCode == status
		})
	}
	begin(0, "")
	ready(0, http.StatusServiceUnavailable)
	begin(1, "core-1")
	ready(1, http.StatusOK)
	r.cores[0].Restart()
	begin(1, "core-1")
	callSocket(t, r.cores[0], "/upgrade/end")
	ready(0, http.StatusOK)
	begin(1, "")
	ready(1, http.StatusServiceUnavailable)
	callSocket(t, r.cores[1], "/upgrade/end")
	ready(1, http.StatusOK)
}
