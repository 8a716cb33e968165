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
	// loopAfter crashes in a row are called a crash loop.
	loopAfter = 5
)

// run is the process's life: start, watch, start again, until it is stopped.
func (p *Process) run() {
	defer close(p.done)
	crashes := 0
	for p.ctx.Err() == nil {
		p.setState(Starting, "")
		readyAt, files := time.Now(), p.spec.fingerprint()
		link, err := p.bringUp()
		p.report(err)
		if err == nil {
			err = p.watch(link)
			p.away(err)
			p.kill(link, stopGrace)
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
			p.log().Info("restart on request")
		case permanent(err):
			p.fail(err, files)
			crashes = 0
		default:
			crashes++
			p.rest(err, crashes)
		}
	}
	p.setState(Stopped, "")
}

// bringUp starts the process and configures it.
func (p *Process) bringUp() (*Link, error) {
	link, err := p.launch(p.ctx)
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
	if err := p.restore(link, configs); err != nil {
		p.kill(link, stopGrace)
		return nil, err
	}
	p.link.Store(link)
	p.settle()
	p.log().Info("plugin is ready", "version", link.Describe.GetVersion(), "pid", link.PID)
	return link, nil
}

// restore configures instances that were accepted before. One that is refused now, such as for a folder that is gone, is
// tried again with each health check; the others serve.
func (p *Process) restore(link *Link, configs []*pluginv1.Config) error {
	for _, c := range configs {
		diags, err := p.configure(p.ctx, link, c)
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

// settle says that the process serves, all of its instances or some.
func (p *Process) settle() {
	p.mu.Lock()
	messages := slices.Sorted(maps.Values(p.refused))
	p.mu.Unlock()
	if len(messages) > 0 {
		p.setState(Degraded, strings.Join(messages, "; "))
		return
	}
	p.setState(Ready, "")
}

// refusedConfigs are those of the instances that the process does not have although it should.
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

// report tells the waiting Open calls how the first start went.
func (p *Process) report(err error) {
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

// watch returns when the process must be replaced, with the reason.
func (p *Process) watch(link *Link) error {
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
		err := p.ping(link)
		if err == nil {
			err = p.restore(link, p.refusedConfigs())
		}
		if err == nil {
			failures = 0
			p.settle()
			continue
		}
		failures++
		p.setState(Degraded, err.Error())
		if failures >= p.host.cfg.PingFailures {
			link.command.killGroup()
			return fmt.Errorf("no answer to %d health checks: %w", failures, err)
		}
	}
}

// ping asks for the health of the process; that of its instances is asked for by Health.
func (p *Process) ping(link *Link) error {
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

// Health asks the plugin about one instance. A state other than OK comes with a message.
func (p *Process) Health(ctx context.Context, id string) (*pluginv1.HealthResponse, error) {
	l, err := p.Link()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.host.cfg.PingTimeout)
	defer cancel()
	return l.Plugin.Health(ctx, &pluginv1.HealthRequest{InstanceId: id})
}

// away takes the process out of service; its state must not promise what Link does not keep.
func (p *Process) away(err error) {
	switch {
	case p.ctx.Err() != nil:
	case errors.Is(err, errRestart):
		p.setState(Starting, "")
	default:
		p.setState(Backoff, Reason(err))
	}
	p.link.Store(nil)
}

// fail waits for what only a person can mend: until a file of the plugin differs from tried, the fingerprint at the start
// that failed, or until somebody asks for the plugin.
func (p *Process) fail(err error, tried string) {
	p.forgetRequests()
	p.setState(Failed, Reason(err))
	p.log().Error("plugin has failed and is started again when its files change", "error", Reason(err))
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
			if p.spec.fingerprint() != tried {
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

// rest waits before the next start.
func (p *Process) rest(err error, crashes int) {
	pause := p.pause(crashes)
	message := Reason(err)
	if crashes >= loopAfter {
		message = fmt.Sprintf("crash loop: %d exits in a row, next start in %s; %s", crashes, pause.Round(time.Second), message)
	}
	p.forgetRequests()
	p.setState(Backoff, message)
	p.log().Warn("plugin has ended", "reason", message, "restart_in", pause.Round(time.Millisecond))
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

// Reason is the text of an error of Open without the mark that a restart cannot cure it.
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

// stop ends the process and waits until it is gone.
func (p *Process) stop() {
	if l := p.link.Load(); l != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
		_, _ = l.Plugin.Stop(ctx, &pluginv1.StopRequest{GraceMs: stopGrace.Milliseconds()})
		cancel()
	}
	p.cancel()
	<-p.done
}
