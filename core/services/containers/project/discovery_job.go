package project

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// Discover queues a discovery, or returns the one that is under way.
func (d *Discovery) Discover(ctx context.Context) (string, error) {
	job, _, err := d.submitDiscovery(ctx, "", DiscoveryJob{Subject: work.Subject{Scope: work.ScopeAll, Reason: work.ReasonUI}})
	return job.ID, err
}

// DiscoverPublished queues a discovery for a webhook that no managed service fits, or returns the one that is under way, and true.
func (d *Discovery) DiscoverPublished(ctx context.Context, from *work.DeliverySource) (queue.Job, bool, error) {
	return d.submitDiscovery(ctx, work.ActorCodeHost, DiscoveryJob{work.Subject{Scope: work.ScopeAll, Reason: work.ReasonWebhook}, from})
}

func (d *Discovery) submitDiscovery(ctx context.Context, actor string, payload DiscoveryJob) (queue.Job, bool, error) {
	return d.cfg.Jobs.SubmitJob(ctx, work.Submission{Kind: work.JobDiscovery, Key: "all", Payload: payload, Actor: actor})
}

// DiscoveryJob is the payload of JobDiscovery.
type DiscoveryJob struct {
	work.Subject
	// Delivery is the webhook that asked for the discovery; nil for others.
	Delivery *work.DeliverySource `json:"delivery,omitempty"`
}

// DiscoverySummary is the summary of a discovery.
type DiscoverySummary struct {
	Scan     ScanResult           `json:"scan"`
	Delivery *work.DeliverySource `json:"delivery,omitempty"`
}

// RunDiscovery runs a job of the type work.JobDiscovery.
func (d *Discovery) RunDiscovery(ctx context.Context, _ *queue.Job, spec DiscoveryJob, r *work.Reporter) (any, error) {
	r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Phase, p.Message = "scan", "looking for compose projects" })
	res, err := d.DiscoverProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range res.Actions {
		if a.Action != actionSkipped {
			r.LogInfo(ctx, "%s: stack %s", a.Project, strings.TrimSuffix(a.Action+": "+a.Reason, ": "))
		}
	}
	return DiscoverySummary{Scan: res, Delivery: spec.Delivery}, nil
}

// AcceptMove gives a project's stack the files that its containers come from. They are named as Projects shows them, so
// that nothing is taken over that nobody has seen. It returns the job of the discovery that reads them.
func (d *Discovery) AcceptMove(ctx context.Context, name, workingDir string, files []string) (jobID string, err error) {
	unlock, err := d.cfg.Locks.LockKey(ctx, "discovery")
	if err != nil {
		return "", err
	}
	defer unlock()
	p, err := d.store.FindProject(ctx, name)
	switch {
	case err != nil:
		return "", err
	case p.Move == nil || p.StackID == "":
		return "", fault.New(fault.Conflict, "The files of the project have not moved.").With("reason", "not_moved")
	case p.Move.WorkingDir != workingDir || !slices.Equal(p.Move.ConfigFiles, files):
		return "", fault.New(fault.Conflict, "The files of the project have changed since they were shown.").With("reason", "changed_since")
	}
	if err := d.checkMove(*p.Move); err != nil {
		return "", fault.Wrap(err, fault.Conflict, "The files of the project cannot be read: %v", err)
	}
	services, err := d.store.ListStackServices(ctx, p.StackID)
	if err != nil {
		return "", err
	}
	ids := lists.ConvertAll(services, func(s record.Service) string { return s.ID })
	jobs, err := d.cfg.Jobs.ActiveJobs(ctx, ids)
	if err != nil {
		return "", err
	}
	if len(jobs) > 0 {
		return "", fault.New(fault.Conflict, "A job is working on the project.").With("existingJobId", jobs[0].ID)
	}
	err = d.store.Tx(ctx, "move a project", func(ctx context.Context) error {
		columns := map[string]any{"working_dir": workingDir, "files": record.EncodeColumn(files),
			"env_files": record.EncodeColumn(append([]string{}, p.Move.EnvFiles...))}
		if err := d.store.UpdateStack(ctx, p.StackID, columns, d.now()); err != nil {
			return err
		}
		return d.store.updateProject(ctx, name, map[string]any{"working_dir": workingDir, "files": record.EncodeColumn(files), "move": nil,
			"last_error": ""})
	})
	if err != nil {
		return "", fmt.Errorf("move the project %s: %w", name, err)
	}
	return d.Discover(ctx)
}
