package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// InstallPackages gives dir the npm packages that its package-lock.json names; args are for npm. Packages are installed once for each
// lock file, in the user's cache, and dir gets a link to them, since npm takes seconds each time. Nobody may write into them.
func InstallPackages(dir string, args ...string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	store := filepath.Join(cache, "patchbay-tests", "npm")
	if err := os.MkdirAll(store, 0o755); err != nil {
		return err
	}
	key := sha256.New()
	files := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return err
		}
		key.Write(files[name])
	}
	key.Write([]byte(strings.Join(args, " ")))
	installed := filepath.Join(store, hex.EncodeToString(key.Sum(nil)))
	// Tests of several packages run at once.
	lock, err := os.OpenFile(installed+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if _, err := os.Stat(installed); errors.Is(err, fs.ErrNotExist) {
		if err := installAt(store, installed, files, args); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules"))
}

// installAt installs packages at a path, which is there when all of them are.
func installAt(store, path string, files map[string][]byte, args []string) error {
	partial, err := os.MkdirTemp(store, "partial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(partial, name), text, 0o644); err != nil {
			return err
		}
	}
	cmd := exec.Command("npm", append([]string{"ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"}, args...)...)
	cmd.Dir = partial
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return os.Rename(partial, path)
}
