package catalog

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Wanted is an instance of the new configuration with the process that was opened for it.
type Wanted struct {
	Desired
	Candidate *Candidate
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
}

// pending is an exclusive instance that can be opened only when its predecessor has closed.
type pending struct {
	handle *Handle
	in     *Instance
}

// Prepare builds what is new in wanted; instances that have not changed are kept as they are. It takes the candidates
// over, also if it fails. Nothing is in use before Commit; after an error nothing has changed.
func (c *Catalog) Prepare(ctx context.Context, wanted []Wanted, baseDir string) (*Change, error) {
	ch := &Change{catalog: c, baseDir: baseDir, next: map[string]*Handle{}, fresh: map[string]*Instance{}}
	for i, w := range wanted {
		if err := ch.add(ctx, w); err != nil {
			for _, rest := range wanted[i:] {
				rest.Candidate.Close()
			}
			ch.Abort()
			return nil, err
		}
	}
	return ch, nil
}

func (ch *Change) add(ctx context.Context, w Wanted) error {
	ref := w.Ref()
	handle, err := ch.catalog.Handle(ref)
	if err != nil {
		handle = &Handle{ref: ref}
	}
	old := handle.Current()
	if old != nil && old.same(w.Desired) {
		w.Candidate.Close()
		ch.next[ref] = handle
		return nil
	}
	if w.DataDir != "" {
		if err := os.MkdirAll(w.DataDir, 0o700); err != nil {
			return fmt.Errorf("make the data directory of %s: %w", ref, err)
		}
	}
	in := newInstance(w.Desired, w.Candidate.kind, w.Candidate.process)
	if old != nil && exclusive(in.About) && old.DataDir == in.DataDir {
		ch.late = append(ch.late, &pending{handle: handle, in: in})
		ch.next[ref] = handle
		return nil
	}
	if err := ch.configure(ctx, in); err != nil {
		return err
	}
	ch.next[ref], ch.fresh[ref] = handle, in
	return nil
}

func (ch *Change) configure(ctx context.Context, in *Instance) error {
	diags, err := in.process.Configure(ctx, ch.catalog.message(in.Desired, in.ID, ch.baseDir))
	if err != nil {
		return err
	}
	if diags.HasErrors() {
		return &Rejection{Ref: in.Ref(), Diagnostics: diags}
	}
	return nil
}

// Handle finds an instance of the new set.
func (ch *Change) Handle(ref string) (*Handle, error) {
	if h := ch.next[ref]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("there is no instance %s", ref)
}

// Instance is an instance of the new set, or nil.
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

// Abort gives up what was built.
func (ch *Change) Abort() {
	for _, in := range ch.fresh {
		in.retire(ch.catalog.cfg.Drain)
	}
	for _, p := range ch.late {
		p.in.process.Release()
	}
}

// Commit puts the new set into use: handles lead to the new instances from here on, and new calls go to them at once.
// The returned function takes the old instances out, each after its calls; it comes after the services have taken the
// new handles up, so that no call finds its instance gone, and it waits for the old ones. An exclusive instance closes
// before its successor opens, while new calls wait; if the successor cannot be opened, the old configuration is opened
// again and the error returned.
func (ch *Change) Commit(ctx context.Context) (retire func(), err error) {
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
		if prev := ch.next[ref].set(in); prev != nil {
			old = append(old, prev)
		}
	}
	c.handles = ch.next
	c.mu.Unlock()
	for _, p := range ch.late {
		if e := ch.replace(ctx, p); e != nil && err == nil {
			err = e
		}
	}
	return func() {
		for _, h := range gone {
			if in := h.set(nil); in != nil {
				old = append(old, in)
			}
		}
		var wg sync.WaitGroup
		for _, in := range old {
			wg.Go(func() { in.retire(c.cfg.Drain) })
		}
		wg.Wait()
	}, err
}

func (ch *Change) replace(ctx context.Context, p *pending) error {
	old := p.handle.hold()
	// The old process must outlive the attempt, so that the old configuration can come back in it.
	back, openErr := ch.catalog.cfg.Host.Open(ctx, old.Spec)
	old.retire(ch.catalog.cfg.Drain)
	err := ch.configure(ctx, p.in)
	if err == nil {
		p.handle.set(p.in)
		if openErr == nil {
			back.Release()
		}
		return nil
	}
	p.in.process.Release()
	if openErr != nil {
		p.handle.set(nil)
		return err
	}
	again := newInstance(old.Desired, old.About, back)
	if backErr := ch.configure(ctx, again); backErr != nil {
		back.Release()
		p.handle.set(nil)
		return err
	}
	p.handle.set(again)
	return err
}
