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

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
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

// takeDelivery stores a delivery and submits its jobs, in one transaction. After an error the delivery may be sent again.
func (s *Service) takeDelivery(ctx context.Context, in *incoming) (out outcome, err error) {
	for range takeTries {
		err = s.hookTx(ctx, "take a delivery", func(ctx context.Context, w *gorm.DB) (err error) {
			out, err = s.takeOnce(ctx, w, in)
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

// limitLockWait makes a transaction on PostgreSQL fail soon if it has to wait for a lock. A delivery submits several jobs and
// can deadlock with transactions that submit or end one: it fails before the server ends the other.
func (s *Service) limitLockWait(w *gorm.DB) error {
	if s.cfg.Store.Dialect() != store.Postgres {
		return nil
	}
	return w.Exec("SET LOCAL lock_timeout = '300ms'").Error
}

func (s *Service) takeOnce(ctx context.Context, w *gorm.DB, in *incoming) (outcome, error) {
	row, err := s.repo.receiveDelivery(ctx, in.id, s.now())
	if err != nil {
		return outcome{}, fmt.Errorf("store a delivery: %w", err)
	}
	// One that was acted on is not acted on again. Others may have come too early, such as before a repository was selected.
	if row.Attempts > 1 && row.Decision == deliveryProcessed {
		return outcome{attempts: row.Attempts, reason: ignoredDuplicate}, s.tellDelivery(ctx, deliveryRepeated, row)
	}
	if err := s.limitLockWait(w); err != nil {
		return outcome{}, fmt.Errorf("bound the wait for locks: %w", err)
	}
	out, err := s.decideJobs(ctx, in)
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
	if err := w.Save(row).Error; err != nil {
		return out, fmt.Errorf("store what became of a delivery: %w", err)
	}
	return out, s.tellDelivery(ctx, deliveryReceived, row)
}

// decideJobs finds out which jobs a delivery calls for, and submits them.
func (s *Service) decideJobs(ctx context.Context, in *incoming) (outcome, error) {
	if in.hook == nil {
		return outcome{reason: rejectedJSON, rejected: true}, nil
	}
	if in.hook.Action != "published" {
		return outcome{reason: ignoredAction}, nil
	}
	ok, err := s.isFollowed(ctx, in.hook)
	if err != nil {
		return outcome{}, err
	}
	if !ok {
		return outcome{reason: ignoredRepo}, nil
	}
	if in.hook.FullName == "" {
		return s.discoverFor(ctx, in, fallbackOwnerOnly)
	}
	services, err := s.publishedBy(ctx, in.hook)
	if err != nil {
		return outcome{}, err
	}
	if len(services) == 0 {
		return s.discoverFor(ctx, in, fallbackNoMatch)
	}
	return s.checkFor(ctx, in, services)
}

// isFollowed reports whether a webhook is about a selected repository or, if it names only an owner, about the owner of one.
func (s *Service) isFollowed(ctx context.Context, hook *codehost.Webhook) (bool, error) {
	rows, err := s.repo.selectedRepos(ctx)
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
func (s *Service) publishedBy(ctx context.Context, hook *codehost.Webhook) (out []record.Service, err error) {
	full := strings.ToLower(hook.FullName)
	owner, _, _ := strings.Cut(full, "/")
	paths := []string{full}
	if pkg := strings.ToLower(strings.Trim(hook.Package, "/")); pkg != "" && owner+"/"+pkg != full {
		paths = append(paths, owner+"/"+pkg)
	}
	var seen []string
	for _, host := range s.settings().PackageHosts {
		for _, path := range paths {
			repo := strings.ToLower(host) + "/" + texts.Limit(path, 2*maxRepoName)
			if slices.Contains(seen, repo) {
				continue
			}
			seen = append(seen, repo)
			rows, err := s.repo.ListRepoServices(ctx, repo)
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
func (s *Service) checkFor(ctx context.Context, in *incoming, services []record.Service) (out outcome, err error) {
	for _, svc := range services {
		out.services = append(out.services, svc.ID)
	}
	for _, svc := range services {
		from := in.deliverySource()
		from.MatchedServiceIDs = out.services
		if err := out.addJob(s.CheckPublished(ctx, &svc, from)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// discoverFor makes a discovery, or finds the one that is under way.
func (s *Service) discoverFor(ctx context.Context, in *incoming, why string) (out outcome, err error) {
	from := in.deliverySource()
	from.FallbackReason = why
	out.fallback = why
	return out, out.addJob(s.DiscoverPublished(ctx, from))
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
