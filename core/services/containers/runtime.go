package containers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Why it is not known what a service runs.
const (
	runtimeNone      = "not_running"
	runtimeLocal     = "local_image"
	runtimeAmbiguous = "ambiguous"
)

// labelVersion is the label in which an image names its version.
const labelVersion = "org.opencontainers.image.version"

// RuntimeSummary is the summary of a runtime scan.
type RuntimeSummary struct {
	Scope             string `json:"scope"`
	ServicesScanned   int    `json:"servicesScanned"`
	ServicesChanged   int    `json:"servicesChanged"`
	CandidatesCleared int    `json:"candidatesCleared" doc:"Services that run by now what was a candidate."`
	DurationMS        int64  `json:"durationMs"`
}

// scanRuntime reads what runs and writes what has changed. only, if not nil, selects services.
func (s *Service) scanRuntime(ctx context.Context, o *observed, only func(*record.Service) bool) (RuntimeSummary, error) {
	return s.takeRuntimes(ctx, o, nil, only)
}

// takeRuntimes is scanRuntime with services that were read a moment ago, or nil. One for which there may be news is read again.
func (s *Service) takeRuntimes(ctx context.Context, o *observed, services []record.Service, only func(*record.Service) bool) (RuntimeSummary, error) {
	var sum RuntimeSummary
	stacks, err := s.repo.ListStacks(ctx)
	if err != nil {
		return sum, fmt.Errorf("read the stacks: %w", err)
	}
	projects := map[string]string{}
	for _, st := range stacks {
		projects[st.ID] = st.Project
	}
	earlier := services != nil
	if !earlier {
		if services, err = s.repo.ListServices(ctx); err != nil {
			return sum, fmt.Errorf("read the services: %w", err)
		}
	}
	for i := range services {
		svc := &services[i]
		if only != nil && !only(svc) {
			continue
		}
		sum.ServicesScanned++
		now := o.stateOf(projects[svc.StackID], svc)
		if earlier {
			if !differsFrom(svc, now) {
				continue
			}
			fresh, err := s.repo.FindService(ctx, svc.ID)
			if err != nil {
				return sum, fmt.Errorf("read a service: %w", err)
			}
			svc, now = &fresh, o.stateOf(projects[fresh.StackID], &fresh)
		}
		changed, cleared, err := s.takeRuntime(ctx, svc, o, now, o.byService[[2]string{projects[svc.StackID], svc.Name}])
		if err != nil {
			return sum, err
		}
		sum.ServicesChanged += record.BoolToInt(changed)
		sum.CandidatesCleared += record.BoolToInt(cleared)
	}
	return sum, nil
}

// differsFrom reports whether the runtime state differs from the stored one.
func differsFrom(svc *record.Service, now runtimeState) bool {
	return svc.CandidateDigest != "" || now.state == record.StateStopped && now.id != "" && svc.Ended == "" || svc.State != now.state || svc.RuntimeDigest != now.digest || svc.RuntimeImage != now.id || svc.RuntimeError != now.problem ||
		svc.RuntimeVersion != cmp.Or(keptVersion(svc, now), now.version)
}

// takeRuntime writes what a service runs, if that is news, and drops a candidate that runs by now.
func (s *Service) takeRuntime(ctx context.Context, svc *record.Service, o *observed, now runtimeState, list []engine.Container) (changed, cleared bool, err error) {
	columns := map[string]any{}
	// While a change is under way its new image runs before it has proved healthy: the candidate stays until it has.
	if cleared = o.isSettled(svc) && svc.CandidateDigest != "" && s.runsDigest(ctx, now.digests, svc.CandidateDigest); cleared {
		if err := s.repo.dropCandidate(ctx, svc); err != nil {
			return false, false, fmt.Errorf("drop the candidate of %s: %w", svc.Name, err)
		}
		if now.digest != svc.CandidateDigest && slices.Contains(now.digests, svc.CandidateDigest) {
			now.digest = svc.CandidateDigest
		}
	}
	for name, v := range map[string][2]string{
		"state": {string(svc.State), string(now.state)}, "runtime_digest": {svc.RuntimeDigest, now.digest}, "runtime_image": {svc.RuntimeImage, now.id},
		"runtime_error": {svc.RuntimeError, now.problem}, "runtime_version": {svc.RuntimeVersion, cmp.Or(keptVersion(svc, now), now.version)},
	} {
		if v[0] != v[1] {
			columns[name] = v[1]
		}
	}
	s.noteEnd(ctx, svc, list, now, columns)
	if len(columns) == 0 {
		return cleared, cleared, nil
	}
	if err := s.repo.UpdateService(ctx, svc.ID, columns, s.now()); err != nil {
		return false, false, fmt.Errorf("write what %s runs: %w", svc.Name, err)
	}
	return true, cleared, nil
}

// keptVersion is the version of a digest that still runs: what the tags say goes before what the image says of itself.
func keptVersion(svc *record.Service, now runtimeState) string {
	if now.digest != "" && now.digest == svc.RuntimeDigest {
		return svc.RuntimeVersion
	}
	return ""
}

// runsDigest reports whether one of the digests is the wanted one, or that of its manifest for the host's platform.
func (s *Service) runsDigest(ctx context.Context, have []string, want string) bool {
	if slices.Contains(have, want) {
		return true
	}
	known, err := s.repo.FindManifests(ctx, []string{want})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(known[want], func(p record.ManifestPlatform) bool { return p.Digest != "" && slices.Contains(have, p.Digest) })
}

// refreshServices reads anew what some services run. It is for the end of jobs: what goes wrong is logged, the next scan
// makes it good.
func (s *Service) refreshServices(ctx context.Context, ids []string) {
	o, _, err := s.observeEngine(ctx, "")
	if err == nil {
		_, err = s.scanRuntime(ctx, o, func(svc *record.Service) bool { return slices.Contains(ids, svc.ID) })
	}
	if err != nil {
		s.log.Warn("what runs could not be read after a job", "error", err)
	}
}

// runningImage is the image that a service runs at this moment.
type runningImage struct {
	id, digest string
	state      record.LifecycleState
	// replicas is the number of its containers, or what the files say if there is none.
	replicas int
}

func (s *Service) runningImage(ctx context.Context, st *record.Stack, svc *record.Service) (runningImage, error) {
	o, _, err := s.observeEngine(ctx, st.Project)
	if err != nil {
		return runningImage{}, err
	}
	now := o.stateOf(st.Project, svc)
	out := runningImage{id: now.id, digest: now.digest, state: now.state, replicas: len(o.byService[[2]string{st.Project, svc.Name}])}
	if out.replicas == 0 {
		out.replicas = s.replicasInFiles(ctx, st, svc.Name)
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

// subject returns what the job is about that looks at what is asked for.
func (r *ScanRequest) subject() work.Subject {
	return work.Subject{Scope: r.Scope, StackID: r.StackID, ServiceID: r.ServiceID, Reason: r.Reason}
}

// runtimeScanJob is the payload of JobRuntimeScan.
type runtimeScanJob struct{ work.Subject }

// checkScope returns an error if the stack or service that the scope of a request names does not exist, and completes the request.
func (s *Service) checkScope(ctx context.Context, req *ScanRequest) error {
	req.Reason = cmp.Or(req.Reason, work.ReasonUI)
	if req.Scope == work.ScopeAll {
		req.StackID, req.ServiceID = "", ""
		return nil
	}
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return err
	}
	switch req.Scope {
	case work.ScopeStack:
		if inv.stacks[req.StackID] == nil {
			return record.InvalidField("stackId", record.NoStack)
		}
		req.ServiceID = ""
		return nil
	case work.ScopeService:
		svc := inv.services[req.ServiceID]
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

// newSubmission returns the submission of a job that looks at what is asked for. The payload is left to the caller.
func (r *ScanRequest) newSubmission(kind string) work.Submission {
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
func (s *Service) RuntimeScan(ctx context.Context, req ScanRequest) (string, error) {
	if err := s.checkScope(ctx, &req); err != nil {
		return "", err
	}
	sub := req.newSubmission(work.JobRuntimeScan)
	sub.Payload = runtimeScanJob{req.subject()}
	return s.queue.SubmitNew(ctx, sub)
}

func (s *Service) runRuntimeScan(ctx context.Context, _ *queue.Job, spec runtimeScanJob, r *work.Reporter) (any, error) {
	began := s.cfg.Now()
	r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Phase, p.Message = "scan", "reading what runs" })
	o, _, err := s.observeEngine(ctx, "")
	if err != nil {
		return nil, err
	}
	sum, err := s.scanRuntime(ctx, o, spec.SelectsService)
	if err != nil {
		return nil, err
	}
	sum.Scope, sum.DurationMS = spec.Scope, s.cfg.Now().Sub(began).Milliseconds()
	r.Progress.Emit(ctx, "runtime_scan_finished", sum)
	return sum, nil
}

// touchStacks stores that stacks were checked.
func (r *repository) touchStacks(ctx context.Context, ids []string, now int64) error {
	return r.Write(ctx, "note a check", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&record.Stack{}).Where("id IN ?", ids).Update("last_check_at", now).Error
	})
}
