package candidate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// prepareServices reads what there is to check and what of it runs, and stores the latter where it is news. Meanwhile the
// registries are asked
// already: what goes on in the background ends with the context meanwhile.
func (c *checkRun) prepareServices(ctx, meanwhile context.Context, spec *CheckJob) (*project.Inventory, []*record.Service, error) {
	var o *project.Observed
	var failed error
	seen := make(chan struct{})
	c.background.Go(func() {
		defer close(seen)
		o, _, failed = c.s.cfg.Projects.ObserveEngine(meanwhile, "")
	})
	inv, err := c.s.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, nil, err
	}
	services, manifests, err := c.selectServices(ctx, spec, inv)
	if err != nil {
		return nil, nil, err
	}
	c.prefetchDigests(meanwhile, services, manifests)
	if <-seen; failed != nil {
		return nil, nil, failed
	}
	if c.noteRuntime(o, spec, inv) {
		if _, err := c.s.cfg.Projects.ScanRuntime(ctx, o, spec.SelectsService); err != nil {
			return nil, nil, err
		}
		if inv, err = c.s.cfg.Projects.LoadInventory(ctx); err != nil {
			return nil, nil, err
		}
		if services, manifests, err = c.selectServices(ctx, spec, inv); err != nil {
			return nil, nil, err
		}
		c.noteRuntime(o, spec, inv)
	}
	c.setKnown(knownDigests(c.askedServices(services), c.runtime, manifests), true)
	return inv, services, nil
}

// selectServices returns the services of the inventory that a check is about, in the order of their ids, with the known platforms of the
// digests that are stored of them.
func (c *checkRun) selectServices(ctx context.Context, spec *CheckJob,
	inv *project.Inventory) ([]*record.Service, map[string][]record.ManifestPlatform, error) {
	var services []*record.Service
	var digests []string
	c.refs = map[string]image.Ref{}
	for _, svc := range inv.Services {
		if spec.SelectsService(svc) && !inv.IsArchived(svc) {
			services = append(services, svc)
			digests = append(digests, svc.RuntimeDigest, svc.CandidateDigest, svc.TagDigest)
			c.refs[svc.ID] = svc.ImageRef()
		}
	}
	slices.SortFunc(services, func(a, b *record.Service) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(digests)
	manifests, err := c.s.store.FindManifests(ctx, slices.Compact(digests))
	if err != nil {
		return nil, nil, fmt.Errorf("read known manifests: %w", err)
	}
	return services, manifests, nil
}

// noteRuntime notes what the services of a check run, and reports whether that differs from what is stored of them.
func (c *checkRun) noteRuntime(o *project.Observed, spec *CheckJob, inv *project.Inventory) (news bool) {
	c.runtime = map[string]project.RuntimeState{}
	for id, svc := range inv.Services {
		if !spec.SelectsService(svc) {
			continue
		}
		projectName := ""
		if st := inv.Stacks[svc.StackID]; st != nil {
			projectName = st.Project
		}
		now := o.StateOf(projectName, svc)
		c.runtime[id] = now
		news = news || project.DiffersFrom(svc, now)
	}
	return news
}

// needsRegistryLookup reports whether the registry is asked about a service: not where the files name no tag, and not about
// an image that was
// built or loaded on the host, which no registry has.
func (c *checkRun) needsRegistryLookup(svc *record.Service) bool {
	now := c.runtime[svc.ID]
	switch {
	case c.refs[svc.ID].Tag == "", now.Problem == project.RuntimeLocal:
		return false
	case svc.Built:
		return now.Digest != "" && !now.Built
	}
	return true
}

// askedServices returns the services that the registries are asked about, by reference.
func (c *checkRun) askedServices(services []*record.Service) map[string][]*record.Service {
	out := map[string][]*record.Service{}
	for _, svc := range services {
		if c.needsRegistryLookup(svc) {
			ref := c.refs[svc.ID].Unpinned().String()
			out[ref] = append(out[ref], svc)
		}
	}
	return out
}

// knownDigests gathers the digests about which no details are needed, by reference: those whose platforms were seen before, and
// what every service of a reference runs.
func knownDigests(byRef map[string][]*record.Service, runtime map[string]project.RuntimeState,
	manifests map[string][]record.ManifestPlatform) map[string]map[string][]record.ManifestPlatform {
	out := make(map[string]map[string][]record.ManifestPlatform, len(byRef))
	for ref, list := range byRef {
		known := map[string][]record.ManifestPlatform{}
		for _, d := range runtime[list[0].ID].Digests {
			if !slices.ContainsFunc(list, func(svc *record.Service) bool { return !slices.Contains(runtime[svc.ID].Digests, d) }) {
				known[d] = nil
			}
		}
		for _, svc := range list {
			for _, d := range []string{svc.RuntimeDigest, svc.CandidateDigest, svc.TagDigest} {
				if entries, ok := manifests[d]; ok {
					known[d] = entries
				}
			}
		}
		out[ref] = known
	}
	return out
}

func (c *checkRun) setKnown(known map[string]map[string][]record.ManifestPlatform, observed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.observed = known, observed
}

func (c *checkRun) isObserved() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.observed
}

// prefetchDigests begins to ask the registries before the engine has said what runs: about the references whose services all
// ran an image of
// the registry when that was seen last, until it is known what runs.
func (c *checkRun) prefetchDigests(ctx context.Context, services []*record.Service, manifests map[string][]record.ManifestPlatform) {
	byRef, unclear, seen := map[string][]*record.Service{}, map[string]bool{}, map[string]project.RuntimeState{}
	var refs []image.Ref
	for _, svc := range services {
		ref := c.refs[svc.ID].Unpinned()
		name := ref.String()
		if len(byRef[name]) == 0 {
			refs = append(refs, ref)
		}
		byRef[name] = append(byRef[name], svc)
		seen[svc.ID] = project.RuntimeState{Digests: []string{svc.RuntimeDigest}}
		unclear[name] = unclear[name] || ref.Tag == "" || svc.Built || svc.RuntimeDigest == ""
	}
	refs = slices.DeleteFunc(refs, func(ref image.Ref) bool { return unclear[ref.String()] })
	c.setKnown(knownDigests(byRef, seen, manifests), false)
	var next atomic.Int64
	for range min(cap(c.turns), len(refs)) {
		c.background.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(refs) && !c.isObserved(); i = next.Add(1) - 1 {
				_, _ = c.resolveOnce(ctx, refs[i])
			}
		})
	}
}

// takeTurn waits until the registries may be asked about one more service, and returns what ends that.
func (c *checkRun) takeTurn(ctx context.Context) (end func(), err error) {
	select {
	case c.turns <- struct{}{}:
		return func() { <-c.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// resolveOnce returns what a reference resolves to. The registry is asked once for each reference, and once more if an answer from
// before it was known what runs has no details and names a digest that needs them.
func (c *checkRun) resolveOnce(ctx context.Context, ref image.Ref) (*registry.Resolved, error) {
	for {
		a, known := c.findAnswer(ref)
		a.once.Do(func() {
			end, err := c.takeTurn(ctx)
			if err != nil {
				a.err = err
				return
			}
			defer end()
			a.res, a.err = c.s.registries.resolveRef(ctx, ref, c.platform, known)
		})
		if !c.dropInsufficient(ref, a) {
			return a.res, a.err
		}
	}
}

// findAnswer returns the answer about a reference, which may be still to come, and the digests that it needs no details for.
func (c *checkRun) findAnswer(ref image.Ref) (*answer, map[string][]record.ManifestPlatform) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := ref.String()
	a := c.asked[name]
	if a == nil {
		a = &answer{ahead: !c.observed}
		c.asked[name] = a
	}
	return a, c.known[name]
}

// dropInsufficient forgets an answer that was asked for ahead and lacks details that are needed by what runs, and reports
// whether it was one.
func (c *checkRun) dropInsufficient(ref image.Ref, a *answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !a.ahead || !c.observed || a.err != nil || a.res.Detailed {
		return false
	}
	name := ref.String()
	if _, ok := c.known[name][a.res.Digest]; ok {
		return false
	}
	if c.asked[name] == a {
		delete(c.asked, name)
	}
	return true
}

// newerTags is the service's newerTags within a turn.
func (c *checkRun) newerTags(ctx context.Context, ref image.Ref) ([]string, error) {
	end, err := c.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return c.s.newerTags(ctx, ref)
}

// newerTags are the tags of the same family that are newer than a service's, for information. Nothing is asked for a tag that
// names no version.
func (c *Candidates) newerTags(ctx context.Context, ref image.Ref) ([]string, error) {
	if !isVersioned(ref.Tag) {
		return nil, nil
	}
	tags, err := c.registries.listTags(ctx, ref, tagsFor)
	if err != nil {
		return nil, err
	}
	return version.Newer(ref.Tag, tags, newerLimit), nil
}
