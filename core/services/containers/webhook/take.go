package webhook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// Outcome is what became of a delivery.
type Outcome struct {
	Attempts int
	// Reason says why nothing was done; rejected, that the sender is at fault.
	Reason   string
	Rejected bool
	// Jobs were made or, if they stand in reused, were under way.
	Jobs, reused, services []string
	fallback               string
}

// ToAccepted returns the answer to a delivery that work is done for.
func (o *Outcome) ToAccepted() AcceptedWebhook {
	out := AcceptedWebhook{
		OK: true, AttemptCount: o.Attempts, JobIDs: append([]string{}, o.Jobs...), MatchedServiceIDs: append([]string{}, o.services...),
		ReusedJobIDs: append([]string{}, o.reused...), FallbackUsed: o.fallback != "", FallbackReason: o.fallback,
	}
	if len(o.Jobs) > 0 {
		out.JobID = o.Jobs[0]
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
func (i *Inbox) TakeDelivery(ctx context.Context, in *Incoming) (out Outcome, err error) {
	for range takeTries {
		err = i.store.change(ctx, "take a delivery", func(ctx context.Context) (err error) {
			out, err = i.takeOnce(ctx, in)
			return err
		})
		if !isDeadlock(err) {
			return out, err
		}
		if stop := event.Sleep(ctx, rand.N(takePause)); stop != nil {
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

func (i *Inbox) takeOnce(ctx context.Context, in *Incoming) (Outcome, error) {
	row, err := i.store.receiveDelivery(ctx, in.ID, i.hooks.now())
	if err != nil {
		return Outcome{}, fmt.Errorf("store a delivery: %w", err)
	}
	// One that was acted on is not acted on again. Others may have come too early, such as before a repository was selected.
	if row.Attempts > 1 && row.Decision == DecisionProcessed {
		return Outcome{Attempts: row.Attempts, Reason: IgnoredDuplicate}, i.tellDelivery(ctx, EventRepeated, row)
	}
	if err := i.store.limitLockWait(ctx); err != nil {
		return Outcome{}, fmt.Errorf("bound the wait for locks: %w", err)
	}
	out, err := i.submitDeliveryJobs(ctx, in)
	if err != nil {
		return out, err
	}
	out.Attempts = row.Attempts
	row.Event, row.Reason, row.JobIDs = texts.Limit(in.Event, 100), out.Reason, append([]string{}, out.Jobs...)
	if in.Hook != nil {
		row.Owner, row.FullName, row.Action = texts.Limit(in.Hook.Owner, maxRepoName), texts.Limit(in.Hook.FullName, maxRepoName),
			texts.Limit(in.Hook.Action, 100)
	}
	row.Decision, row.Status = DecisionIgnored, http.StatusOK
	switch {
	case out.Rejected:
		row.Decision, row.Status = DecisionRejected, http.StatusBadRequest
	case out.Reason == "":
		row.Decision, row.Status, row.Reason = DecisionProcessed, http.StatusAccepted, out.fallback
	}
	if err := i.store.saveDelivery(ctx, row); err != nil {
		return out, fmt.Errorf("store what became of a delivery: %w", err)
	}
	return out, i.tellDelivery(ctx, EventReceived, row)
}

// submitDeliveryJobs finds out which jobs a delivery calls for, and submits them.
func (i *Inbox) submitDeliveryJobs(ctx context.Context, in *Incoming) (Outcome, error) {
	if in.Hook == nil {
		return Outcome{Reason: RejectedJSON, Rejected: true}, nil
	}
	if in.Hook.Action != "published" {
		return Outcome{Reason: IgnoredAction}, nil
	}
	ok, err := i.isFollowed(ctx, in.Hook)
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return Outcome{Reason: IgnoredRepo}, nil
	}
	if in.Hook.FullName == "" {
		return i.discoverFor(ctx, in, FallbackOwnerOnly)
	}
	services, err := i.publishedBy(ctx, in.Hook)
	if err != nil {
		return Outcome{}, err
	}
	if len(services) == 0 {
		return i.discoverFor(ctx, in, FallbackNoMatch)
	}
	return i.checkFor(ctx, in, services)
}

// isFollowed reports whether a webhook is about a selected repository or, if it names only an owner, about the owner of one.
func (i *Inbox) isFollowed(ctx context.Context, hook *codehost.Webhook) (bool, error) {
	rows, err := i.store.selectedRepos(ctx)
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
func (i *Inbox) publishedBy(ctx context.Context, hook *codehost.Webhook) (out []record.Service, err error) {
	full := strings.ToLower(hook.FullName)
	owner, _, _ := strings.Cut(full, "/")
	paths := []string{full}
	if pkg := strings.ToLower(strings.Trim(hook.Package, "/")); pkg != "" && owner+"/"+pkg != full {
		paths = append(paths, owner+"/"+pkg)
	}
	var seen []string
	for _, host := range i.cfg.PackageHosts() {
		for _, path := range paths {
			repo := strings.ToLower(host) + "/" + texts.Limit(path, 2*maxRepoName)
			if slices.Contains(seen, repo) {
				continue
			}
			seen = append(seen, repo)
			rows, err := i.store.ListRepoServices(ctx, repo)
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
func (in *Incoming) deliverySource() *work.DeliverySource {
	return &work.DeliverySource{DeliveryID: in.ID, Repo: texts.Limit(in.Hook.FullName, maxRepoName)}
}

// checkFor makes a check of each service, or finds the one that is under way.
func (i *Inbox) checkFor(ctx context.Context, in *Incoming, services []record.Service) (out Outcome, err error) {
	for _, svc := range services {
		out.services = append(out.services, svc.ID)
	}
	for _, svc := range services {
		from := in.deliverySource()
		from.MatchedServiceIDs = out.services
		if err := out.addJob(i.cfg.Jobs.CheckPublished(ctx, &svc, from)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// discoverFor makes a discovery, or finds the one that is under way.
func (i *Inbox) discoverFor(ctx context.Context, in *Incoming, why string) (out Outcome, err error) {
	from := in.deliverySource()
	from.FallbackReason = why
	out.fallback = why
	return out, out.addJob(i.cfg.Jobs.DiscoverPublished(ctx, from))
}

// addJob adds the job that a delivery calls for. reused says that it was under way.
func (o *Outcome) addJob(job queue.Job, reused bool, err error) error {
	if err != nil {
		return fmt.Errorf("queue the work of a delivery: %w", err)
	}
	o.Jobs = append(o.Jobs, job.ID)
	if reused {
		o.reused = append(o.reused, job.ID)
	}
	return nil
}
