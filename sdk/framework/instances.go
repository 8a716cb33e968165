package framework

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// instances are the configured instances of a process, each with the number of calls that use it.
type instances struct {
	mu   sync.RWMutex
	byID map[string]*instance
}

type instance struct {
	kind  string
	name  string
	value any
	calls sync.WaitGroup
}

func newInstances() *instances { return &instances{byID: map[string]*instance{}} }

func (s *instances) acquireInstance(kind, id string) (any, func(), error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	in := s.byID[id]
	if in == nil || kind != "" && in.kind != kind {
		return nil, nil, errs.New(errs.Host, codes.FailedPrecondition, errs.ReasonUnknownInstance, "no %s instance with id %q", kind, id)
	}
	in.calls.Add(1)
	return in.value, in.calls.Done, nil
}

// instanceRef returns the reference of an instance, such as search.docs, or "" for an unknown one.
func (s *instances) instanceRef(id string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if in := s.byID[id]; in != nil {
		return in.kind + "." + in.name
	}
	return ""
}

// putInstance puts an instance into use, in place of the one of its id, unless ctx has ended: then the next call of the id may have put
// another one there.
func (s *instances) putInstance(ctx context.Context, id string, in *instance) error {
	s.mu.Lock()
	if err := ctx.Err(); err != nil {
		s.mu.Unlock()
		return err
	}
	old := s.byID[id]
	s.byID[id] = in
	s.mu.Unlock()
	if old != nil {
		go func() { _ = old.closeWhenIdle(context.Background()) }()
	}
	return nil
}

// removeInstance closes the instance of an id.
func (s *instances) removeInstance(ctx context.Context, id string) error {
	s.mu.Lock()
	in := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if in == nil {
		return nil
	}
	return in.closeWhenIdle(ctx)
}

// takeOut takes an instance out of use. It reports whether it was in use.
func (s *instances) takeOut(id string, in *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byID[id] == in
	if found {
		delete(s.byID, id)
	}
	return found
}

func (s *instances) removeAll(ctx context.Context) {
	s.mu.Lock()
	all := s.byID
	s.byID = map[string]*instance{}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, in := range all {
		wg.Go(func() { _ = in.closeWhenIdle(ctx) })
	}
	wg.Wait()
}

// closeWhenIdle waits for the calls, but no longer than ctx, and then closes the value.
func (in *instance) closeWhenIdle(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		in.calls.Wait()
		close(idle)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if c, ok := in.value.(io.Closer); ok {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}
	return err
}
