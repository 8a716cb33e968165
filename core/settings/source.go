package settings

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// Source is a configuration that can be read.
type Source struct {
	// Path is plugin.hcl.
	Path string
	// Env looks environment variables up.
	Env config.Env
	// Services are those whose blocks may stand in it.
	Services []module.Definition
	// Overlay holds texts that are read in place of the files of those absolute paths.
	Overlay map[string][]byte
}

// Read reads the configuration without asking any plugin. With errors in the diagnostics the settings are incomplete, or nil.
func (s Source) Read() (*Settings, config.Diagnostics, error) {
	opts, err := s.FileOptions(nil)
	if err != nil {
		return nil, nil, err
	}
	return s.readFile(opts)
}

// readFile reads the configuration with what may stand in it.
func (s Source) readFile(opts config.Options) (*Settings, config.Diagnostics, error) {
	file, diags := config.Load(s.Path, s.Env, opts)
	if file == nil {
		return nil, diags, nil
	}
	set, found := s.decodeFile(file)
	return set, append(diags, withoutRepeats(diags, found)...), nil
}

// Load reads the configuration as far as that needs no running plugin: it asks the binary of the built-in plugins for their
// names. With errors in the diagnostics nothing may be started, and the settings may be nil.
func (s Source) Load(ctx context.Context) (*Settings, *Resolver, config.Diagnostics, error) {
	// What the file says about the binary of the built-in plugins is needed before the names in it can be checked.
	set, diags, err := s.Read()
	if err != nil || diags.HasErrors() {
		return nil, nil, diags, err
	}
	binary, err := builtinBinary(set.Core.PluginBinary, set.File.Dir)
	if err != nil {
		return nil, nil, diags, err
	}
	names, err := builtinNames(ctx, binary)
	if err != nil {
		return nil, nil, diags, err
	}
	opts, err := s.FileOptions(names)
	if err != nil {
		return nil, nil, diags, err
	}
	if set, diags, err = s.readFile(opts); err != nil || diags.HasErrors() {
		return nil, nil, diags, err
	}
	lock, found := config.LoadLock(config.LockPath(s.Path))
	return set, &Resolver{Lock: lock, Builtin: binary, Names: names, file: set.File, env: s.Env}, append(diags, found...), nil
}

// Inspect is Load for a check: with errors it goes on as far as more of them can be found. Nothing may be run of what it returns then. The
// settings are nil if the file cannot be read at all, and the resolver if the built-in plugins cannot be asked.
func (s Source) Inspect(ctx context.Context) (*Settings, *Resolver, config.Diagnostics, error) {
	set, diags, err := s.Read()
	if err != nil || set == nil {
		return nil, nil, diags, err
	}
	binary, err := builtinBinary(set.Core.PluginBinary, set.File.Dir)
	var names map[string][]string
	if err == nil {
		names, err = builtinNames(ctx, binary)
	}
	if err != nil {
		return set, nil, append(diags, set.File.Core().Locate(diagnosticAt("plugin_binary", err))...), nil
	}
	opts, err := s.FileOptions(names)
	if err != nil {
		return nil, nil, diags, err
	}
	again, found, err := s.readFile(opts)
	if err != nil || again == nil {
		return set, nil, diags, err
	}
	lock, damaged := config.LoadLock(config.LockPath(s.Path))
	res := &Resolver{Lock: lock, Builtin: binary, Names: names, file: again.File, env: s.Env, lockDamaged: damaged.HasErrors()}
	return again, res, append(found, damaged...), nil
}

// FindMistakes returns what the machine and the plugins find about the configuration, without what reported has already. Plugins that are
// not pinned are not started.
func (s *Settings) FindMistakes(ctx context.Context, cat *catalog.Catalog, r *Resolver, reported config.Diagnostics) config.Diagnostics {
	found := withoutRepeats(reported, s.CheckMachine())
	if r == nil {
		return found
	}
	if !r.lockDamaged {
		found = append(found, s.File.CheckLock(r.Lock, Platform())...)
	}
	var list []*config.Instance
	for _, in := range s.File.Instances {
		p := s.File.Plugin(in.Plugin)
		if p == nil || p.Path == "" || !r.lockDamaged && (p.InsecureUnpinned || r.Lock.Pins(p.Name, Platform())) {
			list = append(list, in)
		}
	}
	plan := s.PlanInstances(ctx, cat, r, list)
	plan.Close()
	return append(found, withoutRepeats(reported, plan.Diags)...)
}

// SocketDirectories returns the absolute data directory and the configured directory of sockets, as far as the configuration can
// be read: with errors in it, whatever else it says, and without a file what holds by default.
func (s Source) SocketDirectories() (dataDir, socketDir string) {
	set, _, err := s.Read()
	if err == nil && set != nil && set.DataDir != "" {
		return set.DataDir, set.Core.SocketDir
	}
	dataDir = defaultDataDir
	if named, ok := s.Env("SVC_DATA_DIR"); ok && named != "" {
		dataDir = named
	}
	dir, err := filepath.Abs(filepath.Dir(s.Path))
	if err != nil {
		return dataDir, ""
	}
	return AbsolutePath(dir, dataDir), ""
}

// withoutRepeats returns found without what stands at lines for which reported has an error already, of which it is mostly a
// consequence.
func withoutRepeats(reported, found config.Diagnostics) config.Diagnostics {
	type place struct {
		file string
		line int
	}
	wrong := map[place]bool{}
	for _, d := range reported {
		if d.Severity == config.Error && d.Line > 0 {
			wrong[place{d.File, d.Line}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(d config.Diagnostic) bool { return wrong[place{d.File, d.Line}] })
}
