// Package scaffold makes the module of a new plugin: one that builds, passes the conformance suite of its kind, and is
// short enough to be read before it is changed.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// Plugin says what to make.
type Plugin struct {
	// Kind is one of Kinds; Name is lower case, as in plugin.hcl.
	Kind, Name string
	// Dir is made, and must not exist or be empty.
	Dir string
	// SDK is the directory of a local SDK; empty takes the released one.
	SDK string
	// Module is the module path; empty makes one of the name.
	Module string
}

var name = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// Kinds are the kinds that there is a template for.
func Kinds() []string {
	entries, err := templates.ReadDir("templates")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Write makes the module and returns the files that it wrote, relative to Dir.
func (p Plugin) Write() ([]string, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Module == "" {
		p.Module = "example.com/" + p.Name
	}
	if p.SDK != "" {
		abs, err := filepath.Abs(p.SDK)
		if err != nil {
			return nil, err
		}
		p.SDK = abs
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory: %w", err)
	}
	root, err := fs.Sub(templates, "templates/"+p.Kind)
	if err != nil {
		return nil, err
	}
	var written []string
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out := strings.TrimSuffix(path, ".tmpl")
		written = append(written, out)
		return p.render(root, path, filepath.Join(p.Dir, out))
	})
	return written, err
}

func (p Plugin) render(root fs.FS, from, to string) error {
	t, err := template.New(filepath.Base(from)).Delims("<<", ">>").ParseFS(root, from)
	if err != nil {
		return fmt.Errorf("read the template %s: %w", from, err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(t.Execute(f, p), f.Close())
}

func (p Plugin) check() error {
	if !slices.Contains(Kinds(), p.Kind) {
		return fmt.Errorf("there is no template for the kind %q: write one of %s", p.Kind, strings.Join(Kinds(), ", "))
	}
	if !name.MatchString(p.Name) {
		return fmt.Errorf("the name %q must begin with a lower-case letter and have at most 32 of a-z, 0-9, _ and -", p.Name)
	}
	if p.SDK != "" {
		if _, err := os.Stat(filepath.Join(p.SDK, "go.mod")); err != nil {
			return fmt.Errorf("there is no SDK at %s: %w", p.SDK, err)
		}
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the directory %s is not empty", p.Dir)
	}
	return nil
}
