package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// LockName is the name of the lock file, which lies beside plugin.hcl.
const LockName = "plugin.lock.hcl"

// Lock pins the binaries of plugins that are not built in.
type Lock struct {
	// Plugins are the pinned plugins by name.
	Plugins map[string]LockEntry
}

// LockEntry pins one plugin. A digest is "sha256:" and 64 lower-case hexadecimal digits.
type LockEntry struct {
	// Digests has the digest of the executable by platform, such as linux_amd64.
	Digests map[string]string `patchbay:"digests"`
	// Files has the digests of arguments that are files, by the argument as it is written.
	Files map[string]string `patchbay:"files"`
	// Trees has the digests of the folders in which those files lie, by the path relative to plugin.hcl or, elsewhere, the absolute one.
	Trees map[string]string `patchbay:"trees"`
	// Abilities are the kinds that the plugin offered when it was pinned, such as "search", and their capabilities, such as "search/INDEX".
	Abilities []string `patchbay:"abilities"`
}

// LockPath returns the path of the lock file that belongs to a plugin.hcl.
func LockPath(configPath string) string { return filepath.Join(filepath.Dir(configPath), LockName) }

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// LoadLock reads a lock file. One that does not exist is an empty lock.
func LoadLock(path string) (*Lock, Diagnostics) {
	lock := &Lock{Plugins: map[string]LockEntry{}}
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return lock, nil
	}
	if err != nil {
		return lock, ErrorAt(Range{File: path}, "Lock file cannot be read", bareError(err).Error()+".")
	}
	if len(data) > maxFile {
		return lock, ErrorAt(Range{File: path}, "Lock file too large", "It may have at most 1 MiB.")
	}
	ds := lock.parseLock(path, data)
	ds.Sort()
	return lock, ds
}

func (l *Lock) parseLock(path string, data []byte) Diagnostics {
	parsed, found := hclsyntax.ParseConfig(data, path, hcl.InitialPos)
	src := &source{name: path, bytes: data, file: parsed, broken: found.HasErrors(), labelled: map[string]bool{"plugin": true}}
	f := &File{Path: path, src: src, env: func(string) (string, bool) { return "", false }, origins: map[string]string{}}
	d := &decoder{file: f, src: src, diags: src.convertDiagnostics(found)}
	if parsed == nil {
		return d.diags
	}
	content, found := parsed.Body.Content(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "plugin", LabelNames: []string{"name"}}},
	})
	d.diags = append(d.diags, src.convertDiagnostics(found)...)
	s := d.readSchema(LockEntry{})
	for _, block := range content.Blocks {
		name := block.Labels[0]
		if _, ok := l.Plugins[name]; ok {
			d.errorAt(d.labelRange(block, 0), "Duplicate plugin", "Remove this block, or run patchbay plugin lock.")
			continue
		}
		b := d.decodeBlock("plugin", name, block, s)
		var e LockEntry
		d.diags = append(d.diags, b.Decode(&e)...)
		d.checkDigests(b, "digests", e.Digests)
		d.checkDigests(b, "files", e.Files)
		d.checkDigests(b, "trees", e.Trees)
		l.Plugins[name] = e
	}
	return d.diags
}

func (d *decoder) checkDigests(b *Block, name string, digests map[string]string) {
	for _, key := range sortedKeys(digests) {
		if !digestPattern.MatchString(digests[key]) {
			d.errorAt(d.elementRange(b.node.findValue(name), cty.StringVal(key)), "Invalid digest",
				"A digest must be sha256: and 64 hexadecimal digits. Run patchbay plugin lock.")
		}
	}
}

// Lookup returns what is pinned of a plugin. A nil lock pins nothing.
func (l *Lock) Lookup(name string) (LockEntry, bool) {
	if l == nil {
		return LockEntry{}, false
	}
	e, ok := l.Plugins[name]
	return e, ok
}

// Pins reports whether a plugin has a digest for a platform. A nil lock pins nothing.
func (l *Lock) Pins(name, platform string) bool {
	e, _ := l.Lookup(name)
	return e.Digests[platform] != ""
}

// Write replaces the lock file atomically. Plugins and digests are sorted by name.
func (l *Lock) Write(path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".plugin.lock-*")
	if err != nil {
		return fmt.Errorf("create lock file: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(l.encodeLock())
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("replace lock file: %w", err)
	}
	return nil
}

func (l *Lock) encodeLock() []byte {
	file := hclwrite.NewEmptyFile()
	for _, name := range sortedKeys(l.Plugins) {
		e := l.Plugins[name]
		body := file.Body().AppendNewBlock("plugin", []string{name}).Body()
		for _, m := range []struct {
			name    string
			digests map[string]string
		}{{"digests", e.Digests}, {"files", e.Files}, {"trees", e.Trees}} {
			if len(m.digests) > 0 {
				body.SetAttributeValue(m.name, ctyMap(m.digests))
			}
		}
		if len(e.Abilities) > 0 {
			body.SetAttributeValue("abilities", ctyList(e.Abilities))
		}
	}
	return append([]byte("# Written by patchbay plugin lock. Do not edit.\n\n"), file.Bytes()...)
}

func ctyMap(m map[string]string) cty.Value {
	out := map[string]cty.Value{}
	for k, v := range m {
		out[k] = cty.StringVal(v)
	}
	return cty.MapVal(out)
}

func ctyList(texts []string) cty.Value {
	out := make([]cty.Value, len(texts))
	for i, t := range texts {
		out[i] = cty.StringVal(t)
	}
	return cty.ListVal(out)
}
