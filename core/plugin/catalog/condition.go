package catalog

import (
	"context"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Unhealthy is the state of an instance that gave no answer to its health check, or said that it cannot work.
const Unhealthy host.State = "error"

// Condition is how an instance is doing: what its last health check found, or the state of its process while that does not serve.
type Condition struct {
	State host.State
	// Message explains a state other than host.Ready in one sentence.
	Message string
	// Since is when the state began, Checked when the instance was last asked, and Took how long its answer took; zero if it was not asked.
	Since, Checked time.Time
	Took           time.Duration
}

// Working reports whether the instance can do its work.
func (c Condition) Working() bool { return c.State == host.Ready }

// Condition returns how the instance is doing without asking it.
func (in *Instance) Condition() Condition {
	st := in.process.Status()
	if !st.State.Serving() {
		return Condition{State: st.State, Message: st.Message, Since: st.Since}
	}
	in.mu.Lock()
	last := in.condition
	in.mu.Unlock()
	if last.Checked.Before(st.Since) { // of a former process
		return Condition{State: st.State, Message: st.Message, Since: st.Since}
	}
	return last
}

// CheckHealth asks the instance how it is, keeps the answer as its condition, and returns that.
func (in *Instance) CheckHealth(ctx context.Context) Condition {
	if st := in.process.Status(); !st.State.Serving() {
		return in.Condition()
	}
	began := time.Now()
	h, err := in.process.Health(ctx, in.ID)
	found := Condition{State: host.Ready, Message: h.GetMessage(), Since: began, Checked: time.Now(), Took: time.Since(began)}
	switch {
	case err != nil && ctx.Err() != nil:
		return in.Condition() // whoever asked has gone: that says nothing of the instance
	case err != nil:
		found.State, found.Message = Unhealthy, host.Reason(err)
	case h.GetState() == pluginv1.State_STATE_DEGRADED:
		found.State = host.Degraded
	case h.GetState() == pluginv1.State_STATE_ERROR:
		found.State = Unhealthy
	}
	in.mu.Lock()
	if in.condition.State == found.State && !in.condition.Since.IsZero() {
		found.Since = in.condition.Since
	}
	in.condition = found
	in.mu.Unlock()
	return in.Condition()
}

// CheckAllHealth asks all instances at once how they are, and waits for their answers.
func (c *Catalog) CheckAllHealth(ctx context.Context) {
	var wg sync.WaitGroup
	for _, in := range c.Instances() {
		wg.Go(func() { in.CheckHealth(ctx) })
	}
	wg.Wait()
}
