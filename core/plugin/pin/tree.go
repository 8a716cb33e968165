package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxFiles is how many files a folder may have that is pinned, those of its sub-folders included.
const MaxFiles = 20_000

// bytecode is the name of folders that hold what Python has compiled, which it runs in place of the source.
const bytecode = "__pycache__"

// Folders returns the folders that belong to a script, an absolute path: that in which it lies and, if the script is a link, that of the
// file itself. Interpreters load modules from there.
func Folders(script string) []string {
	folders := []string{filepath.Dir(script)}
	if real, err := filepath.EvalSymlinks(script); err == nil && filepath.Dir(real) != folders[0] {
		folders = append(folders, filepath.Dir(real))
	}
	return folders
}

// systemFolders are folders of the system; so are those right below systemParents.
var (
	systemFolders = []string{"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/opt", "/proc",
		"/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var"}
	systemParents = []string{"/home", "/proc", "/sys", "/usr", "/usr/local", "/var"}
)

// CheckFolder returns an error about a folder, an absolute path, that holds more than a plugin.
func CheckFolder(folder string) error {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	home, _ := os.UserHomeDir()
	if slices.Contains(systemFolders, folder) || slices.Contains(systemParents, filepath.Dir(folder)) || folder == home ||
		folder == filepath.Clean(os.TempDir()) {
		return fmt.Errorf("%s is a folder of the system, and all that it holds would be pinned: put the file into a folder of its own", folder)
	}
	return nil
}

// TreeDigest returns the SHA-256 sum, in lower-case hex, of the names and contents of all files below a folder, an absolute path. Links to
// what lies elsewhere are followed. A folder with more than MaxFiles files, with compiled Python code, or with what is neither file, folder
// nor link has no digest.
func TreeDigest(folder string) (string, error) {
	t := tree{sum: sha256.New(), walked: map[string]bool{}}
	if err := t.walkRoot(folder); err != nil {
		return "", err
	}
	return hex.EncodeToString(t.sum.Sum(nil)), nil
}

// TreeFiles returns the regular files that TreeDigest reads, without those behind links.
func TreeFiles(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		if len(files) > MaxFiles {
			return tooMany(folder)
		}
		return err
	})
	return files, err
}

// TreeState returns a text that differs after any file below a folder was added, removed or changed. It does not read them.
func TreeState(folder string) string {
	sum := sha256.New()
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(sum, "%s %v\n", path, err)
			return nil
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(sum, "%s %d %d %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))
}

// tree is a folder that is being read.
type tree struct {
	sum hash.Hash
	// root is the folder without links.
	root string
	// walked are the folders that were read, without links.
	walked map[string]bool
	files  int
}

func tooMany(folder string) error {
	return fmt.Errorf("%s has more than %d files: put the plugin into a folder of its own", folder, MaxFiles)
}

// walkRoot adds the folder itself.
func (t *tree) walkRoot(folder string) error {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	t.root = real
	return t.walk(real, "")
}

// walk adds what lies in a folder, a path without links, under a name in the tree.
func (t *tree) walk(folder, name string) error {
	if filepath.Base(folder) == bytecode {
		return fmt.Errorf("%s holds compiled code, which nobody can read: remove it (find %s -name %s -prune -exec rm -r {} +); Python is started so that it makes none", folder, t.root, bytecode)
	}
	t.walked[folder] = true
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if t.files++; t.files > MaxFiles {
			return tooMany(t.root)
		}
		path, name := filepath.Join(folder, e.Name()), name+"/"+e.Name()
		switch {
		case e.IsDir():
			err = t.walk(path, name)
		case e.Type().IsRegular():
			err = t.addFile(path, name)
		case e.Type() == fs.ModeSymlink:
			err = t.addLink(path, name)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addFile adds the name, the content and whether it may be executed.
func (t *tree) addFile(path, name string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	digest, err := FileDigest(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.sum, "file %q %t %s\n", name, info.Mode()&0o111 != 0, digest)
	return nil
}

// addLink adds a link and, if it leads out of the tree, what is there.
func (t *tree) addLink(path, name string) error {
	target, err := os.Readlink(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.sum, "link %q %q\n", name, target)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // it leads nowhere
	}
	if real == t.root || strings.HasPrefix(real, t.root+"/") || t.walked[real] {
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return t.walk(real, name)
	case info.Mode().IsRegular():
		return t.addFile(real, name)
	}
	return fmt.Errorf("%s leads to what is neither a file nor a folder", path)
}
