package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// SocketName is the name of the socket in the data directory.
const SocketName = "patchbay.sock"

// systemRunDir is where the socket lies if neither the data directory nor socket_dir can hold it.
const systemRunDir = "/run/patchbay"

// SocketPaths returns where the socket of a core may lie, in the order in which the core and its clients try: the data directory,
// the configured socket_dir, which may be empty, /run/patchbay, and the user's run directory. Outside the data directory the name
// is made of that directory's path, so that several cores may share the place.
func SocketPaths(dataDir, socketDir string) []string {
	if resolved, err := filepath.EvalSymlinks(dataDir); err == nil {
		dataDir = resolved
	}
	sum := sha256.Sum256([]byte(dataDir))
	name := "patchbay-" + hex.EncodeToString(sum[:6]) + ".sock"
	paths := []string{filepath.Join(dataDir, SocketName)}
	if socketDir != "" {
		paths = append(paths, filepath.Join(socketDir, name))
	}
	paths = append(paths, filepath.Join(systemRunDir, name))
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// listener is the socket with the lock that marks it as served. The kernel releases the lock when the process ends.
type listener struct {
	*net.UnixListener
	lock *os.File
}

// listenFirst opens the first of the paths whose directory nobody else can change.
func listenFirst(paths []string) (*listener, string, error) {
	var problems []error
	for _, path := range paths {
		l, err := listenAt(path)
		if err == nil {
			return l, path, nil
		}
		problems = append(problems, fmt.Errorf("%s: %w", path, err))
	}
	return nil, "", errors.Join(problems...)
}

// listenAt opens a socket with mode 0600. One that a killed core has left is replaced, one that is served is not.
func listenAt(path string) (*listener, error) {
	if n := len(path); n > privatedir.MaxSocketPath {
		return nil, fmt.Errorf("the path is too long for a Unix socket by %d bytes", n-privatedir.MaxSocketPath)
	}
	dir := filepath.Dir(path)
	if _, err := privatedir.Resolve(dir, dir != systemRunDir || os.Geteuid() == 0); err != nil {
		return nil, err
	}
	lock, err := lockSocket(path + ".lock")
	if err != nil {
		return nil, err
	}
	l, err := replaceSocket(path)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return &listener{l, lock}, nil
}

// lockSocket takes the lock of a socket without waiting.
func lockSocket(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another core serves this socket: lock %s: %w", path, err)
	}
	return f, nil
}

// replaceSocket opens a socket in the place of one that nobody serves. Another file there is left alone.
func replaceSocket(path string) (*net.UnixListener, error) {
	if err := privatedir.CheckSocket(path); err == nil {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// Whoever connects before this line is asked who he is, as everybody.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// Close removes the socket and releases its lock.
func (l *listener) Close() error {
	return errors.Join(l.UnixListener.Close(), l.lock.Close())
}
