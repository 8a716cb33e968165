package config

import (
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Plugin is a plugin block: where a plugin's binary is and how it is started.
type Plugin struct {
	Name string
	// Path is the absolute path of the executable, or empty if the block only adds to a built-in plugin.
	Path string
	// Args are passed to it as they are written.
	Args []string
	// Env names the variables that it inherits, besides the few that every plugin gets.
	Env []string
	// MTLS encrypts the connection.
	MTLS bool
	// StartTimeout bounds a start until the plugin answers, and each check of a configuration; 0 leaves it to the host.
	StartTimeout time.Duration
	// InsecureUnpinned lets the binary run without a digest in the lock file.
	InsecureUnpinned bool
	// Range is the block's header.
	Range Range

	node *node
}

type pluginArgs struct {
	Path             string        `patchbay:"path" doc:"The executable, relative to this file."`
	Args             []string      `patchbay:"args"`
	Env              []string      `patchbay:"env" doc:"Names of the environment variables that the plugin inherits."`
	MTLS             bool          `patchbay:"mtls,default=false"`
	StartTimeout     time.Duration `patchbay:"start_timeout,default=10s" doc:"Time for a start, and for each check of a configuration."`
	InsecureUnpinned bool          `patchbay:"insecure_unpinned,default=false"`
}

// The range of start_timeout.
const (
	minStartTimeout = 100 * time.Millisecond
	maxStartTimeout = 10 * time.Minute
)

// Plugin returns the plugin block of that name, or nil.
func (f *File) Plugin(name string) *Plugin {
	for _, p := range f.Plugins {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (d *decoder) decodePlugins(blocks hcl.Blocks) {
	s := d.readSchema(pluginArgs{})
	for _, block := range blocks {
		name := block.Labels[0]
		if !validName(name) {
			d.errorAt(d.labelRange(block, 0), "Invalid name", "Begin with a lower-case letter, and write at most 32 of a-z, 0-9, _ and -.")
			continue
		}
		if first := d.file.Plugin(name); first != nil {
			d.errorAt(d.labelRange(block, 0), "Duplicate plugin", "plugin %q already stands at %s. Keep one of them.", name, first.Range.Short())
			continue
		}
		d.file.Plugins = append(d.file.Plugins, d.decodePlugin(block, s))
	}
}

func (d *decoder) decodePlugin(block *hcl.Block, s *schema.Schema) *Plugin {
	before := len(d.diags)
	b := d.decodeBlock("plugin", block.Labels[0], block, s)
	p := &Plugin{Name: b.Name, Range: b.Range, node: b.node}
	var args pluginArgs
	if d.diags[before:].HasErrors() {
		return p
	}
	d.diags = append(d.diags, b.Decode(&args)...)
	p.Args, p.Env, p.MTLS, p.StartTimeout, p.InsecureUnpinned = args.Args, args.Env, args.MTLS, args.StartTimeout, args.InsecureUnpinned
	if t := p.StartTimeout; t < minStartTimeout || t > maxStartTimeout {
		d.errorAt(b.RangeOf(schema.At("start_timeout")), "Invalid duration", `"start_timeout" must be from %s to %s. Write for example "30s".`,
			minStartTimeout, maxStartTimeout)
	}
	if args.Path != "" {
		p.Path = d.file.resolvePath(args.Path)
	}
	for i, name := range args.Env {
		if !validVariable(name) {
			d.errorAt(b.RangeOf(schema.At("env").Index(i)), "Invalid variable name",
				`"env" lists names only. Write for example env = ["HTTPS_PROXY"].`)
		}
	}
	if p.Path == "" && len(p.Args) > 0 {
		d.errorAt(b.RangeOf(schema.At("args")), "Arguments without a path", `"args" needs "path": built-in plugins take none.`)
	}
	return p
}

func validVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// CheckLock compares the plugin blocks with the lock file: a binary that is not pinned for the platform (such as
// linux_amd64) is an error, one that may run unpinned a warning. It looks at no binary.
func (f *File) CheckLock(lock *Lock, platform string) Diagnostics {
	var ds Diagnostics
	for _, p := range f.Plugins {
		if p.Path == "" {
			continue
		}
		if p.InsecureUnpinned {
			ds = append(ds, WarningAt(p.Range, fmt.Sprintf("Plugin %q is not pinned", p.Name),
				"Whoever can replace its file can run code here. Run patchbay plugin lock and remove insecure_unpinned.")...)
			continue
		}
		if lock.Pins(p.Name, platform) {
			if entry, _ := lock.Lookup(p.Name); len(entry.Files) > 0 && len(entry.Trees) == 0 {
				ds = append(ds, WarningAt(p.Range, fmt.Sprintf("Plugin %q is pinned without the folder of its files", p.Name),
					"Its interpreter runs what else lies there. Run patchbay plugin lock, which pins the folder too.")...)
			}
			continue
		}
		ds = append(ds, ErrorAt(p.Range, fmt.Sprintf("Plugin %q has no digest for %s", p.Name, platform),
			"Run patchbay plugin lock, which writes it to "+LockName+".")...)
	}
	return ds
}
