package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxSocketPath is the kernel's limit for the address of a Unix socket; randomName is what makes the directory of a host
// unique, and socketName is what a plugin adds.
const (
	maxSocketPath = 107
	randomName    = "-0123456789"
	socketName    = "/999999/plugin0123456789"
)

// socketDir makes the private directory of this process below base and sweeps what cores that are gone have left there.
func socketDir(base string) (string, error) {
	if base == "" {
		base = os.Getenv("XDG_RUNTIME_DIR")
	}
	if base == "" {
		base = os.TempDir()
	}
	parent := filepath.Join(base, fmt.Sprintf("patchbay-%d", os.Getuid()))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("make the socket directory: %w", err)
	}
	if err := os.Chmod(parent, 0o700); err != nil {
		return "", fmt.Errorf("protect the socket directory: %w", err)
	}
	sweep(parent)
	dir := filepath.Join(parent, strconv.Itoa(os.Getpid()))
	if n := len(dir) + len(randomName) + len(socketName); n > maxSocketPath {
		return "", fmt.Errorf("socket directory %s is too long for Unix sockets by %d bytes: set socket_dir in the core block to a shorter one", parent, n-maxSocketPath)
	}
	dir, err := os.MkdirTemp(parent, strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", fmt.Errorf("make the socket directory: %w", err)
	}
	return dir, nil
}

func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d-", &pid); err == nil && pid != os.Getpid() && !alive(pid) {
			_ = os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}
