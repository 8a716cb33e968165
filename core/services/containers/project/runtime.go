package project

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// RuntimeSummary is the summary of a runtime scan.
type RuntimeSummary struct {
	Scope             string `json:"scope"`
	ServicesScanned   int    `json:"servicesScanned"`
	ServicesChanged   int    `json:"servicesChanged"`
	CandidatesCleared int    `json:"candidatesCleared" doc:"Services that run by now what was a candidate."`
	DurationMS        int64  `json:"durationMs"`
}

// ScanRuntime reads what runs and writes what has changed. only, if not nil, selects services.
func (p *Projects) ScanRuntime(ctx context.Context, o *Observed, only func(*record.Service) bool) (RuntimeSummary, error) {
	return p.takeRuntimes(ctx, o, nil, only)
}

// takeRuntimes is ScanRuntime with services that were read a moment ago, or nil. One for which there may be news is read again.
func (p *Projects) takeRuntimes(ctx context.Context, o *Observed, services []record.Service,
	only func(*record.Service) bool) (RuntimeSummary, error) {
	var sum RuntimeSummary
	stacks, err := p.store.ListStacks(ctx)
	if err != nil {
		return sum, fmt.Errorf("read the stacks: %w", err)
	}
	projects := map[string]string{}
	for _, st := range stacks {
		projects[st.ID] = st.Project
	}
	earlier := services != nil
	if !earlier {
		if services, err = p.store.ListServices(ctx); err != nil {
			return sum, fmt.Errorf("read the services: %w", err)
		}
	}
	for i := range services {
		svc := &services[i]
		if only != nil && !only(svc) {
			continue
		}
		sum.ServicesScanned++
		now := o.StateOf(projects[svc.StackID], svc)
		if earlier {
			if !DiffersFrom(svc, now) {
				continue
			}
			fresh, err := p.store.FindService(ctx, svc.ID)
			if err != nil {
				return sum, fmt.Errorf("read a service: %w", err)
			}
			svc, now = &fresh, o.StateOf(projects[fresh.StackID], &fresh)
		}
		changed, cleared, err := p.takeRuntime(ctx, svc, o, now, o.byService[[2]string{projects[svc.StackID], svc.Name}])
		if err != nil {
			return sum, err
		}
		sum.ServicesChanged += record.BoolToInt(changed)
		sum.CandidatesCleared += record.BoolToInt(cleared)
	}
	return sum, nil
}

// DiffersFrom reports whether the runtime state differs from the stored one.
func DiffersFrom(svc *record.Service, now RuntimeState) bool {
	return svc.CandidateDigest != "" || now.State == record.StateStopped && now.ID != "" && svc.Ended == "" || svc.State != now.State ||
		svc.RuntimeDigest != now.Digest || svc.RuntimeImage != now.ID || svc.RuntimeError != now.Problem ||
		svc.RuntimeVersion != cmp.Or(keptVersion(svc, now), now.version)
}

// takeRuntime writes what a service runs, if that is news, and drops a candidate that runs by now.
func (p *Projects) takeRuntime(ctx context.Context, svc *record.Service, o *Observed, now RuntimeState,
	list []engine.Container) (changed, cleared bool, err error) {
	columns := map[string]any{}
	// While a change is under way its new image runs before it has proved healthy: the candidate stays until it has.
	if cleared = o.isSettled(svc) && svc.CandidateDigest != "" && p.RunsDigest(ctx, now.Digests, svc.CandidateDigest); cleared {
		if err := p.store.dropCandidate(ctx, svc); err != nil {
			return false, false, fmt.Errorf("drop the candidate of %s: %w", svc.Name, err)
		}
		if now.Digest != svc.CandidateDigest && slices.Contains(now.Digests, svc.CandidateDigest) {
			now.Digest = svc.CandidateDigest
		}
	}
	for name, v := range map[string][2]string{
		"state": {string(svc.State), string(now.State)}, "runtime_digest": {svc.RuntimeDigest, now.Digest},
		"runtime_image": {svc.RuntimeImage, now.ID},
		"runtime_error": {svc.RuntimeError, now.Problem}, "runtime_version": {svc.RuntimeVersion, cmp.Or(keptVersion(svc, now), now.version)},
	} {
		if v[0] != v[1] {
			columns[name] = v[1]
		}
	}
	p.noteEnd(ctx, svc, list, now, columns)
	if len(columns) == 0 {
		return cleared, cleared, nil
	}
	if err := p.store.UpdateService(ctx, svc.ID, columns, p.now()); err != nil {
		return false, false, fmt.Errorf("write what %s runs: %w", svc.Name, err)
	}
	return true, cleared, nil
}

// keptVersion is the version of a digest that still runs: what the tags say goes before what the image says of itself.
func keptVersion(svc *record.Service, now RuntimeState) string {
	if now.Digest != "" && now.Digest == svc.RuntimeDigest {
		return svc.RuntimeVersion
	}
	return ""
}

// RunsDigest reports whether one of the digests is the wanted one, or that of its manifest for the host's platform.
func (p *Projects) RunsDigest(ctx context.Context, have []string, want string) bool {
	if slices.Contains(have, want) {
		return true
	}
	known, err := p.store.FindManifests(ctx, []string{want})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(known[want], func(p record.ManifestPlatform) bool { return p.Digest != "" && slices.Contains(have, p.Digest) })
}

// RefreshServices reads anew what some services run. It is for the end of jobs: what goes wrong is logged, the next scan
// makes it good.
func (p *Projects) RefreshServices(ctx context.Context, ids []string) {
	o, _, err := p.ObserveEngine(ctx, "")
	if err == nil {
		_, err = p.ScanRuntime(ctx, o, func(svc *record.Service) bool { return slices.Contains(ids, svc.ID) })
	}
	if err != nil {
		p.cfg.Logger.Warn("cannot list containers after a job", "error", err)
	}
}

// RunningImage is the image that a service runs at this moment.
type RunningImage struct {
	ID, Digest string
	State      record.LifecycleState
	// Replicas is the number of its containers, or what the files say if there is none.
	Replicas int
}

// RunningImage returns the image that a service runs at this moment, as the engine tells.
func (p *Projects) RunningImage(ctx context.Context, st *record.Stack, svc *record.Service) (RunningImage, error) {
	o, _, err := p.ObserveEngine(ctx, st.Project)
	if err != nil {
		return RunningImage{}, err
	}
	now := o.StateOf(st.Project, svc)
	out := RunningImage{ID: now.ID, Digest: now.Digest, State: now.State, Replicas: len(o.byService[[2]string{st.Project, svc.Name}])}
	if out.Replicas == 0 {
		out.Replicas = p.cfg.Host.ReplicasInFiles(ctx, st, svc.Name)
	}
	return out, nil
}

// ScanRequest selects what a check or a runtime scan looks at.
type ScanRequest struct {
	Scope     string
	StackID   string
	ServiceID string
	Reason    string
}

// Subject returns what the job is about that looks at what is asked for.
func (r *ScanRequest) Subject() work.Subject {
	return work.Subject{Scope: r.Scope, StackID: r.StackID, ServiceID: r.ServiceID, Reason: r.Reason}
}

// RuntimeScanJob is the payload of JobRuntimeScan.
type RuntimeScanJob struct{ work.Subject }

// CheckScope returns an error if the stack or service that the scope of a request names does not exist, and completes the request.
func (p *Projects) CheckScope(ctx context.Context, req *ScanRequest) error {
	req.Reason = cmp.Or(req.Reason, work.ReasonUI)
	if req.Scope == work.ScopeAll {
		req.StackID, req.ServiceID = "", ""
		return nil
	}
	inv, err := p.LoadInventory(ctx)
	if err != nil {
		return err
	}
	switch req.Scope {
	case work.ScopeStack:
		if inv.Stacks[req.StackID] == nil {
			return record.InvalidField("stackId", record.NoStack)
		}
		req.ServiceID = ""
		return nil
	case work.ScopeService:
		svc := inv.Services[req.ServiceID]
		if svc == nil {
			return record.InvalidField("serviceId", record.NoService)
		}
		req.StackID = svc.StackID
		return nil
	}
	return record.InvalidField("scope", "The scope must be all, stack or service.")
}

// dedupKey returns a key that is the same for requests for the same work.
func (r *ScanRequest) dedupKey() string { return r.Scope + "/" + cmp.Or(r.ServiceID, r.StackID) }

// NewSubmission returns the submission of a job that looks at what is asked for. The payload is left to the caller.
func (r *ScanRequest) NewSubmission(kind string) work.Submission {
	sub := work.Submission{Kind: kind, Key: r.dedupKey()}
	if r.StackID != "" {
		sub.Stacks = []string{r.StackID}
	}
	if r.ServiceID != "" {
		sub.Services = []string{r.ServiceID}
	}
	return sub
}

// RuntimeScan queues a scan of what runs.
func (p *Projects) RuntimeScan(ctx context.Context, req ScanRequest) (string, error) {
	if err := p.CheckScope(ctx, &req); err != nil {
		return "", err
	}
	sub := req.NewSubmission(work.JobRuntimeScan)
	sub.Payload = RuntimeScanJob{req.Subject()}
	return p.cfg.Jobs.SubmitNew(ctx, sub)
}

// RunRuntimeScan runs a job of the type work.JobRuntimeScan.
func (p *Projects) RunRuntimeScan(ctx context.Context, _ *queue.Job, spec RuntimeScanJob, r *work.Reporter) (any, error) {
	began := p.cfg.Now()
	r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Phase, p.Message = "scan", "reading what runs" })
	o, _, err := p.ObserveEngine(ctx, "")
	if err != nil {
		return nil, err
	}
	sum, err := p.ScanRuntime(ctx, o, spec.SelectsService)
	if err != nil {
		return nil, err
	}
	sum.Scope, sum.DurationMS = spec.Scope, p.cfg.Now().Sub(began).Milliseconds()
	r.Progress.Emit(ctx, "runtime_scan_finished", sum)
	return sum, nil
}
