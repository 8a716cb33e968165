package store

import (
	"os"
	"syscall"
)

// availableSpace returns how many bytes the file system of a directory has left for this user.
func availableSpace(dir string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}

// allocate gives a file blocks for size bytes.
func allocate(file *os.File, size int64) error {
	err := syscall.Fallocate(int(file.Fd()), 0, 0, size)
	if err == syscall.EOPNOTSUPP || err == syscall.ENOSYS {
		return fill(file, size)
	}
	return err
}
