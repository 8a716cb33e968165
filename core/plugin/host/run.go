package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

const (
	stopGrace = 2500 * time.Millisecond
	// loopAfter is the number of crashes in a row that are reported as a crash loop.
	loopAfter = 5
)

// superviseProcess starts the process, watches it and starts it again, until it is stopped.
func (p *Process) superviseProcess() {
	defer close(p.done)
	crashes := 0
	for p.ctx.Err() == nil {
		p.setState(Starting, "")
		p.attempt = nil
		readyAt, files := time.Now(), p.spec.fileFingerprint()
		link, err := p.bringUp()
		p.reportFirstStart(err)
		if err == nil {
			err = p.watchLink(link)
			p.stopServing(err)
			p.endLink(link, stopGrace)
		}
		if p.ctx.Err() != nil {
			break
		}
		if time.Since(readyAt) > p.host.cfg.Calm {
			crashes = 0
		}
		switch {
		case errors.Is(err, errRestart):
			crashes = 0
			p.pluginLogger().Info("restarting plugin on request")
			p.noteEvent(EventRestart, nil)
		case isPermanent(err):
			p.noteEvent(EventFailed, err)
			p.waitForRepair(err, files)
			crashes = 0
		default:
			crashes++
			p.noteEvent(EventEnded, err)
			p.waitBeforeRestart(err, crashes)
		}
	}
	p.setState(Stopped, "")
}

// bringUp starts the process and adds its instances.
func (p *Process) bringUp() (*Link, error) {
	link, err := p.startLink(p.ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.starts++
	p.version = link.Describe.GetVersion()
	p.described.Store(link.Describe)
	configs := slices.Collect(maps.Values(p.configs))
	p.mu.Unlock()
	p.setState(Configuring, "")
	if err := p.restoreInstances(link, configs); err != nil {
		p.endLink(link, stopGrace)
		return nil, err
	}
	p.link.Store(link)
	p.setServing()
	p.pluginLogger().Info("plugin ready", "version", link.Describe.GetVersion(), "pid", link.PID)
	return link, nil
}

// restoreInstances configures instances that were accepted before. One that is refused now, such as for a missing folder,
// is tried again after each health check; the others serve.
func (p *Process) restoreInstances(link *Link, configs []*pluginv1.Config) error {
	for _, c := range configs {
		diags, err := p.configureInstance(p.ctx, link, c)
		if err != nil {
			return err
		}
		p.mu.Lock()
		delete(p.refused, c.GetInstanceId())
		if diags.HasErrors() {
			p.refused[c.GetInstanceId()] = fmt.Sprintf("instance %q is refused: %s", c.GetName(), diags.Error())
		}
		p.mu.Unlock()
	}
	return nil
}

// setServing sets the state Ready, or Degraded if the process lacks instances.
func (p *Process) setServing() {
	p.mu.Lock()
	messages := slices.Sorted(maps.Values(p.refused))
	p.mu.Unlock()
	if len(messages) > 0 {
		p.setState(Degraded, strings.Join(messages, "; "))
		p.noteEvent(EventDegraded, errors.New(strings.Join(messages, "; ")))
		return
	}
	p.setState(Ready, "")
	p.noteEvent(EventReady, nil)
}

// refusedConfigs returns the configurations of the instances that the process has refused since its start.
func (p *Process) refusedConfigs() (out []*pluginv1.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.refused {
		if c := p.configs[id]; c != nil {
			out = append(out, c)
		}
	}
	return out
}

// reportFirstStart ends the wait of Open with the result of the first start. Later calls do nothing.
func (p *Process) reportFirstStart(err error) {
	select {
	case <-p.started:
	default:
		p.mu.Lock()
		p.startErr = err
		p.mu.Unlock()
		close(p.started)
	}
}

var errRestart = errors.New("restart requested")

// watchLink checks the process until it must be replaced, and returns why.
func (p *Process) watchLink(link *Link) error {
	tick := time.NewTicker(p.host.cfg.PingInterval)
	defer tick.Stop()
	failures := 0
	for {
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-link.exited:
			return fmt.Errorf("the process has ended%s", p.lastWords())
		case <-p.again:
			return errRestart
		case <-tick.C:
		}
		err := p.checkHealth(link)
		if err == nil {
			err = p.restoreInstances(link, p.refusedConfigs())
		}
		if err == nil {
			failures = 0
			p.setServing()
			continue
		}
		failures++
		p.setState(Degraded, err.Error())
		p.noteEvent(EventDegraded, err)
		if failures >= p.host.cfg.PingFailures {
			link.command.killGroup()
			return fmt.Errorf("no answer to %d health checks: %w", failures, err)
		}
	}
}

// checkHealth checks that the process answers. Health checks a single instance.
func (p *Process) checkHealth(link *Link) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.host.cfg.PingTimeout)
	defer cancel()
	resp, err := grpc_health_v1.NewHealthClient(link.Conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "plugin"})
	if err != nil {
		return fmt.Errorf("health check failed: %w", err)
	}
	if resp.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the plugin reports %s", resp.GetStatus())
	}
	return nil
}

// Health asks the plugin for the health of one instance. A state other than OK has a message.
func (p *Process) Health(ctx context.Context, id string) (*pluginv1.HealthResponse, error) {
	l, err := p.Link()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.host.cfg.PingTimeout)
	defer cancel()
	return l.Plugin.Health(ctx, &pluginv1.HealthRequest{InstanceId: id})
}

// stopServing sets the state of a process that has ended and makes Link fail. The state changes first, so that it is never
// Ready without a Link.
func (p *Process) stopServing(err error) {
	switch {
	case p.ctx.Err() != nil:
	case errors.Is(err, errRestart):
		p.setState(Starting, "")
	default:
		p.setState(Backoff, Reason(err))
	}
	p.link.Store(nil)
}

// waitForRepair sets the state Failed and waits until a file of the plugin differs from tried, the fingerprint at the failed
// start, or until Restart or Open.
func (p *Process) waitForRepair(err error, tried string) {
	p.forgetRequests()
	p.setState(Failed, Reason(err))
	p.pluginLogger().Error("plugin failed; replace its program to retry", "error", Reason(err))
	tick := time.NewTicker(p.host.cfg.FileInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.again:
			return
		case <-p.sooner:
			return
		case <-tick.C:
			if p.spec.fileFingerprint() != tried {
				return
			}
		}
	}
}

// forgetRequests drops a request for an early start that was made before the present wait.
func (p *Process) forgetRequests() {
	select {
	case <-p.sooner:
	default:
	}
}

// waitBeforeRestart sets the state Backoff and waits before the next start.
func (p *Process) waitBeforeRestart(err error, crashes int) {
	pause := p.restartDelay(crashes)
	message := Reason(err)
	if crashes >= loopAfter {
		message = fmt.Sprintf("crash loop: %d exits in a row, next start in %s; %s", crashes, pause.Round(time.Second), message)
	}
	p.forgetRequests()
	p.setState(Backoff, message)
	p.pluginLogger().Warn("plugin exited, restarting", "reason", message, "restart_in", pause.Round(time.Millisecond))
	if pause == 0 {
		return
	}
	select {
	case <-p.ctx.Done():
	case <-p.again:
	case <-p.sooner:
	case <-time.After(pause):
	}
}

// Reason returns the text of an error of Open, without errPermanent.
func Reason(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			if !errors.Is(e, errPermanent) {
				return e.Error()
			}
		}
	}
	return err.Error()
}

// stopProcess ends the process and waits for that.
func (p *Process) stopProcess() {
	if l := p.link.Load(); l != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
		_, _ = l.Plugin.Stop(ctx, &pluginv1.StopRequest{GraceMs: stopGrace.Milliseconds()})
		cancel()
	}
	p.cancel()
	<-p.done
}
