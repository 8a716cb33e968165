package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// Check queues a check for new versions.
func (c *Candidates) Check(ctx context.Context, req project.ScanRequest) (string, error) {
	if err := c.cfg.Projects.CheckScope(ctx, &req); err != nil {
		return "", err
	}
	return c.cfg.Jobs.SubmitNew(ctx, newCheckSubmission(req, "", nil))
}

// CheckFor queues a check that a program asks for, or returns the one that is under way, and true.
func (c *Candidates) CheckFor(ctx context.Context, actor string, req project.ScanRequest) (queue.Job, bool, error) {
	if err := c.cfg.Projects.CheckScope(ctx, &req); err != nil {
		return queue.Job{}, false, err
	}
	return c.cfg.Jobs.SubmitJob(ctx, newCheckSubmission(req, actor, nil))
}

// CheckPublished queues a check of a service whose image was published, as a webhook says, or returns the one that is under way, and true.
func (c *Candidates) CheckPublished(ctx context.Context, svc *record.Service, from *work.DeliverySource) (queue.Job, bool, error) {
	req := project.ScanRequest{Scope: work.ScopeService, StackID: svc.StackID, ServiceID: svc.ID, Reason: work.ReasonWebhook}
	return c.cfg.Jobs.SubmitJob(ctx, newCheckSubmission(req, work.ActorCodeHost, from))
}

func newCheckSubmission(req project.ScanRequest, actor string, from *work.DeliverySource) work.Submission {
	sub := req.NewSubmission(work.JobCheck)
	sub.Payload, sub.Actor = CheckJob{req.Subject(), from}, actor
	return sub
}

// CheckSummary is the summary of a check.
type CheckSummary struct {
	HostPlatform          string               `json:"hostPlatform" example:"linux/amd64"`
	Scope                 string               `json:"scope"`
	StackIDs              []string             `json:"stackIds"`
	ServicesChecked       int                  `json:"servicesChecked"`
	ServicesFailed        int                  `json:"servicesFailed"`
	ServicesWithCandidate int                  `json:"servicesWithCandidate"`
	ServicesUnknown       int                  `json:"servicesUnknown" doc:"Services of which it is still not known whether they are up to date."`
	NewVersions           NewVersions          `json:"newVersions"`
	Delivery              *work.DeliverySource `json:"delivery,omitempty"`
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

// RunCheck asks the registries about the services of a job, several at once, and meanwhile the engine what runs.
func (c *Candidates) RunCheck(ctx context.Context, _ *queue.Job, spec CheckJob, r *work.Reporter) (any, error) {
	r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Phase, p.Message = "prepare", "reading what runs" })
	platform, err := c.hostPlatform(ctx)
	if err != nil {
		return nil, err
	}
	parallel := int(c.cfg.Settings().Parallel)
	check := &checkRun{s: c, r: r, platform: platform, turns: make(chan struct{}, parallel), asked: map[string]*answer{}}
	meanwhile, cancel := context.WithCancel(ctx)
	defer check.background.Wait()
	defer cancel()
	inv, services, err := check.prepareServices(ctx, meanwhile, &spec)
	if err != nil {
		return nil, err
	}
	check.total = len(services)
	g, run := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(parallel, len(services)) {
		g.Go(func() error {
			for i := next.Add(1) - 1; int(i) < len(services); i = next.Add(1) - 1 {
				if err := check.checkService(run, inv.Stacks[services[i].StackID], services[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	// What was found before a cancellation is kept.
	news, werr := c.store.writeFindings(context.WithoutCancel(ctx), check.findings, c.nowMillis())
	if werr != nil {
		return nil, errors.Join(err, fmt.Errorf("write what the check found: %w", werr))
	}
	// What is inferred is written to candidates, so these are stored before it begins.
	for _, want := range check.wanted {
		want()
	}
	if err != nil {
		return nil, err
	}
	if news {
		if inv, err = c.cfg.Projects.LoadInventory(ctx); err != nil {
			return nil, err
		}
	}
	return check.summarizeCheck(ctx, &spec, inv, services)
}

// checkService checks a service and notes what was found. Only what ends the whole check is an error.
func (c *checkRun) checkService(ctx context.Context, st *record.Stack, svc *record.Service) error {
	name := st.Project + " / " + svc.Name
	columns, err := c.findCandidate(ctx, svc)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		c.failed.Add(1)
		c.r.LogWarning(ctx, "%s: the check failed: %s", name, failure.Text(err))
		columns = map[string]any{"check_error": failure.Text(err), "check_reason": failure.Code(err)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findings = append(c.findings, checkResult{svc, columns})
	done := len(c.findings)
	// An event for each service would cost more than the check.
	if now := c.s.cfg.Now(); now.Sub(c.reported) >= work.ProgressPause {
		c.reported = now
		c.r.UpdateProgress(ctx, func(p *work.ProgressState) {
			p.Phase, p.Message, p.CurrentTarget = "scan", "checked "+name, name
			p.Current, p.Total, p.Percent = done, c.total, done*99/max(1, c.total)
		})
	}
	return nil
}

// wantVersions notes that the versions behind some digests are to be inferred.
func (c *checkRun) wantVersions(ref image.Ref, digests ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, digest := range digests {
		c.wanted = append(c.wanted, func() { c.s.FindVersion(ref, digest, c.platform, "new_version") })
	}
}

// findCandidate compares what runs with what the registry has under the service's tag, and gives the columns that change.
func (c *checkRun) findCandidate(ctx context.Context, svc *record.Service) (map[string]any, error) {
	columns := map[string]any{"check_error": "", "check_reason": ""}
	ref := c.refs[svc.ID].Unpinned()
	if !c.needsRegistryLookup(svc) {
		maps.Copy(columns, record.NoCandidate())
		columns["newer_tags"], columns["tag_digest"] = record.EncodeColumn([]string(nil)), ""
		return columns, nil
	}
	res, err := c.resolveOnce(ctx, ref)
	if err != nil {
		return nil, err
	}
	columns["tag_digest"] = res.Digest
	if newer, err := c.newerTags(ctx, ref); err == nil {
		columns["newer_tags"] = record.EncodeColumn(newer)
	} else {
		c.r.LogInfo(ctx, "%s: the tags were not listed: %s", svc.Name, failure.Text(err))
	}
	have := c.runtime[svc.ID].Digests
	switch {
	case len(have) == 0:
		// Without knowing what runs nothing is a candidate, and the one from before stays.
		return columns, nil
	case slices.Contains(have, res.Digest) || res.PlatformDigest != "" && slices.Contains(have, res.PlatformDigest):
		maps.Copy(columns, record.NoCandidate())
		return columns, nil
	}
	if res.Digest != svc.CandidateDigest && c.isSameForHost(ctx, ref, have, res.PlatformDigest) {
		// Another architecture was built anew.
		maps.Copy(columns, record.NoCandidate())
		return columns, nil
	}
	match, arch := matchArch(res.Platforms, c.platform)
	columns["candidate_digest"], columns["candidate_tag"] = res.Digest, ref.Tag
	columns["candidate_match"], columns["candidate_arch"] = match, record.EncodeColumn(arch)
	if res.Digest != svc.CandidateDigest {
		columns["candidate_since"], columns["candidate_version"] = c.s.nowMillis(), ""
		if !version.Strict(ref.Tag) {
			c.wantVersions(ref, svc.RuntimeDigest, res.Digest)
		}
	}
	return columns, nil
}

// summarizeCheck sums up what the inventory has of the services after the check.
func (c *checkRun) summarizeCheck(ctx context.Context, spec *CheckJob, inv *project.Inventory,
	services []*record.Service) (CheckSummary, error) {
	out := CheckSummary{
		HostPlatform: c.platform.String(), Scope: spec.Scope, StackIDs: []string{}, ServicesChecked: len(services),
		ServicesFailed: int(c.failed.Load()),
		NewVersions:    NewVersions{Services: []NewVersion{}}, Delivery: spec.Delivery,
	}
	for _, old := range services {
		if !slices.Contains(out.StackIDs, old.StackID) {
			out.StackIDs = append(out.StackIDs, old.StackID)
		}
		svc := inv.Services[old.ID]
		if svc != nil && inv.StatusOf(svc) == project.StatusUnknown {
			out.ServicesUnknown++
		}
		if svc == nil || svc.CandidateDigest == "" {
			continue
		}
		out.ServicesWithCandidate++
		if inv.IgnoringRule(svc) != nil {
			continue
		}
		out.NewVersions.Services = append(out.NewVersions.Services, NewVersion{
			StackID: svc.StackID, StackName: inv.Stacks[svc.StackID].Project, ServiceID: svc.ID, ServiceName: svc.Name,
			ImageRef:   svc.ImageRef().String(),
			CurrentTag: svc.Tag, CurrentDigest: svc.RuntimeDigest, CurrentDisplayTag: cmp.Or(svc.RuntimeVersion, svc.Tag),
			CandidateTag: svc.CandidateTag, CandidateDisplayTag: cmp.Or(svc.CandidateVersion, svc.CandidateTag),
			CandidateDigest: svc.CandidateDigest,
		})
	}
	out.NewVersions.Count = len(out.NewVersions.Services)
	if c.failed.Load() > 0 && int(c.failed.Load()) == len(services) {
		return out, fmt.Errorf("no service could be checked: see the log of the job")
	}
	return out, c.s.store.touchStacks(ctx, out.StackIDs, c.s.nowMillis())
}
