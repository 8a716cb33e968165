// Package mailcorpus holds messages that the tests of public projects use, real and malformed ones. README.md names their
// sources and licences.
package mailcorpus

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"strings"
	"testing"
)

//go:embed corpus.zip
var archive []byte

// Messages returns the messages by their names.
func Messages(t testing.TB) map[string]string {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files.File {
		if strings.HasPrefix(f.Name, "LICENSES/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(raw)
	}
	return all
}
