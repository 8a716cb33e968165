package admin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// TestRestoreBoundsTheArchive unpacks archives that no backup has written.
func TestRestoreBoundsTheArchive(t *testing.T) {
	file := func(name string, size int) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(size), Mode: 0o600}
	}
	link := tar.Header{Name: backupKey, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}
	for name, c := range map[string]struct {
		members []tar.Header
		want    string
	}{
		"large database": {[]tar.Header{file(backupDatabase, 1001)},
			"patchbay.sqlite3 in the archive has 1001 bytes, more than the limit of 1000"},
		"large key":   {[]tar.Header{file(backupKey, maxKeyFile+1)}, "master.key in the archive has 65537 bytes"},
		"twice":       {[]tar.Header{file(backupDatabase, 10), file(backupDatabase, 10)}, "patchbay.sqlite3 twice"},
		"other name":  {[]tar.Header{file("../plugin.hcl", 10)}, `"../plugin.hcl", which no backup does`},
		"link":        {[]tar.Header{link}, `"master.key", which no backup does`},
		"key alone":   {[]tar.Header{file(backupKey, 10)}, "holds no database"},
		"no database": {[]tar.Header{file(backupDatabase, 1000)}, "check "},
	} {
		t.Run(name, func(t *testing.T) {
			src := settings.Source{Path: filepath.Join(t.TempDir(), "plugin.hcl"), Env: func(string) (string, bool) { return "", false }}
			must(t, os.WriteFile(src.Path, []byte("core {}\n"), 0o600))
			archive := filepath.Join(t.TempDir(), "a.tar.gz")
			var raw bytes.Buffer
			zip := gzip.NewWriter(&raw)
			out := tar.NewWriter(zip)
			for _, h := range c.members {
				must(t, out.WriteHeader(&h))
				_, err := out.Write(bytes.Repeat([]byte("x"), int(h.Size)))
				must(t, err)
			}
			must(t, out.Close())
			must(t, zip.Close())
			must(t, os.WriteFile(archive, raw.Bytes(), 0o600))
			done, diags, err := Restore(t.Context(), src, Restoring{Archive: archive, MaxSize: 1000})
			must(t, diags.Err())
			if err == nil || !strings.Contains(err.Error(), c.want) || len(done.Kept) > 0 {
				t.Errorf("it reports %v and kept %q, want %q", err, done.Kept, c.want)
			}
			left, err := os.ReadDir(filepath.Join(filepath.Dir(src.Path), "data"))
			must(t, err)
			if len(left) > 0 {
				t.Errorf("the data directory holds %v", left)
			}
		})
	}
}

var must = testkit.Must
