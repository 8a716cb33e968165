package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Wanted is an instance of the new configuration with the process that was opened for it.
type Wanted struct {
	Desired
	Candidate *Candidate
	// Optional reports whether the others are used without this instance if it cannot be built.
	Optional bool
}

// Rejection is a plugin's refusal to build an instance.
type Rejection struct {
	Ref         string
	Diagnostics schema.Diagnostics
}

func (r *Rejection) Error() string {
	return fmt.Sprintf("%s is refused by its plugin: %s", r.Ref, r.Diagnostics.Error())
}

// Change is a new set of instances that is built and not yet in use.
type Change struct {
	catalog *Catalog
	baseDir string
	next    map[string]*Handle
	fresh   map[string]*Instance
	late    []*pending
	failed  map[string]error
}

// pending is an exclusive instance, which is opened after its predecessor has closed.
type pending struct {
	handle *Handle
	in     *Instance
	// old is the predecessor. process keeps its process running until the new instance is open.
	old     *Instance
	process *host.Process
}

// Prepare builds the instances of wanted that are new or have changed, and keeps the others. It owns the candidates from
// then on, also after an error. The change takes effect with Commit; after an error nothing has changed.
func (c *Catalog) Prepare(ctx context.Context, wanted []Wanted, baseDir string) (*Change, error) {
	return c.prepareChange(ctx, wanted, baseDir, map[string]*Handle{})
}

// PrepareMore is Prepare for instances that are added to those that run.
func (c *Catalog) PrepareMore(ctx context.Context, wanted []Wanted, baseDir string) (*Change, error) {
	c.mu.RLock()
	kept := maps.Clone(c.handles)
	c.mu.RUnlock()
	return c.prepareChange(ctx, wanted, baseDir, kept)
}

// prepareChange builds the instances of wanted and adds them to next.
func (c *Catalog) prepareChange(ctx context.Context, wanted []Wanted, baseDir string, next map[string]*Handle) (*Change, error) {
	ch := &Change{catalog: c, baseDir: baseDir, next: next, fresh: map[string]*Instance{}, failed: map[string]error{}}
	for i, w := range wanted {
		err := ch.addInstance(ctx, w)
		if err != nil && w.Optional {
			ch.failed[w.Ref()] = err
			err = nil
		}
		if err != nil {
			for _, rest := range wanted[i+1:] {
				rest.Candidate.Close()
			}
			ch.Abort()
			return nil, err
		}
	}
	return ch, nil
}

// Failed returns why optional instances could not be built, by reference. They are not part of the change.
func (ch *Change) Failed() map[string]error { return ch.failed }

// addInstance adds a wanted instance to the new set. It opens it unless it is unchanged, or exclusive with a predecessor.
func (ch *Change) addInstance(ctx context.Context, w Wanted) error {
	ref := w.Ref()
	handle, err := ch.catalog.Handle(ref)
	if err != nil {
		handle = &Handle{ref: ref}
	}
	old := handle.Current()
	if old != nil && old.isSameAs(w.Desired) {
		w.Candidate.Close()
		ch.next[ref] = handle
		return nil
	}
	if w.DataDir != "" {
		if err := os.MkdirAll(w.DataDir, 0o700); err != nil {
			w.Candidate.Close()
			return fmt.Errorf("make the data directory of %s: %w", ref, err)
		}
	}
	in := newInstance(w.Desired, w.Candidate.kind, w.Candidate.process)
	if old != nil && isExclusive(in.About) && old.DataDir == in.DataDir {
		ch.late = append(ch.late, &pending{handle: handle, in: in, old: old})
		ch.next[ref] = handle
		return nil
	}
	if err := ch.configureInstance(ctx, in); err != nil {
		w.Candidate.Close()
		return err
	}
	ch.next[ref], ch.fresh[ref] = handle, in
	return nil
}

// configureInstance opens an instance in its process. The error is a *Rejection if the plugin refuses the configuration.
func (ch *Change) configureInstance(ctx context.Context, in *Instance) error {
	diags, err := in.process.Configure(ctx, ch.catalog.configMessage(in.Desired, in.ID, ch.baseDir))
	if err != nil {
		return err
	}
	if diags.HasErrors() {
		return &Rejection{Ref: in.Ref(), Diagnostics: diags}
	}
	return nil
}

// Handle returns the handle of an instance of the new set.
func (ch *Change) Handle(ref string) (*Handle, error) {
	if h := ch.next[ref]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("there is no instance %s", ref)
}

// Instance returns an instance of the new set, or nil.
func (ch *Change) Instance(ref string) *Instance {
	if in := ch.fresh[ref]; in != nil {
		return in
	}
	for _, p := range ch.late {
		if p.in.Ref() == ref {
			return p.in
		}
	}
	if h := ch.next[ref]; h != nil {
		return h.Current()
	}
	return nil
}

// Abort closes the instances that were built.
func (ch *Change) Abort() {
	for _, in := range ch.fresh {
		in.retireAfterCalls(ch.catalog.cfg.Drain)
	}
	for _, p := range ch.late {
		p.in.process.Release()
	}
}

// Commit puts the new set into use: new calls go to the new instances. The returned function removes the old instances,
// each after its calls, and waits for that. The caller calls it after the services have taken over the new handles, so that
// no call finds its instance gone. An exclusive instance closes before its successor opens, while new calls wait. If one
// of them cannot be opened, all old ones are opened again, the change is aborted and the error returned.
func (ch *Change) Commit(ctx context.Context) (retire func(), err error) {
	if err := ch.openLate(ctx); err != nil {
		ch.Abort()
		return nil, err
	}
	c := ch.catalog
	var old []*Instance
	var gone []*Handle
	c.mu.Lock()
	for ref, h := range c.handles {
		if ch.next[ref] == nil {
			gone = append(gone, h)
		}
	}
	for ref, in := range ch.fresh {
		if prev := ch.next[ref].replaceInstance(in); prev != nil {
			old = append(old, prev)
		}
	}
	for _, p := range ch.late {
		p.handle.replaceInstance(p.in)
	}
	c.handles = ch.next
	c.mu.Unlock()
	return func() {
		for _, h := range gone {
			if in := h.replaceInstance(nil); in != nil {
				old = append(old, in)
			}
		}
		var wg sync.WaitGroup
		for _, in := range old {
			wg.Go(func() { in.retireAfterCalls(c.cfg.Drain) })
		}
		wg.Wait()
	}, nil
}

// openLate closes the predecessors of the exclusive instances and opens these. Calls wait until Commit or
// reopenPredecessors has given their handles an instance.
func (ch *Change) openLate(ctx context.Context) error {
	for i, p := range ch.late {
		p.handle.holdCalls()
		// The old process must outlive the attempt, so that the old configuration can come back in it.
		p.process, _ = ch.catalog.cfg.Host.Open(ctx, p.old.Spec)
		p.old.retireAfterCalls(ch.catalog.cfg.Drain)
		if err := ch.configureInstance(ctx, p.in); err != nil {
			// Cancelling ctx does not cancel the way back. The plugin may have opened the last instance after ctx had ended.
			ctx := context.WithoutCancel(ctx)
			for _, opened := range ch.late[:i+1] {
				opened.in.removeFromProcess(ctx, ch.catalog.cfg.Drain)
			}
			return errors.Join(err, ch.reopenPredecessors(ctx, ch.late[:i+1]))
		}
	}
	for _, p := range ch.late {
		if p.process != nil {
			p.process.Release()
		}
	}
	return nil
}

// reopenPredecessors opens the predecessors of exclusive instances again. The error names those that could not be opened;
// their handles have no instance.
func (ch *Change) reopenPredecessors(ctx context.Context, late []*pending) (err error) {
	for _, p := range late {
		var back *Instance
		if p.process != nil {
			back = newInstance(p.old.Desired, p.old.About, p.process)
			if backErr := ch.configureInstance(ctx, back); backErr != nil {
				p.process.Release()
				back = nil
				err = errors.Join(err, fmt.Errorf("open the former %s again: %w", p.old.Ref(), backErr))
			}
		} else {
			err = errors.Join(err, fmt.Errorf("open the former %s again: its plugin does not start", p.old.Ref()))
		}
		p.handle.replaceInstance(back)
	}
	return err
}
