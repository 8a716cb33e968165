// Package sdk holds the source of this module, so that the core can write it beside a new plugin: whoever has the binary can build one.
package sdk

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed go.mod go.sum codehost conformance dns docs engine errs exchange framework jsonedit kinds notify plugintest proto registry schema search tracing translator source.go
var source embed.FS

// Source returns the files of the module without its tests, by their paths.
func Source() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files[path], err = source.ReadFile(path)
		return err
	})
	return files, err
}
