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
	// learn, if set, hears of the secrets in the configuration of instances before their plugins do.
	learn func(secrets ...string)
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
		spec.MTLS, spec.StartTimeout = p.MTLS, p.StartTimeout
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

// opened is what came of an instance: its plugin's process, or why the core goes on without the instance.
type opened struct {
	wanted *catalog.Wanted
	diags  config.Diagnostics
	// absence is why the instance is left out although nothing is an error; empty otherwise.
	absence string
}

// planned is what came of all instances. The candidates are the caller's to close or to hand to Prepare.
type planned struct {
	wanted []catalog.Wanted
	diags  config.Diagnostics
	// absent are the instances that are left out, with the reason.
	absent map[*config.Instance]string
}

// close ends the use of the plugins that were opened.
func (p *planned) close() {
	for _, w := range p.wanted {
		w.Candidate.Close()
	}
}

// plan starts the plugins of all instances, decodes their configuration and has them validate it. It reports every
// finding.
func (s *settings) plan(ctx context.Context, cat *catalog.Catalog, r *resolver) *planned {
	diags := s.file.CheckLock(r.lock, Platform())
	if diags.HasErrors() {
		return &planned{diags: diags}
	}
	out := s.openAll(ctx, cat, r, s.file.Instances)
	out.diags = append(diags, out.diags...)
	return out
}

// openAll opens instances at the same time.
func (s *settings) openAll(ctx context.Context, cat *catalog.Catalog, r *resolver, list []*config.Instance) *planned {
	results := make([]opened, len(list))
	var wg sync.WaitGroup
	for i, in := range list {
		wg.Go(func() { results[i] = s.open(ctx, cat, r, in) })
	}
	wg.Wait()
	out := &planned{absent: map[*config.Instance]string{}}
	for i, res := range results {
		out.diags = append(out.diags, res.diags...)
		if res.wanted != nil {
			out.wanted = append(out.wanted, *res.wanted)
		}
		if res.absence != "" {
			out.absent[list[i]] = res.absence
		}
	}
	return out
}

// open starts the plugin of an instance and has it check its configuration. What the file itself has wrong is an error even
// for an instance that is not required.
func (s *settings) open(ctx context.Context, cat *catalog.Catalog, r *resolver, in *config.Instance) opened {
	spec, err := r.spec(in)
	if err != nil {
		return opened{diags: config.ErrorAt(in.Range, "Unknown plugin", err.Error())}
	}
	cand, err := cat.Open(ctx, in.Kind, spec)
	if err != nil {
		return leaveOut(in, startFailure(in, err))
	}
	sch, err := cand.Schema()
	if err != nil {
		cand.Close()
		return leaveOut(in, config.ErrorAt(in.Range, "Unusable plugin", fmt.Sprintf("plugin %q describes its configuration wrongly: %v", in.Plugin, err)))
	}
	raw, diags := s.file.DecodeInstance(in, sch)
	if r.learn != nil {
		r.learn(in.Secrets()...)
	}
	if diags.HasErrors() {
		cand.Close()
		return opened{diags: diags}
	}
	w := &catalog.Wanted{Candidate: cand, Optional: !in.Required, Desired: catalog.Desired{
		Kind: in.Kind, Plugin: in.Plugin, Name: in.Name, Spec: spec, Timeout: in.Timeout, Concurrency: in.Concurrency, JSON: raw,
	}}
	if cand.Has(framework.CapDataDir) {
		w.DataDir = filepath.Join(s.dataDir, "instances", in.Ref())
	}
	found := s.validate(ctx, cat, in, w)
	if found.HasErrors() {
		cand.Close()
		return leaveOut(in, append(diags, found...))
	}
	return opened{wanted: w, diags: append(diags, found...)}
}

// validate has the plugin check the configuration of an instance. A plugin that is down cannot, which is no finding about an
// instance that stays as it is.
func (s *settings) validate(ctx context.Context, cat *catalog.Catalog, in *config.Instance, w *catalog.Wanted) config.Diagnostics {
	found, err := cat.Validate(ctx, w.Candidate, w.Desired, s.file.Dir)
	switch {
	case err == nil:
		return s.file.Locate(in, found)
	case cat.Unchanged(w.Desired):
		return nil
	}
	return config.ErrorAt(in.Range, "Plugin failed", fmt.Sprintf("plugin %q could not check its configuration: %v", in.Plugin, err))
}

// startFailure tells why a plugin does not start.
func startFailure(in *config.Instance, err error) config.Diagnostics {
	detail := host.Reason(err)
	if errors.Is(err, host.ErrChecksum) {
		detail += "; if the change was yours, run \"patchbay plugin lock\""
	}
	return config.ErrorAt(in.Range, "Plugin does not start", detail)
}

// leaveOut makes warnings of the errors about an instance that the core can do without.
func leaveOut(in *config.Instance, found config.Diagnostics) opened {
	if in.Required {
		return opened{diags: found}
	}
	absence := found.Error()
	found = slices.Clone(found)
	for i, d := range found {
		if d.Severity == config.Error {
			found[i].Severity = config.Warning
			found[i].Detail = strings.TrimPrefix(d.Detail+"; ", "; ") + "the instance is not required: it is left out, and tried again while the core runs"
		}
	}
	return opened{diags: found, absence: absence}
}
