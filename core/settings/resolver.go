package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

// Platform returns the key of this machine in lock files, such as linux_amd64.
func Platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// builtinBinary returns the path of the binary of the built-in plugins.
func builtinBinary(setting, dir string) (string, error) {
	path := setting
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find the core's own binary: %w", err)
		}
		path = filepath.Join(filepath.Dir(self), "patchbay-plugins")
	} else {
		path = AbsolutePath(dir, path)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the binary of the built-in plugins is not at %s: build it with \"make build\", or set plugin_binary in the core block (SVC_PLUGIN_BINARY)", path)
	}
	return path, nil
}

// builtinNames asks the binary which plugins it holds, by kind.
func builtinNames(ctx context.Context, binary string) (map[string][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, "list").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its plugins: %w", binary, err)
	}
	var names []string
	if err := json.Unmarshal(bytes.TrimSpace(out), &names); err != nil {
		return nil, fmt.Errorf("ask %s for its plugins: %w", binary, err)
	}
	byKind := map[string][]string{}
	for _, n := range names {
		kind, name, _ := strings.Cut(n, "/")
		byKind[kind] = append(byKind[kind], name)
	}
	return byKind, nil
}

// Resolver finds the processes that the instances of a configuration need.
type Resolver struct {
	// Lock is the lock file beside plugin.hcl.
	Lock *config.Lock
	// Builtin is the binary of the built-in plugins, Names their names by kind.
	Builtin string
	Names   map[string][]string
	// LearnSecrets, if set, gets the secrets in the configuration of instances before their plugins do.
	LearnSecrets func(secrets ...string)
	// PluginEnv are variables, as NAME=value, that every plugin gets besides those that its block lets through.
	PluginEnv []string

	file *config.File
	env  config.Env
	// lockDamaged reports whether the lock file has errors.
	lockDamaged bool
}

// isBuiltin reports whether a plugin is one of the built-in ones.
func (r *Resolver) isBuiltin(kind, plugin string) bool { return slices.Contains(r.Names[kind], plugin) }

// processSpec returns how the plugin of an instance is started.
func (r *Resolver) processSpec(in *config.Instance) (host.Spec, error) {
	p := r.file.Plugin(in.Plugin)
	var spec host.Spec
	switch {
	case p != nil && p.Path != "":
		spec = r.PluginSpec(p)
	case !r.isBuiltin(in.Kind, in.Plugin):
		return spec, fmt.Errorf("there is no built-in %s plugin %q: name its binary in a block plugin %q { path = \"…\" }", in.Kind, in.Plugin,
			in.Plugin)
	case p != nil:
		spec = r.PluginSpec(p)
		spec.Path, spec.Args = r.Builtin, []string{in.Kind + "/" + in.Plugin}
		spec.Digests, spec.Trees = nil, nil
	default:
		spec = host.Spec{Name: in.Plugin, Env: slices.Clone(r.PluginEnv), Path: r.Builtin, Args: []string{in.Kind + "/" + in.Plugin}}
	}
	if in.Isolate {
		spec.Isolate = in.Ref()
	}
	return spec, nil
}

// Arguments returns the arguments of a plugin. Those that are files become absolute, since plugins do not run in the
// directory of plugin.hcl.
func (r *Resolver) Arguments(p *config.Plugin) []string {
	out := slices.Clone(p.Args)
	for i, a := range out {
		path := AbsolutePath(r.file.Dir, a)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			out[i] = path
		}
	}
	return out
}
