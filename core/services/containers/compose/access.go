package compose

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// systemDirs are directories of the system. No project is read from them, whatever its labels or the settings say.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
	"/var/lib/containerd", "/var/lib/docker", "/var/log", "/var/run", "/var/spool",
}

// IsSystemPath reports whether path is the root of the file system, or lies in one of its system directories.
func IsSystemPath(path string) bool {
	path = filepath.Clean(path)
	return path == "/" || slices.ContainsFunc(systemDirs, func(dir string) bool { return isWithin(path, dir) })
}

// isWithin reports whether path is dir or lies below it. Both are clean and absolute.
func isWithin(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// access decides which files of a project are read: those in its working directory and in the given roots.
type access struct{ roots []string }

func newAccess(workingDir string, roots []string) access {
	var a access
	for _, root := range append([]string{workingDir}, roots...) {
		if !filepath.IsAbs(root) || filepath.Clean(root) == "/" {
			continue
		}
		a.roots = append(a.roots, filepath.Clean(root))
		if resolved, err := filepath.EvalSymlinks(root); err == nil {
			a.roots = append(a.roots, resolved)
		}
	}
	return a
}

// checkPath returns an error unless path may be read. It looks at the name alone.
func (a access) checkPath(path string) error {
	within := slices.ContainsFunc(a.roots, func(root string) bool { return isWithin(path, root) })
	switch {
	case IsSystemPath(path):
		return pathRefused(path, "it lies in a directory of the system")
	case !within:
		return pathRefused(path, "it lies outside of the project's working directory and of stack_roots")
	}
	return nil
}

// checkCompose is check for a compose file.
func (a access) checkCompose(path string) error {
	if ext := filepath.Ext(path); ext != ".yml" && ext != ".yaml" {
		return pathRefused(path, "compose files end in .yml or .yaml")
	}
	return a.checkPath(path)
}

// readCompose reads a compose file if it, and what symbolic links make of it, may be read.
func (a access) readCompose(path string) ([]byte, error) {
	return readChecked(path, maxFile, a.checkCompose)
}

// readEnv reads a file of variables under the same rule.
func (a access) readEnv(path string) ([]byte, error) {
	return readChecked(path, maxEnvFile, a.checkPath)
}

func readChecked(path string, limit int64, check func(string) error) ([]byte, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fileUnreadable(path, err)
	}
	if err := check(resolved); err != nil {
		return nil, err
	}
	text, err := readFile(resolved, limit)
	if err != nil {
		return nil, fileUnreadable(path, err)
	}
	return text, nil
}

func pathRefused(path, why string) *Error {
	return &Error{Kind: FileRefused, Detail: oneLine(filepath.Base(path) + ": " + why)}
}

// CheckFiles returns an error if one of the compose files or files of variables that src names may not be read. Files
// that are not there are passed over.
func CheckFiles(src Source) error {
	a := newAccess(src.WorkingDir, src.Roots)
	for _, list := range []struct {
		files []string
		check func(string) error
	}{{src.Files, a.checkCompose}, {src.EnvFiles, a.checkPath}} {
		files, ok := AbsoluteFiles(src.WorkingDir, list.files)
		if !ok {
			return &Error{Kind: FilesRelative}
		}
		for _, file := range files {
			if err := list.check(file); err != nil {
				return err
			}
			resolved, err := filepath.EvalSymlinks(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fileUnreadable(file, err)
			}
			if err := list.check(resolved); err != nil {
				return err
			}
		}
	}
	return nil
}
