package app

import (
	"context"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

// defaultRetryEvery is the pause between attempts to build instances that were left out.
const defaultRetryEvery = 15 * time.Second

// absence is an instance that was left out.
type absence struct {
	instance *config.Instance
	reason   string
	since    time.Time
}

// absences are the instances that were left out, by reference. They are tried again until they can be built.
type absences struct {
	mu     sync.Mutex
	byRef  map[string]absence
	now    chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// replaceAll sets all absences, with the reasons. One that lasts keeps its beginning.
func (s *absences) replaceAll(all map[*config.Instance]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.byRef
	s.byRef = map[string]absence{}
	for in, reason := range all {
		next := absence{instance: in, reason: reason, since: time.Now()}
		if was, ok := former[in.Ref()]; ok {
			next.since = was.since
		}
		s.byRef[in.Ref()] = next
	}
}

// add sets one absence.
func (s *absences) add(in *config.Instance, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byRef[in.Ref()] = absence{instance: in, reason: reason, since: time.Now()}
}

// listInstances returns the instances that are absent.
func (s *absences) listInstances() (out []*config.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byRef {
		out = append(out, a.instance)
	}
	return out
}

// find returns the absence of an instance.
func (s *absences) find(ref string) (absence, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.byRef[ref]
	return a, ok
}

// retryNow makes the next attempt begin at once.
func (s *absences) retryNow() {
	select {
	case s.now <- struct{}{}:
	default:
	}
}

// stopRetries ends the attempts and waits for the one that is under way. The caller must not hold App.reload.
func (s *absences) stopRetries() {
	s.cancel()
	s.done.Wait()
}

// watchAbsent retries the instances that were left out, until absences.stopRetries.
func (a *App) watchAbsent() {
	ctx, cancel := context.WithCancel(context.Background())
	a.absent.cancel, a.absent.now = cancel, make(chan struct{}, 1)
	every := a.cfg.RetryEvery
	if every <= 0 {
		every = defaultRetryEvery
	}
	a.absent.done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-a.absent.now:
			}
			if err := a.retryAbsent(ctx); err != nil && ctx.Err() == nil {
				a.log.Warn("skipped instances still cannot start", "error", err)
			}
		}
	})
}

// retryAbsent tries the instances that were left out, and puts those that can be built into use with the services that name
// them.
func (a *App) retryAbsent(ctx context.Context) error {
	a.reload.Lock()
	defer a.reload.Unlock()
	list := a.absent.listInstances()
	if len(list) == 0 || a.draining {
		return nil
	}
	set := a.set
	plan := set.PlanInstances(ctx, a.catalog, a.res, list)
	change, err := a.catalog.PrepareMore(ctx, plan.Wanted, set.File.Dir)
	if err != nil {
		return err
	}
	left := map[*config.Instance]string{}
	for _, in := range list {
		switch failure, reason := change.Failed()[in.Ref()], plan.Absent[in]; {
		case change.Instance(in.Ref()) != nil:
		case failure != nil:
			left[in] = host.Reason(failure)
		case reason != "":
			left[in] = reason
		default:
			left[in] = plan.Diags.Error()
		}
	}
	if len(left) == len(list) {
		change.Abort()
		a.absent.replaceAll(left)
		return nil
	}
	if err := a.applySettings(ctx, set, change); err != nil {
		return err
	}
	a.absent.replaceAll(left)
	for _, in := range list {
		if left[in] == "" {
			a.log.Info("instance recovered", "instance", in.Ref())
		}
	}
	return nil
}

// instanceStates are the states of all instances of the configuration in use, by reference: ready or not.
func (a *App) instanceStates() map[string]bool {
	out := map[string]bool{}
	for _, ref := range a.absent.listRefs() {
		out[ref] = false
	}
	for _, in := range a.catalog.Instances() {
		out[in.Ref()] = in.Condition().Working()
	}
	return out
}

// listRefs returns the references of the instances that are absent.
func (s *absences) listRefs() (out []string) {
	for _, in := range s.listInstances() {
		out = append(out, in.Ref())
	}
	return out
}
