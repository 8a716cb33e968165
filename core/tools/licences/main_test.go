package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify,
merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished
to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as
published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.
`

func TestLicencesAreFoundAndRecognized(t *testing.T) {
	dir := t.TempDir()
	pkg := filepath.Join(dir, "inner", "pkg")
	if err := os.MkdirAll(pkg, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"LICENSE": mit, "NOTICE.txt": "A notice.\r\n", "inner/pkg/COPYING": mit, "license.go": "package x", "README.md": "MIT",
		"other/LICENSE": gpl,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := licencesAbove(dir, pkg)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, compareDepth)
	if want := []string{"LICENSE", "NOTICE.txt", "inner/pkg/COPYING"}; !slices.Equal(files, want) {
		t.Fatalf("got %v, want %v", files, want)
	}
	texts, err := readTexts(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	c := &component{name: "example.org/a", version: "v1.0.0", linkedInto: []string{"x"}, texts: texts}
	if !slices.Equal(c.kinds(), []string{"MIT"}) || c.check() != nil {
		t.Errorf("got %v, %v", c.kinds(), c.check())
	}
	var out bytes.Buffer
	render(&out, []*component{c})
	if n := strings.Count(out.String(), "Permission is hereby granted"); n != 1 || strings.Contains(out.String(), "\r") {
		t.Errorf("the text stands %d times in\n%s", n, &out)
	}
	if _, err := readTexts(dir, []string{"other/LICENSE"}); err == nil || !strings.Contains(err.Error(), "GPL-3.0") {
		t.Errorf("GPL: %v", err)
	}
	if err := (&component{name: "example.org/b", texts: texts[1:2]}).check(); err == nil || !strings.Contains(err.Error(), "example.org/b") {
		t.Errorf("a notice alone: %v", err)
	}
}

// The list of this tree names what is linked, embedded and compiled in, and is the same each time.
func TestTheListOfThisTree(t *testing.T) {
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := writeList(out, filepath.Join("..", "..", "..")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
	for _, want := range []string{"| Go standard library", "| github.com/gin-gonic/gin | v", "| MPL-2.0 | patchbay, patchbay-plugins |",
		"| htmx.org | 4", "| OFL-1.1 | patchbay |"} {
		if !strings.Contains(first.String(), want) {
			t.Errorf("the list does not hold %q", want)
		}
	}
	if strings.Contains(first.String(), "patchbay-dev/patchbay/sdk") {
		t.Error("the list holds a module of Patchbay's own")
	}
}
