package host

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// A socket's path is the base, the host's own directory, the number of the start and what the plugin adds. The kernel
// takes paths of at most privatedir.MaxSocketPath bytes.
const (
	socketPrefix   = "/patchbay-"
	randomLength   = 12
	socketSuffix   = "/999999/plugin0123456789"
	systemRunDir   = "/run/patchbay"
	lastResort     = "/tmp"
	makeDirRetries = 3
)

// socketBase is a directory below which the host may make its own.
type socketBase struct {
	path string
	// create reports whether the directory is made if it is missing.
	create bool
}

// socketDirectory is the host's own directory. The lock marks it as used until the process ends.
type socketDirectory struct {
	path string
	lock *os.File
}

// socketBases returns the bases in the order of preference: the configured one, those that belong to this user alone, and
// shared ones last.
func socketBases(cfg Config) []socketBase {
	var out []socketBase
	if cfg.SocketDir != "" {
		out = append(out, socketBase{cfg.SocketDir, true})
	}
	if os.Geteuid() == 0 {
		out = append(out, socketBase{systemRunDir, true})
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		out = append(out, socketBase{dir, false})
	}
	if cfg.DataDir != "" {
		out = append(out, socketBase{filepath.Join(cfg.DataDir, "run"), true})
	}
	return append(out, socketBase{os.TempDir(), false}, socketBase{lastResort, false})
}

// newSocketDirectory makes a directory of an unguessable name below the first base that is safe and short enough, and
// removes from that base what ended cores have left. It logs why a configured base is not used.
func newSocketDirectory(cfg Config) (*socketDirectory, error) {
	var problems []error
	for _, base := range socketBases(cfg) {
		dir, err := base.makeDirectory()
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", base.path, err))
			continue
		}
		if cfg.SocketDir != "" && base.path != cfg.SocketDir {
			cfg.Logger.Warn("socket_dir not usable, using another", "reason", problems[0], "instead", dir.path)
		} else if len(problems) > 0 {
			cfg.Logger.Debug("places for sockets that are not used", "reason", errors.Join(problems...), "instead", dir.path)
		}
		return dir, nil
	}
	return nil, fmt.Errorf("no directory can hold the sockets of plugins; set socket_dir in the core block to a short path that nobody else can write to: %w", errors.Join(problems...))
}

func (b socketBase) makeDirectory() (*socketDirectory, error) {
	base, err := privatedir.Resolve(b.path, b.create)
	if err != nil {
		return nil, err
	}
	if n := len(base) + len(socketPrefix) + randomLength + len(socketSuffix); n > privatedir.MaxSocketPath {
		return nil, fmt.Errorf("the path is too long for Unix sockets by %d bytes", n-privatedir.MaxSocketPath)
	}
	removeStaleDirectories(base)
	for range makeDirRetries {
		dir := &socketDirectory{path: base + socketPrefix + strings.ToLower(rand.Text()[:randomLength])}
		if err := os.Mkdir(dir.path, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		// Another core that starts at this moment may have removed the directory as that of an ended core.
		if dir.lock, err = privatedir.LockDirectory(dir.path); err != nil {
			continue
		}
		if err := privatedir.CheckPrivate(dir.path); err != nil {
			_ = dir.lock.Close()
			return nil, err
		}
		return dir, nil
	}
	return nil, errors.New("no directory could be made and locked")
}

// removeDirectory removes the directory and releases its lock.
func (d *socketDirectory) removeDirectory() {
	_ = os.RemoveAll(d.path)
	_ = d.lock.Close()
}

var socketDirName = regexp.MustCompile(`^patchbay-[a-z2-7]{12}$`)

// removeStaleDirectories removes the directories of this user's cores that have ended, whose locks are free.
func removeStaleDirectories(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if !socketDirName.MatchString(e.Name()) || privatedir.CheckPrivate(path) != nil {
			continue
		}
		if lock, err := privatedir.LockDirectory(path); err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
