package containers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Check queues a check for new versions.
func (s *Service) Check(ctx context.Context, req ScanRequest) (string, error) {
	sub, err := s.checkSubmission(ctx, req)
	if err != nil {
		return "", err
	}
	return s.submitNew(ctx, sub)
}

func (s *Service) checkSubmission(ctx context.Context, req ScanRequest) (submission, error) {
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return submission{}, err
	}
	if err := req.checkScope(inv); err != nil {
		return submission{}, err
	}
	return req.newSubmission(JobCheck), nil
}

// CheckSummary is the summary of a check.
type CheckSummary struct {
	HostPlatform          string          `json:"hostPlatform" example:"linux/amd64"`
	Scope                 string          `json:"scope"`
	StackIDs              []string        `json:"stackIds"`
	ServicesChecked       int             `json:"servicesChecked"`
	ServicesFailed        int             `json:"servicesFailed"`
	ServicesWithCandidate int             `json:"servicesWithCandidate"`
	NewVersions           NewVersions     `json:"newVersions"`
	Delivery              *deliverySource `json:"delivery,omitempty"`
}

// NewVersions are the services with a new version that no rule holds back.
type NewVersions struct {
	Count    int          `json:"count"`
	Services []NewVersion `json:"services"`
}

// NewVersion is one of them.
type NewVersion struct {
	StackID             string `json:"stackId"`
	StackName           string `json:"stackName"`
	ServiceID           string `json:"serviceId"`
	ServiceName         string `json:"serviceName"`
	ImageRef            string `json:"imageRef"`
	CurrentTag          string `json:"currentTag"`
	CurrentDigest       string `json:"currentDigest"`
	CurrentDisplayTag   string `json:"currentDisplayTag"`
	CandidateTag        string `json:"candidateTag"`
	CandidateDisplayTag string `json:"candidateDisplayTag"`
	CandidateDigest     string `json:"candidateDigest"`
}

// checking is one run of a check.
type checking struct {
	s        *Service
	r        *report
	platform Platform
	runtime  map[string]runtimeState
	total    int
	failed   atomic.Int64

	// known are the digests about which a reference's answer needs no details.
	known map[string]map[string][]platformEntry

	mu       sync.Mutex
	findings []finding
	// wanted ask for the versions behind digests, once the findings are stored.
	wanted   []func()
	reported time.Time
	// asked are the references that were asked for, so that services with the same image cost one request.
	asked map[string]*answer
}

type answer struct {
	once sync.Once
	res  *registry.Resolved
	err  error
}

// runCheck asks the registries about the services of a job, several at once.
func (s *Service) runCheck(ctx context.Context, _ *queue.Job, spec jobSpec, r *report) (any, error) {
	r.updateProgress(ctx, func(p *ProgressState) { p.Phase, p.Message = "prepare", "reading what runs" })
	platform, err := s.hostPlatform(ctx)
	if err != nil {
		return nil, err
	}
	c := &checking{s: s, r: r, platform: platform, asked: map[string]*answer{}}
	if err := c.readRuntime(ctx, &spec); err != nil {
		return nil, err
	}
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return nil, err
	}
	var services []*serviceRecord
	for _, svc := range inv.services {
		if spec.selectsService(svc) && !inv.isArchived(svc) {
			services = append(services, svc)
		}
	}
	slices.SortFunc(services, func(a, b *serviceRecord) int { return compareText(a.ID, b.ID) })
	c.total = len(services)
	if err := c.readKnown(ctx, services); err != nil {
		return nil, err
	}
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(int(s.settings().Parallel))
	for _, svc := range services {
		g.Go(func() error { return c.checkService(run, inv.stacks[svc.StackID], svc) })
	}
	err = g.Wait()
	// What was found before a cancellation is kept.
	if werr := s.repo.writeFindings(context.WithoutCancel(ctx), c.findings, s.now()); werr != nil {
		return nil, errors.Join(err, fmt.Errorf("write what the check found: %w", werr))
	}
	// What is inferred is written to candidates, so these are stored before it begins.
	for _, want := range c.wanted {
		want()
	}
	if err != nil {
		return nil, err
	}
	return c.summarizeCheck(ctx, &spec, services)
}

// readRuntime reads what runs now, so that candidates are compared with it.
func (c *checking) readRuntime(ctx context.Context, spec *jobSpec) error {
	o, _, err := c.s.observeEngine(ctx, "")
	if err != nil {
		return err
	}
	if _, err := c.s.scanRuntime(ctx, o, spec.selectsService); err != nil {
		return err
	}
	c.runtime = map[string]runtimeState{}
	stacks, err := c.s.repo.listStacks(ctx)
	if err != nil {
		return fmt.Errorf("read the stacks: %w", err)
	}
	services, err := c.s.repo.listServices(ctx)
	if err != nil {
		return fmt.Errorf("read the services: %w", err)
	}
	projects := map[string]string{}
	for _, st := range stacks {
		projects[st.ID] = st.Project
	}
	for i := range services {
		c.runtime[services[i].ID] = o.stateOf(projects[services[i].StackID], &services[i])
	}
	return nil
}

// checkService checks a service and notes what was found. Only what ends the whole check is an error.
func (c *checking) checkService(ctx context.Context, st *stackRecord, svc *serviceRecord) error {
	name := st.Project + " / " + svc.Name
	columns, err := c.findCandidate(ctx, svc)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		c.failed.Add(1)
		c.r.warn(ctx, "%s: the check failed: %s", name, failureReason(err))
		columns = map[string]any{"check_error": failureReason(err), "check_reason": failureCode(err)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findings = append(c.findings, finding{svc, columns})
	done := len(c.findings)
	// An event for each service would cost more than the check.
	if now := c.s.cfg.Now(); now.Sub(c.reported) >= progressPause {
		c.reported = now
		c.r.updateProgress(ctx, func(p *ProgressState) {
			p.Phase, p.Message, p.CurrentTarget = "scan", "checked "+name, name
			p.Current, p.Total, p.Percent = done, c.total, done*99/max(1, c.total)
		})
	}
	return nil
}

// wantVersions notes that the versions behind some digests are to be inferred.
func (c *checking) wantVersions(ref image.Ref, digests ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, digest := range digests {
		c.wanted = append(c.wanted, func() { c.s.inference.queueTask(ref, digest, c.platform, "new_version") })
	}
}

// asksRegistry reports whether the registry is asked about a service: not where the files name no tag, and not about an image that was
// built or loaded on the host, which no registry has.
func (c *checking) asksRegistry(svc *serviceRecord) bool {
	now := c.runtime[svc.ID]
	switch {
	case svc.imageRef().Tag == "", now.problem == runtimeLocal:
		return false
	case svc.Built:
		return now.digest != "" && !now.built
	}
	return true
}

// findCandidate compares what runs with what the registry has under the service's tag, and gives the columns that change.
func (c *checking) findCandidate(ctx context.Context, svc *serviceRecord) (map[string]any, error) {
	columns := map[string]any{"check_error": "", "check_reason": ""}
	ref := svc.imageRef().Unpinned()
	if !c.asksRegistry(svc) {
		maps.Copy(columns, noCandidate())
		columns["newer_tags"], columns["tag_digest"] = toJSON([]string(nil)), ""
		return columns, nil
	}
	res, err := c.resolveOnce(ctx, ref)
	if err != nil {
		return nil, err
	}
	columns["tag_digest"] = res.Digest
	if newer, err := c.s.newerTags(ctx, ref); err == nil {
		columns["newer_tags"] = toJSON(newer)
	} else {
		c.r.info(ctx, "%s: the tags were not listed: %s", svc.Name, failureReason(err))
	}
	have := c.runtime[svc.ID].digests
	switch {
	case len(have) == 0:
		// Without knowing what runs nothing is a candidate, and the one from before stays.
		return columns, nil
	case slices.Contains(have, res.Digest) || res.PlatformDigest != "" && slices.Contains(have, res.PlatformDigest):
		maps.Copy(columns, noCandidate())
		return columns, nil
	}
	match, arch := matchArch(res.Platforms, c.platform)
	columns["candidate_digest"], columns["candidate_tag"] = res.Digest, ref.Tag
	columns["candidate_match"], columns["candidate_arch"] = match, toJSON(arch)
	if res.Digest != svc.CandidateDigest {
		columns["candidate_since"], columns["candidate_version"] = c.s.now(), ""
		if !version.Strict(ref.Tag) {
			c.wantVersions(ref, svc.RuntimeDigest, res.Digest)
		}
	}
	return columns, nil
}

// resolveOnce returns what a reference resolves to. The registry is asked once for each reference.
func (c *checking) resolveOnce(ctx context.Context, ref image.Ref) (*registry.Resolved, error) {
	c.mu.Lock()
	a := c.asked[ref.String()]
	if a == nil {
		a = &answer{}
		c.asked[ref.String()] = a
	}
	c.mu.Unlock()
	a.once.Do(func() {
		a.res, a.err = c.s.registry.resolveRef(ctx, ref, c.platform, c.known[ref.String()])
	})
	return a.res, a.err
}

func (c *checking) summarizeCheck(ctx context.Context, spec *jobSpec, services []*serviceRecord) (CheckSummary, error) {
	out := CheckSummary{
		HostPlatform: c.platform.String(), Scope: spec.Scope, StackIDs: []string{}, ServicesChecked: len(services), ServicesFailed: int(c.failed.Load()),
		NewVersions: NewVersions{Services: []NewVersion{}}, Delivery: spec.Delivery,
	}
	inv, err := c.s.loadInventory(ctx)
	if err != nil {
		return out, err
	}
	for _, old := range services {
		if !slices.Contains(out.StackIDs, old.StackID) {
			out.StackIDs = append(out.StackIDs, old.StackID)
		}
		svc := inv.services[old.ID]
		if svc == nil || svc.CandidateDigest == "" {
			continue
		}
		out.ServicesWithCandidate++
		if inv.ignoringRule(svc) != nil {
			continue
		}
		out.NewVersions.Services = append(out.NewVersions.Services, NewVersion{
			StackID: svc.StackID, StackName: inv.stacks[svc.StackID].Project, ServiceID: svc.ID, ServiceName: svc.Name, ImageRef: svc.imageRef().String(),
			CurrentTag: svc.Tag, CurrentDigest: svc.RuntimeDigest, CurrentDisplayTag: orElse(svc.RuntimeVersion, svc.Tag),
			CandidateTag: svc.CandidateTag, CandidateDisplayTag: orElse(svc.CandidateVersion, svc.CandidateTag), CandidateDigest: svc.CandidateDigest,
		})
	}
	out.NewVersions.Count = len(out.NewVersions.Services)
	if c.failed.Load() > 0 && int(c.failed.Load()) == len(services) {
		return out, fmt.Errorf("no service could be checked: see the log of the job")
	}
	return out, c.s.repo.touchStacks(ctx, out.StackIDs, c.s.now())
}
