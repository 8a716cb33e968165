package containers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// outcome is what became of a delivery.
type outcome struct {
	attempts int
	// reason says why nothing was done; rejected, that the sender is at fault.
	reason   string
	rejected bool
	// jobs were made or, if they stand in reused, were under way.
	jobs, reused, services []string
	fallback               string
}

func (o *outcome) toAccepted() AcceptedWebhook {
	out := AcceptedWebhook{
		OK: true, AttemptCount: o.attempts, JobIDs: append([]string{}, o.jobs...), MatchedServiceIDs: append([]string{}, o.services...),
		ReusedJobIDs: append([]string{}, o.reused...), FallbackUsed: o.fallback != "", FallbackReason: o.fallback,
	}
	if len(o.jobs) > 0 {
		out.JobID = o.jobs[0]
	}
	return out
}

// takeTries is how often a delivery is taken whose transaction and another one waited for each other; takePause is the most
// that lies between two tries.
const (
	takeTries = 10
	takePause = 100 * time.Millisecond
)

// TakeDelivery stores a delivery and submits its jobs, in one transaction. After an error the delivery may be sent again.
func (w *Webhooks) TakeDelivery(ctx context.Context, in *incoming) (out outcome, err error) {
	for range takeTries {
		err = w.store.change(ctx, "take a delivery", func(ctx context.Context) (err error) {
			out, err = w.takeOnce(ctx, in)
			return err
		})
		if !isDeadlock(err) {
			return out, err
		}
		if stop := work.Sleep(ctx, rand.N(takePause)); stop != nil {
			return out, stop
		}
	}
	return out, err
}

// isDeadlock reports whether PostgreSQL ended a statement with deadlock_detected or lock_not_available.
func isDeadlock(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && (state.SQLState() == "40P01" || state.SQLState() == "55P03")
}

func (w *Webhooks) takeOnce(ctx context.Context, in *incoming) (outcome, error) {
	row, err := w.store.receiveDelivery(ctx, in.id, w.now())
	if err != nil {
		return outcome{}, fmt.Errorf("store a delivery: %w", err)
	}
	// One that was acted on is not acted on again. Others may have come too early, such as before a repository was selected.
	if row.Attempts > 1 && row.Decision == deliveryProcessed {
		return outcome{attempts: row.Attempts, reason: ignoredDuplicate}, w.tellDelivery(ctx, deliveryRepeated, row)
	}
	if err := w.store.limitLockWait(ctx); err != nil {
		return outcome{}, fmt.Errorf("bound the wait for locks: %w", err)
	}
	out, err := w.decideJobs(ctx, in)
	if err != nil {
		return out, err
	}
	out.attempts = row.Attempts
	row.Event, row.Reason, row.JobIDs = texts.Limit(in.event, 100), out.reason, append([]string{}, out.jobs...)
	if in.hook != nil {
		row.Owner, row.FullName, row.Action = texts.Limit(in.hook.Owner, maxRepoName), texts.Limit(in.hook.FullName, maxRepoName), texts.Limit(in.hook.Action, 100)
	}
	row.Decision, row.Status = deliveryIgnored, http.StatusOK
	switch {
	case out.rejected:
		row.Decision, row.Status = deliveryRejected, http.StatusBadRequest
	case out.reason == "":
		row.Decision, row.Status, row.Reason = deliveryProcessed, http.StatusAccepted, out.fallback
	}
	if err := w.store.saveDelivery(ctx, row); err != nil {
		return out, fmt.Errorf("store what became of a delivery: %w", err)
	}
	return out, w.tellDelivery(ctx, deliveryReceived, row)
}

// decideJobs finds out which jobs a delivery calls for, and submits them.
func (w *Webhooks) decideJobs(ctx context.Context, in *incoming) (outcome, error) {
	if in.hook == nil {
		return outcome{reason: rejectedJSON, rejected: true}, nil
	}
	if in.hook.Action != "published" {
		return outcome{reason: ignoredAction}, nil
	}
	ok, err := w.isFollowed(ctx, in.hook)
	if err != nil {
		return outcome{}, err
	}
	if !ok {
		return outcome{reason: ignoredRepo}, nil
	}
	if in.hook.FullName == "" {
		return w.discoverFor(ctx, in, fallbackOwnerOnly)
	}
	services, err := w.publishedBy(ctx, in.hook)
	if err != nil {
		return outcome{}, err
	}
	if len(services) == 0 {
		return w.discoverFor(ctx, in, fallbackNoMatch)
	}
	return w.checkFor(ctx, in, services)
}

// isFollowed reports whether a webhook is about a selected repository or, if it names only an owner, about the owner of one.
func (w *Webhooks) isFollowed(ctx context.Context, hook *codehost.Webhook) (bool, error) {
	rows, err := w.store.selectedRepos(ctx)
	if err != nil {
		return false, fmt.Errorf("read the repositories: %w", err)
	}
	full, owner := strings.ToLower(hook.FullName), strings.ToLower(hook.Owner)
	return slices.ContainsFunc(rows, func(r repoRecord) bool {
		if full != "" {
			return r.Name == full
		}
		return owner != "" && r.ownerName() == owner
	}), nil
}

// publishedBy are the managed services whose image is named like the repository or the package, on a registry host that the
// code host's packages live on; by id.
func (w *Webhooks) publishedBy(ctx context.Context, hook *codehost.Webhook) (out []record.Service, err error) {
	full := strings.ToLower(hook.FullName)
	owner, _, _ := strings.Cut(full, "/")
	paths := []string{full}
	if pkg := strings.ToLower(strings.Trim(hook.Package, "/")); pkg != "" && owner+"/"+pkg != full {
		paths = append(paths, owner+"/"+pkg)
	}
	var seen []string
	for _, host := range w.cfg.PackageHosts() {
		for _, path := range paths {
			repo := strings.ToLower(host) + "/" + texts.Limit(path, 2*maxRepoName)
			if slices.Contains(seen, repo) {
				continue
			}
			seen = append(seen, repo)
			rows, err := w.store.ListRepoServices(ctx, repo)
			if err != nil {
				return nil, fmt.Errorf("read the services of a repository: %w", err)
			}
			out = append(out, rows...)
		}
	}
	slices.SortFunc(out, func(a, b record.Service) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// deliverySource returns what the jobs of a delivery store of it.
func (in *incoming) deliverySource() *work.DeliverySource {
	return &work.DeliverySource{DeliveryID: in.id, Repo: texts.Limit(in.hook.FullName, maxRepoName)}
}

// checkFor makes a check of each service, or finds the one that is under way.
func (w *Webhooks) checkFor(ctx context.Context, in *incoming, services []record.Service) (out outcome, err error) {
	for _, svc := range services {
		out.services = append(out.services, svc.ID)
	}
	for _, svc := range services {
		from := in.deliverySource()
		from.MatchedServiceIDs = out.services
		if err := out.addJob(w.cfg.Jobs.CheckPublished(ctx, &svc, from)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// discoverFor makes a discovery, or finds the one that is under way.
func (w *Webhooks) discoverFor(ctx context.Context, in *incoming, why string) (out outcome, err error) {
	from := in.deliverySource()
	from.FallbackReason = why
	out.fallback = why
	return out, out.addJob(w.cfg.Jobs.DiscoverPublished(ctx, from))
}

// addJob adds the job that a delivery calls for. reused says that it was under way.
func (o *outcome) addJob(job queue.Job, reused bool, err error) error {
	if err != nil {
		return fmt.Errorf("queue the work of a delivery: %w", err)
	}
	o.jobs = append(o.jobs, job.ID)
	if reused {
		o.reused = append(o.reused, job.ID)
	}
	return nil
}
