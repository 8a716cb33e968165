package containers

import (
	"crypto/rand"
	"syscall"
	"testing"
)

// mountTmpfs mounts a small file system, which only root may.
func mountTmpfs(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
}

func unmount(dir string) error { return syscall.Unmount(dir, 0) }

// randomText does not get smaller when it is packed.
func randomText(t testing.TB, n int) string {
	t.Helper()
	raw := make([]byte, n)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
