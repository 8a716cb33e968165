package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// Platform is the key of this machine in lock files, such as linux_amd64.
func Platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// builtinBinary finds the binary of the built-in plugins.
func builtinBinary(setting, dir string) (string, error) {
	path := setting
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find the core's own binary: %w", err)
		}
		path = filepath.Join(filepath.Dir(self), "patchbay-plugins")
	} else {
		path = absolute(dir, path)
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

// resolver turns instances into specs of processes.
type resolver struct {
	file    *config.File
	lock    *config.Lock
	builtin string
	names   map[string][]string
	env     config.Env
}

func (r *resolver) isBuiltin(kind, plugin string) bool { return slices.Contains(r.names[kind], plugin) }

// spec says how the plugin of an instance is started.
func (r *resolver) spec(in *config.Instance) (host.Spec, error) {
	spec := host.Spec{Name: in.Plugin}
	if in.Isolate {
		spec.Isolate = in.Ref()
	}
	p := r.file.Plugin(in.Plugin)
	if p != nil {
		spec.MTLS = p.MTLS
		for _, name := range p.Env {
			if v, ok := r.env(name); ok {
				spec.Env = append(spec.Env, name+"="+v)
			}
		}
	}
	if p == nil || p.Path == "" {
		if !r.isBuiltin(in.Kind, in.Plugin) {
			return spec, fmt.Errorf("there is no built-in %s plugin %q: name its binary in a block plugin %q { path = \"…\" }", in.Kind, in.Plugin, in.Plugin)
		}
		spec.Path, spec.Args = r.builtin, []string{in.Kind + "/" + in.Plugin}
		return spec, nil
	}
	spec.Path, spec.Args = p.Path, r.arguments(p)
	spec.Digests = r.digests(p)
	return spec, nil
}

// arguments makes those that are files absolute: plugins do not run in the directory of plugin.hcl.
func (r *resolver) arguments(p *config.Plugin) []string {
	out := slices.Clone(p.Args)
	for i, a := range out {
		path := absolute(r.file.Dir, a)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			out[i] = path
		}
	}
	return out
}

// digests are what the lock file pins for a plugin, by absolute path.
func (r *resolver) digests(p *config.Plugin) map[string]string {
	entry, ok := r.lock.Lookup(p.Name)
	if !ok {
		return nil
	}
	out := map[string]string{}
	if d := entry.Digests[Platform()]; d != "" {
		out[p.Path] = d
	}
	for arg, d := range entry.Files {
		out[absolute(r.file.Dir, arg)] = d
	}
	return out
}

// plan starts the plugins of all instances, decodes their configuration and has them validate it. It reports every
// finding. The candidates are the caller's to close or to hand to Prepare.
func (s *settings) plan(ctx context.Context, cat *catalog.Catalog, r *resolver) ([]catalog.Wanted, config.Diagnostics) {
	diags := s.file.CheckLock(r.lock, Platform())
	if diags.HasErrors() {
		return nil, diags
	}
	type result struct {
		wanted *catalog.Wanted
		diags  config.Diagnostics
	}
	results := make([]result, len(s.file.Instances))
	var wg sync.WaitGroup
	for i, in := range s.file.Instances {
		wg.Go(func() {
			w, d := s.open(ctx, cat, r, in)
			results[i] = result{w, d}
		})
	}
	wg.Wait()
	var wanted []catalog.Wanted
	for _, res := range results {
		diags = append(diags, res.diags...)
		if res.wanted != nil {
			wanted = append(wanted, *res.wanted)
		}
	}
	return wanted, diags
}

// open does for one instance what plan does for all.
func (s *settings) open(ctx context.Context, cat *catalog.Catalog, r *resolver, in *config.Instance) (*catalog.Wanted, config.Diagnostics) {
	spec, err := r.spec(in)
	if err != nil {
		return nil, config.ErrorAt(in.Range, "Unknown plugin", err.Error())
	}
	cand, err := cat.Open(ctx, in.Kind, spec)
	if err != nil {
		return nil, s.startFailure(in, err)
	}
	w := &catalog.Wanted{Candidate: cand, Desired: catalog.Desired{
		Kind: in.Kind, Plugin: in.Plugin, Name: in.Name, Spec: spec, Timeout: in.Timeout, Concurrency: in.Concurrency,
	}}
	diags := s.configure(ctx, cat, in, w)
	if diags.HasErrors() {
		cand.Close()
		return nil, diags
	}
	return w, diags
}

func (s *settings) configure(ctx context.Context, cat *catalog.Catalog, in *config.Instance, w *catalog.Wanted) config.Diagnostics {
	sch, err := w.Candidate.Schema()
	if err != nil {
		return config.ErrorAt(in.Range, "Unusable plugin", fmt.Sprintf("plugin %q describes its configuration wrongly: %v", in.Plugin, err))
	}
	raw, diags := s.file.DecodeInstance(in, sch)
	if diags.HasErrors() {
		return diags
	}
	w.JSON = raw
	if w.Candidate.Has(framework.CapDataDir) {
		w.DataDir = filepath.Join(s.dataDir, "instances", in.Ref())
	}
	found, err := cat.Validate(ctx, w.Candidate, w.Desired, s.file.Dir)
	if err != nil {
		return append(diags, config.ErrorAt(in.Range, "Plugin failed", fmt.Sprintf("plugin %q could not check its configuration: %v", in.Plugin, err))...)
	}
	return append(diags, s.file.Locate(in, found)...)
}

// startFailure is an error for an instance that the core cannot do without, and a warning for another.
func (s *settings) startFailure(in *config.Instance, err error) config.Diagnostics {
	detail := host.Reason(err)
	if errors.Is(err, host.ErrChecksum) {
		detail += "; if the change was yours, run \"patchbay plugin lock\""
	}
	if in.Required {
		return config.ErrorAt(in.Range, "Plugin does not start", detail)
	}
	return config.WarningAt(in.Range, "Plugin does not start", detail+"; the instance is left out because it is not required")
}
