package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// fileLock is an flock on a file beside the SQLite file. The kernel releases it when the process ends.
type fileLock struct{ file *os.File }

func (l *fileLock) lost() <-chan struct{} { return nil }

func (l *fileLock) release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release the lock %s: %w", l.file.Name(), err)
	}
	return nil
}

func (s *Store) lockFile() error {
	lock, err := acquireFileLock(s.cfg.Path + ".lock")
	if err != nil {
		return err
	}
	s.lock = lock
	s.onClose(lock.release)
	return nil
}

// acquireFileLock locks the file and writes the process id into it. If another process holds the lock, the error is a
// *LockedError.
func acquireFileLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file %s: %w; make it writable for the user that runs patchbay", path, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return writePID(file)
	}
	defer file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &LockedError{What: path, Holder: readPID(file)}
	}
	return nil, fmt.Errorf("lock %s: %w; the file system must support file locks", path, err)
}

func writePID(file *os.File) (*fileLock, error) {
	err := file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock file %s: %w", file.Name(), err), file.Close())
	}
	return &fileLock{file: file}, nil
}

func readPID(file *os.File) string {
	text, err := io.ReadAll(io.LimitReader(file, 32))
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || convErr != nil {
		return ""
	}
	return "process " + strconv.Itoa(pid)
}
