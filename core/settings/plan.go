package settings

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// openResult is what came of an instance: its plugin's process, or why the core goes on without the instance.
type openResult struct {
	wanted *catalog.Wanted
	diags  config.Diagnostics
	// absence is why the instance is left out although nothing is an error; empty otherwise.
	absence string
}

// Plan is what came of all instances. The caller closes it, or hands Wanted to the catalog.
type Plan struct {
	Wanted []catalog.Wanted
	Diags  config.Diagnostics
	// Absent holds the instances that are left out, with the reason.
	Absent map[*config.Instance]string
}

// Close ends the use of the plugins that were opened.
func (p *Plan) Close() {
	for _, w := range p.Wanted {
		w.Candidate.Close()
	}
}

// Plan starts the plugins of all instances, decodes their configuration and has them validate it. It reports every
// finding.
func (s *Settings) Plan(ctx context.Context, cat *catalog.Catalog, r *Resolver) *Plan {
	diags := s.File.CheckLock(r.Lock, Platform())
	if diags.HasErrors() {
		return &Plan{Diags: diags}
	}
	out := s.PlanInstances(ctx, cat, r, s.File.Instances)
	out.Diags = append(diags, out.Diags...)
	return out
}

// PlanInstances is Plan for some instances, which are opened at the same time.
func (s *Settings) PlanInstances(ctx context.Context, cat *catalog.Catalog, r *Resolver, list []*config.Instance) *Plan {
	results := make([]openResult, len(list))
	var wg sync.WaitGroup
	for i, in := range list {
		wg.Go(func() { results[i] = s.openInstance(ctx, cat, r, in) })
	}
	wg.Wait()
	out := &Plan{Absent: map[*config.Instance]string{}}
	for i, res := range results {
		out.Diags = append(out.Diags, res.diags...)
		if res.wanted != nil {
			out.Wanted = append(out.Wanted, *res.wanted)
		}
		if res.absence != "" {
			out.Absent[list[i]] = res.absence
		}
	}
	return out
}

// openInstance starts the plugin of an instance and has it check its configuration. What the file itself has wrong is an
// error even for an instance that is not required.
func (s *Settings) openInstance(ctx context.Context, cat *catalog.Catalog, r *Resolver, in *config.Instance) openResult {
	spec, err := r.processSpec(in)
	if err != nil {
		return openResult{diags: config.ErrorAt(in.Range, "Unknown plugin", err.Error())}
	}
	cand, err := cat.Open(ctx, in.Kind, spec)
	if err != nil {
		return leftOut(in, startFailure(in, err))
	}
	sch, err := cand.Schema()
	if err != nil {
		cand.Close()
		return leftOut(in, config.ErrorAt(in.Range, "Unusable plugin",
			fmt.Sprintf("plugin %q describes its configuration wrongly: %v", in.Plugin, err)))
	}
	raw, diags := s.File.DecodeInstance(in, sch)
	if r.LearnSecrets != nil {
		r.LearnSecrets(in.Secrets()...)
	}
	if diags.HasErrors() {
		cand.Close()
		return openResult{diags: diags}
	}
	w := &catalog.Wanted{Candidate: cand, Optional: !in.Required, Desired: catalog.Desired{
		Kind: in.Kind, Plugin: in.Plugin, Name: in.Name, Spec: spec, Timeout: in.Timeout, Concurrency: in.Concurrency, JSON: raw,
	}}
	if cand.Has(framework.CapDataDir) {
		w.DataDir = filepath.Join(s.DataDir, "instances", in.Ref())
	}
	found := s.validateInstance(ctx, cat, in, w)
	if found.HasErrors() {
		cand.Close()
		return leftOut(in, append(diags, found...))
	}
	return openResult{wanted: w, diags: append(diags, found...)}
}

// leftOut is the result of an instance that cannot be opened.
func leftOut(in *config.Instance, found config.Diagnostics) openResult {
	diags, absence := LeaveOut(in, found)
	return openResult{diags: diags, absence: absence}
}

// validateInstance has the plugin check the configuration of an instance. A plugin that is down cannot, which is no finding
// about an instance that stays as it is.
func (s *Settings) validateInstance(ctx context.Context, cat *catalog.Catalog, in *config.Instance, w *catalog.Wanted) config.Diagnostics {
	found, err := cat.Validate(ctx, w.Candidate, w.Desired, s.File.Dir)
	switch {
	case err == nil:
		return s.File.Locate(in, found)
	case cat.Unchanged(w.Desired):
		return nil
	}
	return config.ErrorAt(in.Range, "Plugin failed", fmt.Sprintf("plugin %q could not check its configuration: %v", in.Plugin, err))
}

// startFailure reports why a plugin does not start.
func startFailure(in *config.Instance, err error) config.Diagnostics {
	detail := host.Reason(err)
	if errors.Is(err, host.ErrChecksum) {
		detail += "; if the change was yours, run \"patchbay plugin lock\""
	}
	return config.ErrorAt(in.Range, "Plugin does not start", detail)
}

// Instance returns the block of an instance, or nil.
func (s *Settings) Instance(ref string) *config.Instance {
	for _, in := range s.File.Instances {
		if in.Ref() == ref {
			return in
		}
	}
	return nil
}

// LocateFailure returns what a plugin has refused, with the lines in plugin.hcl. An error of another sort is returned as it
// is.
func (s *Settings) LocateFailure(err error) (config.Diagnostics, error) {
	var rejected *catalog.Rejection
	if errors.As(err, &rejected) {
		if in := s.Instance(rejected.Ref); in != nil {
			return s.File.Locate(in, rejected.Diagnostics), nil
		}
	}
	return nil, err
}

// LeaveOut makes warnings of the errors about an instance that the core can do without, and returns the reason why the
// instance is absent. Those about an instance that is required stay errors, and the reason is empty.
func LeaveOut(in *config.Instance, found config.Diagnostics) (diags config.Diagnostics, absence string) {
	if in.Required {
		return found, ""
	}
	absence = found.Error()
	found = slices.Clone(found)
	for i, d := range found {
		if d.Severity == config.Error {
			found[i].Severity = config.Warning
			found[i].Detail = strings.TrimPrefix(d.Detail+"; ", "; ") +
				"the instance is not required: it is left out, and tried again while the core runs"
		}
	}
	return found, absence
}
