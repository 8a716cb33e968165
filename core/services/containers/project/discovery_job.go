package project

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/core/queue"
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
