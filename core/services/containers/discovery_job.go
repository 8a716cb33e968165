package containers

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/core/queue"
)

// Discover queues a discovery, or returns the one that is under way.
func (s *Service) Discover(ctx context.Context) (string, error) {
	job, _, err := s.submitDiscovery(ctx, "", discoveryJob{jobSubject: jobSubject{Scope: ScopeAll, Reason: ReasonUI}})
	return job.ID, err
}

// DiscoverPublished queues a discovery for a webhook that no managed service fits, or returns the one that is under way, and true.
func (s *Service) DiscoverPublished(ctx context.Context, from *deliverySource) (queue.Job, bool, error) {
	return s.submitDiscovery(ctx, actorCodeHost, discoveryJob{jobSubject{Scope: ScopeAll, Reason: ReasonWebhook}, from})
}

func (s *Service) submitDiscovery(ctx context.Context, actor string, payload discoveryJob) (queue.Job, bool, error) {
	return s.queue.submitJob(ctx, submission{kind: JobDiscovery, key: "all", payload: payload, actor: actor})
}

// discoveryJob is the payload of JobDiscovery.
type discoveryJob struct {
	jobSubject
	// Delivery is the webhook that asked for the discovery; nil for others.
	Delivery *deliverySource `json:"delivery,omitempty"`
}

// DiscoverySummary is the summary of a discovery.
type DiscoverySummary struct {
	Scan     ScanResult      `json:"scan"`
	Delivery *deliverySource `json:"delivery,omitempty"`
}

func (s *Service) runDiscovery(ctx context.Context, _ *queue.Job, spec discoveryJob, r *report) (any, error) {
	r.updateProgress(ctx, func(p *ProgressState) { p.Phase, p.Message = "scan", "looking for compose projects" })
	res, err := s.discoverProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range res.Actions {
		if a.Action != actionSkipped {
			r.info(ctx, "%s: stack %s", a.Project, strings.TrimSuffix(a.Action+": "+a.Reason, ": "))
		}
	}
	return DiscoverySummary{Scan: res, Delivery: spec.Delivery}, nil
}
