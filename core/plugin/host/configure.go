package host

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// unansweredGrace bounds the removal of an instance whose Configure was not answered.
const unansweredGrace = 5 * time.Second

// Configure adds an instance, which is also added after each restart. With error diagnostics nothing has changed. A plugin that does not
// answer in time is asked to remove the instance, since it may have added it nevertheless.
func (p *Process) Configure(ctx context.Context, c *pluginv1.Config) (schema.Diagnostics, error) {
	l, err := p.Link()
	if err != nil {
		return nil, err
	}
	number := p.beginConfigure(c.GetInstanceId())
	defer p.endConfigure(c.GetInstanceId(), number)
	diags, err := p.configureInstance(ctx, l, c)
	if code := status.Code(err); code == codes.DeadlineExceeded || code == codes.Canceled {
		p.removeUnanswered(ctx, l, c.GetInstanceId(), number)
	}
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	p.mu.Lock()
	p.configs[c.GetInstanceId()] = c
	p.mu.Unlock()
	if p.link.Load() != l {
		p.mu.Lock()
		delete(p.configs, c.GetInstanceId())
		p.mu.Unlock()
		return diags, fmt.Errorf("plugin %q ended while it was being configured", p.spec.Name)
	}
	return diags, nil
}

// configureInstance sends one configuration to the running process.
func (p *Process) configureInstance(ctx context.Context, l *Link, c *pluginv1.Config) (schema.Diagnostics, error) {
	ctx, cancel := context.WithTimeout(ctx, p.startTimeout())
	defer cancel()
	resp, err := l.Plugin.Configure(ctx, &pluginv1.ConfigureRequest{Config: c})
	if err != nil {
		return nil, fmt.Errorf("configure instance %q of plugin %q: %w", c.GetName(), p.spec.Name, err)
	}
	return schema.DiagnosticsFromProto(resp.GetDiagnostics()), nil
}

// beginConfigure returns the number of a Configure that begins.
func (p *Process) beginConfigure(id string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.configures++
	p.configuring[id] = p.configures
	return p.configures
}

func (p *Process) endConfigure(id string, number int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.configuring[id] == number {
		delete(p.configuring, id)
	}
}

// removeUnanswered asks the process of link to remove an instance whose Configure of that number was not answered. It asks for nothing if
// the instance was accepted at another time, or a newer Configure of it has begun. One that begins right after this look is not noticed.
func (p *Process) removeUnanswered(ctx context.Context, link *Link, id string, number int64) {
	p.mu.Lock()
	wanted := p.configs[id] != nil || p.configuring[id] != number
	p.mu.Unlock()
	if wanted || p.link.Load() != link {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unansweredGrace)
	defer cancel()
	if _, err := link.Plugin.Remove(ctx, &pluginv1.RemoveRequest{InstanceId: id}); err != nil {
		p.pluginLogger().Warn("cannot close an instance that timed out", "instance", id, "error", err)
	}
}

// Remove closes an instance. It is no error if the process does not run.
func (p *Process) Remove(ctx context.Context, id string) error {
	p.mu.Lock()
	delete(p.configs, id)
	delete(p.refused, id)
	p.mu.Unlock()
	l := p.link.Load()
	if l == nil {
		return nil
	}
	_, err := l.Plugin.Remove(ctx, &pluginv1.RemoveRequest{InstanceId: id})
	return err
}
