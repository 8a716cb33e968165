//go:build unix

package config

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadOnly returns why the file cannot be replaced, or "" if it can as far as is known.
func (s *Snapshot) ReadOnly() ReadOnlyReason {
	switch {
	case isJSON(s.Path):
		return ReadOnlyJSON
	case s.info.Mode().Perm()&0o222 == 0, unix.Access(s.Path, unix.W_OK) != nil, !ownsOrRoot(s.info):
		return ReadOnlyFile
	case isMountPoint(s.Path):
		return ReadOnlyMount
	case unix.Access(filepath.Dir(s.Path), unix.W_OK) != nil:
		return ReadOnlyFolder
	}
	return ""
}

// fileOwner returns the user and the group of a file.
func fileOwner(info fs.FileInfo) (user, group int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

// ownsOrRoot reports whether this process can make a file of the same owner.
func ownsOrRoot(info fs.FileInfo) bool {
	user, _, ok := fileOwner(info)
	return !ok || os.Geteuid() == 0 || os.Geteuid() == user
}

// keepOwner gives a file the owner of another one.
func keepOwner(f *os.File, like fs.FileInfo) error {
	user, group, ok := fileOwner(like)
	own, err := f.Stat()
	if err != nil || !ok {
		return err
	}
	if u, g, _ := fileOwner(own); u == user && g == group {
		return nil
	}
	if err := f.Chown(user, group); err != nil {
		return fmt.Errorf("keep the owner: %w", err)
	}
	return nil
}

// isMountPoint reports whether something is mounted at a path.
func isMountPoint(path string) bool {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	// Spaces in paths are written in octal there.
	want := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(path)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && fields[4] == want {
			return true
		}
	}
	return false
}
