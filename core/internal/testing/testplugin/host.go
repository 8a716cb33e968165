package testplugin

import (
	"os"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

// Within bounds every wait of tests with a plugin process; what takes that long hangs.
const Within = 15 * time.Second

// ShortDir returns a directory whose path leaves room for a socket's name. It is removed when the test ends.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// NewHost returns a host with short intervals that is closed when the test ends.
func NewHost(t testing.TB, change ...func(*host.Config)) *host.Host {
	t.Helper()
	cfg := host.Config{SocketDir: ShortDir(t), StartTimeout: Within, BackoffMin: time.Millisecond, BackoffMax: 4 * time.Millisecond,
		PingInterval: time.Minute}
	for _, f := range change {
		f(&cfg)
	}
	h, err := host.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}
