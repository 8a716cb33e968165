//go:build unix

package privatedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckParents reports whether somebody else could replace path or a directory above it: each must be a directory, no
// link, that belongs to root or to this user and that others may not write to, unless its sticky bit keeps them from
// renaming what is not theirs.
func CheckParents(path string) error {
	for _, p := range parentDirectories(path) {
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		uid := fileOwner(info)
		switch {
		case !info.IsDir():
			return fmt.Errorf("%s is no directory", p)
		case uid != 0 && uid != os.Geteuid():
			return fmt.Errorf("%s belongs to another user (uid %d)", p, uid)
		case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf("others may write to %s (mode %s)", p, info.Mode())
		}
	}
	return nil
}

// CheckPrivate reports an error unless path is a directory of this user alone.
func CheckPrivate(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || fileOwner(info) != os.Geteuid() || info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is not a directory of this user alone (%s, uid %d)", path, info.Mode(), fileOwner(info))
	}
	return nil
}

// CheckSocket reports an error unless path is a socket of this user.
func CheckSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is no socket", path)
	case fileOwner(info) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user (uid %d)", path, fileOwner(info))
	}
	return nil
}

// OwnerRemedy returns what an operator can do about path when this process may not use it. Where the file, or its directory if that
// cannot be entered, belongs to another user, the text names both users and the command that gives the whole directory to this one;
// otherwise it is the text other.
func OwnerRemedy(path, other string) string {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrPermission) {
		path = filepath.Dir(path)
		info, err = os.Lstat(path)
	}
	uid := os.Geteuid()
	if err != nil || uid == 0 || fileOwner(info) == uid {
		return other
	}
	dir := path
	if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	return fmt.Sprintf("%s belongs to uid %d, and patchbay runs as uid %d: as root, run chown -R %d:%d %s (of a container: on its volume, on the host)",
		path, fileOwner(info), uid, uid, os.Getegid(), dir)
}

func fileOwner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// LockDirectory takes the lock of a directory without waiting. The kernel releases it when the process ends, however that
// happens. It fails if another process holds the lock or if the directory was removed meanwhile.
func LockDirectory(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	opened, err := f.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = os.Lstat(path); err == nil && !os.SameFile(opened, now) {
			err = errors.New("the directory was replaced")
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
