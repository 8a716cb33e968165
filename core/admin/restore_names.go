package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// digestName matches the name of a plugin's file in an archive.
var digestName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// foundPlugin is a file of a plugin that an archive holds: where it was unpacked, and where it goes.
type foundPlugin struct{ from, to string }

// checkOwnPlaces refuses a configuration out of an archive that puts data elsewhere than below its own directory. Places that come from
// the environment are the operator's own.
func checkOwnPlaces(set *settings.Settings, env config.Env) error {
	for _, place := range []struct{ setting, variable, path string }{
		{"data_dir", "SVC_DATA_DIR", set.DataDir}, {"path of the database", "SVC_DB_PATH", set.Store.Path},
	} {
		if set.File.Dir == place.path || place.path == "" || isBelow(set.File.Dir, place.path) {
			continue
		}
		if isBelow(set.DataDir, place.path) {
			continue // as the data directory, which was checked first
		}
		if value, ok := env(place.variable); ok && value != "" {
			continue
		}
		return fmt.Errorf("the plugin.hcl in the archive puts data at %s (%s), outside of %s: if you trust it, put it in place first (tar -xzf ARCHIVE %s), or set %s; nothing was restored",
			place.path, place.setting, set.File.Dir, backupConfig, place.variable)
	}
	return nil
}

// isBelow reports whether an absolute path is below a directory, going by the names alone.
func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// findPlugins returns where the files of plugins go that were unpacked into a directory. It refuses names that are not below the directory
// of plugin.hcl or that plugin.hcl does not use, files that are not what the manifest says, and those that it does not name.
func (r Restoring) findPlugins(set *settings.Settings, unpacked string) (found []foundPlugin, err error) {
	if r.WithoutPlugins {
		return nil, nil
	}
	var m manifest
	raw, err := os.ReadFile(filepath.Join(unpacked, backupManifest))
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // an archive of a former version has no manifest
		return nil, fmt.Errorf("read the manifest of the archive: %w", err)
	}
	used, named, known := usedNames(set), map[string]bool{}, map[string]bool{}
	for _, p := range m.Plugins {
		to := filepath.Join(set.File.Dir, p.Path)
		from := filepath.Join(unpacked, backupPlugins, p.Digest)
		switch {
		case !filepath.IsLocal(p.Path) || filepath.Clean(p.Path) != p.Path || p.Path == ".":
			if settled(p) {
				continue
			}
			return nil, refusal(p.Path, "is not below the directory of plugin.hcl")
		case !used.has(to):
			return nil, refusal(p.Path, "is no file of a plugin of "+set.File.Path)
		case named[to]:
			return nil, refusal(p.Path, "stands there twice")
		case !digestName.MatchString(p.Digest):
			return nil, fmt.Errorf("the archive lacks the plugin %s: its digest is none; nothing was restored", p.Path)
		}
		if sum, err := pin.FileDigest(from); err != nil || sum != p.Digest {
			return nil, fmt.Errorf("the archive lacks the plugin %s, or holds another one; nothing was restored", p.Path)
		}
		named[to], known[p.Digest] = true, true
		found = append(found, foundPlugin{from, to})
	}
	left, err := os.ReadDir(filepath.Join(unpacked, backupPlugins))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range left {
		if !known[f.Name()] && !m.mentions(f.Name()) {
			return nil, refusal(backupPlugins+"/"+f.Name(), "is not in its manifest")
		}
	}
	return found, nil
}

// refusal is the error about a name that an archive may not hold.
func refusal(name, why string) error {
	return fmt.Errorf("the archive names the plugin file %q, which %s: nothing was restored; -without-plugins restores all but the files of plugins", name, why)
}

// settled reports whether a file that former versions have backed up from outside of the directory of plugin.hcl is there unchanged.
func settled(p pluginFile) bool {
	if !filepath.IsAbs(p.Path) {
		return false
	}
	sum, err := pin.FileDigest(p.Path)
	return err == nil && sum == p.Digest
}

// mentions reports whether a file of the manifest has a digest.
func (m manifest) mentions(digest string) bool {
	for _, p := range m.Plugins {
		if p.Digest == digest {
			return true
		}
	}
	return false
}

// names are the files that plugin.hcl uses of plugins, and the folders that belong to its arguments.
type names struct {
	files   map[string]bool
	folders []string
}

// usedNames returns the names of plugins' files below the directory of plugin.hcl, whether they are there or not.
func usedNames(set *settings.Settings) names {
	used := names{files: map[string]bool{}}
	for _, p := range set.File.Plugins {
		if p.Path == "" {
			continue
		}
		for _, path := range append([]string{p.Path}, p.Args...) {
			file := settings.AbsolutePath(set.File.Dir, path)
			if !isBelow(set.File.Dir, file) {
				continue
			}
			used.files[file] = true
			if folder := filepath.Dir(file); folder != set.File.Dir {
				used.folders = append(used.folders, folder)
			}
		}
	}
	return used
}

// has reports whether an absolute path is one of the names, or below one of the folders.
func (n names) has(path string) bool {
	if n.files[path] {
		return true
	}
	for _, folder := range n.folders {
		if strings.HasPrefix(path, folder+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// placeConfiguration puts plugin.hcl, its lock file and the files of plugins where there are none. Where another one is, it goes
// beside that.
func (d *Restored) placeConfiguration(from, configPath string, plugins []foundPlugin) error {
	if err := d.placeFile(filepath.Join(from, backupConfig), configPath); err != nil {
		return err
	}
	if err := d.placeFile(filepath.Join(from, backupLock), config.LockPath(configPath)); err != nil {
		return err
	}
	for _, p := range plugins {
		if err := d.placeFile(p.from, p.to); err != nil {
			return err
		}
	}
	return nil
}

// placeFile copies a file to a place where there is none. If another one is there, it goes beside that.
func (d *Restored) placeFile(from, to string) error {
	sum, err := pin.FileDigest(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	placed := &d.Placed
	if there, err := pin.FileDigest(to); err == nil && there == sum {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		to = to + ".from-backup-" + sum[:12]
		if _, err := os.Lstat(to); err == nil {
			return nil
		}
		placed = &d.Beside
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := extractFile(in, to, info.Mode().Perm()); err != nil {
		return err
	}
	*placed = append(*placed, to)
	return nil
}
