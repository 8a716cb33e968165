package testkit

import (
	"syscall"
	"testing"
)

// MountSmallDisk mounts a file system of a size such as "64m" for the time of a test, which only root may, and returns its directory.
func MountSmallDisk(t testing.TB, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if err == nil {
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
	Require(t, "root", err == nil, "run the tests as root: they mount a small file system")
	return dir
}
