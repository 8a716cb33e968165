package admin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// packMembers writes an archive of texts by name, with a database unless there is one, and returns its path.
func packMembers(t *testing.T, members map[string]string) string {
	t.Helper()
	st, src := newInstallation(t, store.SQLite)
	must(t, st.Close())
	if _, ok := members[backupDatabase]; !ok {
		database, err := os.ReadFile(filepath.Join(filepath.Dir(src.Path), "data", "patchbay.sqlite3"))
		must(t, err)
		members[backupDatabase] = string(database)
	}
	var raw bytes.Buffer
	zip := gzip.NewWriter(&raw)
	out := tar.NewWriter(zip)
	for name, text := range members {
		must(t, out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o700}))
		_, err := out.Write([]byte(text))
		must(t, err)
	}
	must(t, out.Close())
	must(t, zip.Close())
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	must(t, os.WriteFile(path, raw.Bytes(), 0o600))
	return path
}

// listFiles returns the files below a directory, without the lock files of the database.
func listFiles(t *testing.T, dir string) (found []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			found = append(found, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	return found
}

// TestRestorePlacesOnlyNamesInUse restores archives with each kind of name that stands in one: what plugin.hcl does not use below its own
// directory is refused with the whole archive.
func TestRestorePlacesOnlyNamesInUse(t *testing.T) {
	const program = "#!/bin/sh\n"
	sum := sha256.Sum256([]byte(program))
	digest := hex.EncodeToString(sum[:])
	outside := filepath.Join(t.TempDir(), "outside")
	const uses = "plugin \"p\" {\n  path = \"plugins/p\"\n  args = [\"lib/p.py\", \"-v\"]\n}\n"
	manifestOf := func(paths ...string) string {
		m := manifest{}
		for _, p := range paths {
			m.Plugins = append(m.Plugins, pluginFile{Path: p, Digest: digest})
		}
		raw, err := json.Marshal(m)
		must(t, err)
		return string(raw)
	}
	withPlugin := func(paths ...string) map[string]string {
		return map[string]string{backupManifest: manifestOf(paths...), backupPlugins + "/" + digest: program}
	}
	fromArchive := func(config string) map[string]string {
		return map[string]string{backupConfig: config, backupKey: "a key"}
	}
	for name, c := range map[string]struct {
		members map[string]string
		// config is the plugin.hcl that is there; "" for none.
		config  string
		env     map[string]string
		without bool
		// want is a part of the error, or "" for none; placed are the files that are there then.
		want   string
		placed []string
	}{
		"in use": {members: withPlugin("plugins/p", "lib/p.py", "lib/node_modules/a.js"), config: uses,
			placed: []string{"data/patchbay.sqlite3", "lib/node_modules/a.js", "lib/p.py", "plugin.hcl", "plugins/p"}},
		"absolute": {members: withPlugin(outside), config: uses, want: "is not below the directory of plugin.hcl"},
		"absolute and used": {members: withPlugin(outside), config: "plugin \"p\" {\n  path = \"" + outside + "\"\n}\n",
			want: "is not below the directory of plugin.hcl"},
		"above":              {members: withPlugin("../outside"), config: uses, want: "is not below the directory of plugin.hcl"},
		"through a folder":   {members: withPlugin("plugins/../../outside"), config: uses, want: "is not below the directory of plugin.hcl"},
		"not clean":          {members: withPlugin("plugins/./p"), config: uses, want: "is not below the directory of plugin.hcl"},
		"empty":              {members: withPlugin(""), config: uses, want: "is not below the directory of plugin.hcl"},
		"not in use":         {members: withPlugin("plugins/p", "bin/sh"), config: uses, want: `"bin/sh", which is no file of a plugin`},
		"beside an argument": {members: withPlugin("library/p.py"), config: uses, want: "is no file of a plugin"},
		"configuration":      {members: withPlugin("plugin.hcl"), config: uses, want: "is no file of a plugin"},
		"twice":              {members: withPlugin("plugins/p", "plugins/p"), config: uses, want: "stands there twice"},
		"digest with a path": {members: map[string]string{backupManifest: `{"plugins":[{"path":"plugins/p","digest":"../../master.key"}]}`},
			config: uses, want: "its digest is none"},
		"missing": {members: map[string]string{backupManifest: manifestOf("plugins/p")}, config: uses, want: "lacks the plugin"},
		"not in the manifest": {members: map[string]string{backupManifest: manifestOf(), backupPlugins + "/" + digest: program}, config: uses,
			want: "is not in its manifest"},
		"without plugins": {members: withPlugin(outside), config: uses, without: true,
			placed: []string{"data/patchbay.sqlite3", "plugin.hcl"}},
		"member above":      {members: map[string]string{"instances/../../outside": "x"}, config: uses, want: "which no backup does"},
		"member absolute":   {members: map[string]string{outside: "x"}, config: uses, want: "which no backup does"},
		"member unknown":    {members: map[string]string{"lib/p.py": "x"}, config: uses, want: "which no backup does"},
		"own configuration": {members: fromArchive(uses), placed: []string{"data/master.key", "data/patchbay.sqlite3", "plugin.hcl"}},
		"data elsewhere":    {members: fromArchive("core {\n  data_dir = \"" + outside + "\"\n}\n"), want: "(data_dir), outside of"},
		"data above":        {members: fromArchive("core {\n  data_dir = \"../outside\"\n}\n"), want: "(data_dir), outside of"},
		"database elsewhere": {members: fromArchive("storage \"sqlite\" {\n  path = \"" + outside + "\"\n}\n"),
			want: "(path of the database), outside of"},
		"data by the operator": {members: fromArchive("core {}\n"), env: map[string]string{"SVC_DATA_DIR": filepath.Join(t.TempDir(), "mine")},
			placed: []string{"plugin.hcl"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := settings.Source{Path: filepath.Join(dir, "plugin.hcl"),
				Env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
			if c.config != "" {
				must(t, os.WriteFile(src.Path, []byte(c.config), 0o600))
			}
			before := listFiles(t, dir)
			done, diags, err := Restore(t.Context(), src, Restoring{Archive: packMembers(t, c.members), WithoutPlugins: c.without, MaxSize: 1 << 20})
			must(t, diags.Err())
			want := c.placed
			if c.want != "" {
				want = before
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("it reports %v, want %q", err, c.want)
			}
			if got := listFiles(t, dir); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("there are %q, want %q", got, want)
			}
			if _, err := os.Lstat(outside); err == nil {
				t.Error("a file was placed outside")
			}
			for _, file := range want {
				if path := filepath.Join(dir, file); c.want == "" && (c.config == "" || file != "plugin.hcl") &&
					!strings.Contains(strings.Join(done.Placed, "\n"), path) {
					t.Errorf("%s was placed without a word: %q", path, done.Placed)
				}
			}
		})
	}
}
