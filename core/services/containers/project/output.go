package project

import (
	"context"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// OutputLine is one line that a container has written. At is when, 0 if the engine does not tell.
type OutputLine = engine.LogLine

// ServiceContainer is a container of a service.
type ServiceContainer struct {
	ID, Name, State string
}

// ServiceContainers returns the containers of a service, those that run first, each group by name.
func (p *Projects) ServiceContainers(ctx context.Context, serviceID string) ([]ServiceContainer, error) {
	d, stack, err := p.Service(ctx, serviceID)
	if err != nil {
		return nil, err
	}
	list, err := p.cfg.Host.AllContainersOf(ctx, stack.Name, d.Name)
	if err != nil {
		return nil, err
	}
	var out []ServiceContainer
	for _, c := range list {
		out = append(out, ServiceContainer{ID: c.ID, Name: c.Name, State: c.State})
	}
	slices.SortFunc(out, func(a, b ServiceContainer) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(out, func(a, b ServiceContainer) int { return runningFirst(a) - runningFirst(b) })
	return out, nil
}

// runningFirst is smaller for a container that runs.
func runningFirst(c ServiceContainer) int {
	if c.State == string(record.StateRunning) {
		return 0
	}
	return 1
}

// ReadOutput hands on the last lines of a container of a service, without secrets, at most count. With follow it goes on with
// new lines until the container or ctx ends, or send fails. The container is named, so that the one that takes its place is read
// the next time.
func (p *Projects) ReadOutput(ctx context.Context, serviceID, name string, count int, follow bool, send func(OutputLine) error) error {
	list, err := p.ServiceContainers(ctx, serviceID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(c ServiceContainer) bool { return c.Name == name })
	if i < 0 {
		return fault.New(fault.NotFound, "The service has no container of this name.").With("field", "container")
	}
	redact, err := p.cfg.Host.OutputRedactor(ctx, list[i].ID)
	if err != nil {
		return err
	}
	return p.cfg.Host.Engine().Logs(ctx, engine.LogRequest{Container: list[i].ID, Tail: count, Follow: follow}, func(l OutputLine) error {
		l.Text = redact.String(l.Text)
		return send(l)
	})
}
