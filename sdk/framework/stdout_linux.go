//go:build linux

package framework

import (
	"os"

	"golang.org/x/sys/unix"
)

func guardStdout() *os.File {
	if os.Getenv(cookieKey) == "" {
		return os.Stdout
	}
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stdout
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		return os.Stdout
	}
	guarded := os.NewFile(uintptr(fd), "stdout")
	os.Stdout = os.Stderr
	return guarded
}
