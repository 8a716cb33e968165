package store

import (
	"os"
	"syscall"
)

// syncData waits until the bytes of a file and its length are on the disk. Its times need not be: to have them written takes longer.
func syncData(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) {
		for failed = syscall.Fdatasync(int(fd)); failed == syscall.EINTR; {
			failed = syscall.Fdatasync(int(fd))
		}
	}); err != nil {
		return err
	}
	return os.NewSyscallError("fdatasync", failed)
}
