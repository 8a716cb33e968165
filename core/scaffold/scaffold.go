// Package scaffold makes the module of a new plugin: one that builds, passes the conformance suite of its kind, and is
// short enough to be read before it is changed.
package scaffold

import (
	"bytes"
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

	"github.com/patchbay-dev/patchbay/examples"
	"github.com/patchbay-dev/patchbay/sdk"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
	"github.com/patchbay-dev/patchbay/sdk/proto"
)

//go:embed templates
var templates embed.FS

// foreign are the languages other than Go: a plugin is a copy of an example, with the protocol that it reads.
var foreign = map[string]struct {
	example  string // its folder, and the name it has in its files
	protocol string // the part of the protocol
}{
	"node":   {"notify-node", "patchbay"},
	"python": {"search-python", "patchbay.binpb"},
}

// Plugin says what to make.
type Plugin struct {
	// Kind is one of Kinds; Name is lower case, as in plugin.hcl.
	Kind, Name string
	// Language is one of Languages; empty is Go.
	Language string
	// Dir is made, and must not exist or be empty.
	Dir string
	// SDK is the directory of a local SDK; empty writes a copy of this version's into the folder "sdk" of the module.
	SDK string
	// Module is the module path; empty makes one of the name.
	Module string
}

var name = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// Languages returns the languages that there is a template in.
func Languages() (names []string) {
	found, err := templates.ReadDir("templates")
	if err != nil {
		return nil
	}
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

// Kinds returns the kinds that there is a template for in a language.
func Kinds(language string) []string {
	return slices.DeleteFunc(kinds.Names(), func(kind string) bool {
		_, err := fs.Stat(templates, "templates/"+language+"/"+kind)
		return err != nil
	})
}

// copiedSDK is where a copy of the SDK lies, as go.mod names it.
const copiedSDK = "./sdk"

// CopiedSDK reports whether the module has the SDK in a folder of its own.
func (p Plugin) CopiedSDK() bool { return p.SDK == copiedSDK }

// writeSDK writes a copy of the SDK.
func (p Plugin) writeSDK() error {
	files, err := sdk.Source()
	if err != nil {
		return err
	}
	for name, text := range files {
		file := filepath.Join(p.Dir, copiedSDK, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := writeNew(file, text); err != nil {
			return err
		}
	}
	return nil
}

// Write makes the module and returns the files that it wrote, relative to Dir; a folder stands for all that is in it.
func (p Plugin) Write() ([]string, error) {
	if p.Language == "" {
		p.Language = "go"
	}
	if err := p.checkInput(); err != nil {
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
	copied := p.Language == "go" && p.SDK == ""
	if copied {
		p.SDK = copiedSDK
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory: %w", err)
	}
	root, err := fs.Sub(templates, "templates/"+p.Language+"/"+p.Kind)
	if err != nil {
		return nil, err
	}
	written, err := p.writeEach(root, ".", "", p.renderTemplate)
	if err == nil && copied {
		written = append(written, filepath.Clean(copiedSDK)+string(filepath.Separator))
		err = p.writeSDK()
	}
	source, ok := foreign[p.Language]
	if err != nil || !ok {
		return written, err
	}
	named := func(text []byte) ([]byte, error) {
		return bytes.ReplaceAll(text, []byte(source.example), []byte(p.Name)), nil
	}
	if root, err = fs.Sub(examples.Plugins, source.example); err != nil {
		return written, err
	}
	program, err := p.writeEach(root, ".", "", named)
	if written = append(written, program...); err != nil {
		return written, err
	}
	unchanged := func(text []byte) ([]byte, error) { return text, nil }
	protocol, err := p.writeEach(proto.Files, source.protocol, "proto", unchanged)
	return append(written, protocol...), err
}

// writeEach writes what change makes of every file of from below root to the directory to of the module, without the
// ending .tmpl, and returns their names.
func (p Plugin) writeEach(from fs.FS, root, to string, change func([]byte) ([]byte, error)) (written []string, err error) {
	err = fs.WalkDir(from, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		if text, err = change(text); err != nil {
			return fmt.Errorf("read the template %s: %w", path, err)
		}
		name := filepath.Join(to, filepath.FromSlash(strings.TrimSuffix(path, ".tmpl")))
		file := filepath.Join(p.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		written = append(written, name)
		return writeNew(file, text)
	})
	return written, err
}

// writeNew writes a file that must not exist.
func writeNew(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// renderTemplate executes a template with the fields of p.
func (p Plugin) renderTemplate(text []byte) ([]byte, error) {
	t, err := template.New("").Delims("<<", ">>").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, p)
	return out.Bytes(), err
}

// checkInput returns an error that names the first field which is not valid.
func (p Plugin) checkInput() error {
	if !slices.Contains(Languages(), p.Language) {
		return fmt.Errorf("there is no template in the language %q: write one of %s", p.Language, strings.Join(Languages(), ", "))
	}
	if offered := Kinds(p.Language); !slices.Contains(offered, p.Kind) {
		return fmt.Errorf("there is no template for the kind %q in the language %s: write one of %s", p.Kind, p.Language,
			strings.Join(offered, ", "))
	}
	if p.Language != "go" && (p.SDK != "" || p.Module != "") {
		return fmt.Errorf("a plugin in the language %s has no Go module: leave out the SDK and the module path", p.Language)
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
