package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// PluginParts are the files that a plugin that is not built in consists of.
type PluginParts struct {
	// Files are the absolute paths of its arguments that are files, by the argument as it is written.
	Files map[string]string
	// Folders are the absolute paths of the folders that its interpreter may load modules from.
	Folders []string
}

// shells are interpreters that load no modules from the folder of a script.
var shells = []string{"sh", "bash", "dash", "ash"}

// FindParts returns the files of a plugin, as far as they are there. dir is the directory of plugin.hcl.
func FindParts(dir string, p *config.Plugin) PluginParts {
	parts := PluginParts{Files: map[string]string{}}
	for _, a := range p.Args {
		file := AbsolutePath(dir, a)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		parts.Files[a] = file
		parts.Folders = append(parts.Folders, pin.Folders(file)...)
	}
	if isModuleScript(p.Path) {
		parts.Folders = append(parts.Folders, pin.Folders(p.Path)...)
	}
	slices.Sort(parts.Folders)
	parts.Folders = slices.Compact(parts.Folders)
	return parts
}

// isModuleScript reports whether a file is a script whose interpreter may load modules from its folder.
func isModuleScript(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	words := strings.Fields(pin.Interpreter(f))
	return len(words) > 0 && !slices.Contains(shells, filepath.Base(words[0]))
}

// FolderName returns the name of a folder in a lock file: relative to the directory of plugin.hcl if it lies below that.
func FolderName(dir, folder string) string {
	if name, err := filepath.Rel(dir, folder); err == nil && filepath.IsLocal(name) {
		return name
	}
	return folder
}

// pinSpec adds what the lock file pins of a plugin.
func (r *Resolver) pinSpec(spec *host.Spec, p *config.Plugin) {
	entry, ok := r.Lock.Lookup(p.Name)
	if !ok {
		return
	}
	parts := FindParts(r.file.Dir, p)
	spec.Digests = map[string]string{}
	for arg, d := range entry.Files {
		spec.Digests[AbsolutePath(r.file.Dir, arg)] = d
	}
	if d := entry.Digests[Platform()]; d != "" {
		spec.Digests[p.Path] = d
		for arg, file := range parts.Files {
			spec.Digests[file] = entry.Files[arg]
		}
	}
	if len(entry.Trees) == 0 {
		return // it was written by a former version, or no argument was a file
	}
	spec.Trees = map[string]string{}
	for _, folder := range parts.Folders {
		spec.Trees[folder] = entry.Trees[FolderName(r.file.Dir, folder)]
	}
}

// PluginSpec returns how a plugin that is not built in is started.
func (r *Resolver) PluginSpec(p *config.Plugin) host.Spec {
	spec := host.Spec{Name: p.Name, Path: p.Path, Args: r.Arguments(p), MTLS: p.MTLS, StartTimeout: p.StartTimeout,
		Env: slices.Clone(r.PluginEnv)}
	for _, name := range p.Env {
		if v, ok := r.env(name); ok {
			spec.Env = append(spec.Env, name+"="+v)
		}
	}
	r.pinSpec(&spec, p)
	return spec
}

// WithLock returns a resolver for the plugins of a configuration that are not built in.
func (s *Settings) WithLock(lock *config.Lock, env config.Env) *Resolver {
	return &Resolver{Lock: lock, file: s.File, env: env}
}
