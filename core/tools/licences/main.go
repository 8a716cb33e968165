// Command licences writes the list of the software of others that the two binaries and their pages contain: each with its
// version, the kind of its licence and the licence's text. The same sources give the same file.
//
// Usage: licences ROOT FILE, where ROOT is the top of the tree. FILE is written only if all is well.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: licences ROOT FILE")
		os.Exit(2)
	}
	var out bytes.Buffer
	if err := writeList(&out, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[2], out.Bytes(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "licences: write the list:", err)
		os.Exit(1)
	}
}

// component is one work of others that is distributed with the product.
type component struct {
	name, version string
	// linkedInto names the binaries that contain it.
	linkedInto []string
	texts      []text
}

// text is one licence file of a component.
type text struct {
	// file is its path within the component.
	file    string
	content string
	// kinds are the SPDX identifiers of the licences in it; a notice or a patent grant has none.
	kinds []string
}

// binaries are the two programs that are distributed.
var binaries = []binary{
	{name: "patchbay", pkg: "./core/cmd/patchbay", cgo: "1"},
	{name: "patchbay-plugins", pkg: "./plugins/cmd/patchbay-plugins", cgo: "0"},
}

// writeList collects all components of the tree at root and writes them. It fails for a component without a licence.
func writeList(out *bytes.Buffer, root string) error {
	modules, err := linkedModules(root)
	if err != nil {
		return err
	}
	files, err := vendoredFiles(root)
	if err != nil {
		return err
	}
	all := append(modules, files...)
	var problems []error
	for _, c := range all {
		problems = append(problems, c.check())
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	render(out, all)
	return nil
}

// check reports a component that must not be distributed as it is.
func (c *component) check() error {
	if len(c.kinds()) == 0 {
		return fmt.Errorf("%s %s: no licence is recognized in %d files", c.name, c.version, len(c.texts))
	}
	return nil
}

// kinds are the identifiers of all its licences, each once.
func (c *component) kinds() (out []string) {
	for _, t := range c.texts {
		out = appendNew(out, t.kinds...)
	}
	return out
}

// readTexts reads files below dir as the licence texts of a component.
func readTexts(dir string, files []string) (out []text, err error) {
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			return nil, err
		}
		kinds, err := recognize(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, f), err)
		}
		content := strings.Trim(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n")
		out = append(out, text{file: filepath.ToSlash(f), content: content, kinds: kinds})
	}
	return out, nil
}

func appendNew(to []string, values ...string) []string {
	seen := map[string]bool{}
	for _, v := range to {
		seen[v] = true
	}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			to = append(to, v)
		}
	}
	return to
}
