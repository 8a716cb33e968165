package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/supervisor/release"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// serviceName is that of the supervisor's routes.
const serviceName = "supervisor"

// The limits of its listener: one person looks at it, or a few.
const (
	maxConnections = 256
	maxStreams     = 64
	endTime        = 5 * time.Second
)

// Process is a running supervisor with its listener and its own plugin.
type Process struct {
	log        hclog.Logger
	http       *httpd.Server
	supervisor *Supervisor
	closers    []func()
}

// Start brings the supervisor of a configuration up. Diagnostics are of the configuration; with errors among them nothing runs. Another
// error is one sentence for the operator. core tells what the core is doing. The log goes to output, without the secrets of the
// configuration.
func Start(ctx context.Context, src settings.Source, version string, core Core,
	output io.Writer) (started *Process, diags config.Diagnostics, err error) {
	gin.SetMode(gin.ReleaseMode)
	p := &Process{}
	defer func() {
		if err != nil || diags.HasErrors() {
			p.closeAll()
			started = nil
		}
	}()
	set, res, diags, err := src.Load(ctx)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	redact := secret.NewRedactor()
	redact.Add(append(set.File.Core().Secrets(), set.File.Supervisor().Secrets()...)...)
	res.LearnSecrets = redact.Add
	p.log = hclog.New(&hclog.LoggerOptions{Name: "patchbay-supervisor", Level: hclog.LevelFromString(set.Core.LogLevel),
		Output: redact.Writer(output), JSONFormat: set.Core.LogFormat == "json"})
	p.log.Info("configuration read", "file", set.ConfigPath())
	found, err := p.openParts(ctx, set, res, version, core, redact)
	return p, append(diags, found...), err
}

// openParts starts the engine's plugin if the core is a container, goes on with what was interrupted, and listens.
func (p *Process) openParts(ctx context.Context, set *settings.Settings, res *settings.Resolver, version string, core Core,
	redact *secret.Redactor) (config.Diagnostics, error) {
	block := set.Supervisor
	cfg := Config{
		Logger: p.log, StatePath: settings.AbsolutePath(set.File.Dir, block.StatePath), CoreURL: block.CoreURL,
		HealthTimeout: block.HealthTimeout, Core: core, JobsTimeout: block.JobsTimeout,
	}
	var diags config.Diagnostics
	if block.Systemd != nil {
		cfg.Unit, cfg.CoreURL = unitConfig(*block.Systemd), cmp.Or(cfg.CoreURL, "http://"+httpd.DialAddr(set.Core.HTTPAddr))
	} else {
		runtime, found, err := p.openEngine(ctx, set, res, version, redact)
		if diags = found; err != nil || diags.HasErrors() {
			return diags, err
		}
		cfg.Container = ContainerConfig{
			Engine: runtime, ImageRepo: block.ImageRepo, ContainerID: block.ContainerID, Service: block.ComposeService,
			ComposeBin: block.ComposeBin, DockerConfig: block.DockerConfig, VersionCommand: strings.Fields(block.VersionCommand),
		}
	}
	var err error
	if p.supervisor, err = New(cfg); err != nil {
		return diags, err
	}
	p.closers = append(p.closers, p.supervisor.Close)
	return diags, p.startListener(set, version)
}

// unitConfig returns what the block systemd says.
func unitConfig(block settings.SupervisedUnit) *UnitConfig {
	return &UnitConfig{Unit: block.Unit, Dir: block.Dir, Releases: release.Config{
		URL: block.URL, LatestURL: block.LatestURL, PublicKey: block.PublicKey, MaxBytes: block.MaxBytes, Timeout: block.DownloadTimeout,
	}}
}

// openEngine starts the plugin of the engine that the block names, or of the only one.
func (p *Process) openEngine(ctx context.Context, set *settings.Settings, res *settings.Resolver, version string,
	redact *secret.Redactor) (client.Engine, config.Diagnostics, error) {
	in, diags := chooseEngine(set)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	if address := set.Supervisor.DockerHost; address != "" {
		res.PluginEnv = []string{"DOCKER_HOST=" + address}
	}
	h, err := host.New(host.Config{Logger: p.log, PluginLogLevel: set.Core.LogLevel, SocketDir: set.Core.SocketDir, DataDir: set.DataDir,
		Redact: redact.Values})
	if err != nil {
		return nil, nil, err
	}
	cat := catalog.New(catalog.Config{Host: h, Logger: p.log, Version: version, UserAgent: "patchbay/" + version, Protected: set.Protected(),
		Drain: endTime})
	p.closers = append(p.closers, h.Close, cat.Close)
	diags = set.File.CheckLock(res.Lock, settings.Platform())
	if diags.HasErrors() {
		return nil, diags, nil
	}
	plan := set.PlanInstances(ctx, cat, res, []*config.Instance{in})
	diags = append(diags, plan.Diags...)
	if diags.HasErrors() || len(plan.Wanted) == 0 {
		plan.Close()
		return nil, diags, errors.New("the container engine's plugin cannot be used")
	}
	change, err := cat.Prepare(ctx, plan.Wanted, set.File.Dir)
	if err != nil {
		found, err := set.LocateFailure(err)
		return nil, append(diags, found...), err
	}
	if _, err := change.Commit(ctx); err != nil {
		return nil, diags, err
	}
	handle, err := cat.Handle(in.Ref())
	if err != nil {
		return nil, diags, err
	}
	return client.NewEngine(handle, nil), diags, nil
}

// chooseEngine returns the instance that the block supervisor names, or the only engine of the file.
func chooseEngine(set *settings.Settings) (*config.Instance, config.Diagnostics) {
	engines := slices.DeleteFunc(slices.Clone(set.File.Instances), func(in *config.Instance) bool { return in.Kind != engine.Kind })
	at := set.File.Supervisor().Range
	if ref := set.Supervisor.Engine; ref != "" {
		return set.Instance(ref), nil
	}
	switch len(engines) {
	case 0:
		return nil, config.ErrorAt(at, "No container engine", `the supervisor needs an engine, such as engine "docker" "local" {}`)
	case 1:
		return engines[0], nil
	}
	return nil, config.ErrorAt(at, "Several container engines",
		"name the one that runs the core: engine = "+engines[0].Ref()+" in the block supervisor")
}

// startListener serves the endpoints and the pages.
func (p *Process) startListener(set *settings.Settings, version string) error {
	clients, err := httpd.NewClients(set.Core.TrustedProxies)
	if err != nil {
		return err
	}
	base, access := strings.TrimSuffix(set.Supervisor.BasePath, "/"), set.Access(clients)
	console, err := newPages(p.supervisor, base, version, access)
	if err != nil {
		return fmt.Errorf("make the pages: %w", err)
	}
	if p.http, err = httpd.Listen(set.Supervisor.HTTPAddr, "http_addr in the supervisor block (SVC_SUPERVISOR_HTTP_ADDR)", p.log); err != nil {
		return err
	}
	p.closers = append(p.closers, func() {
		end, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		_ = p.http.Shutdown(end)
	})
	p.http.LimitConnections(httpd.ConnectionLimits{Total: maxConnections, Each: maxConnections / 2, Clients: clients})
	err = p.http.Mount([]httpd.Mount{newMount(p.supervisor, console, access.Forward.UserHeader)}, httpd.Options{
		Logger: p.log, Clients: clients, Guard: access.ForwardGuard(), Secure: access.Secure,
		Streams: httpd.NewStreamLimits(maxStreams, maxStreams),
		Bodies:  httpd.NewBodyBudget(httpd.DefaultBodyBudget, httpd.DefaultBodyBudgetEach),
	})
	if err != nil {
		return err
	}
	if set.OpenToAll() {
		p.log.Warn("allow_anonymous_in_dev is on: anyone who can reach the supervisor can replace the core; never use it in production")
	}
	if access.TrustsOpenLoopback(set.Supervisor.HTTPAddr) {
		p.log.Warn("identity headers from this host are trusted, and the port is open to others: set proxy_secret (SVC_AUTH_PROXY_SECRET), or bind http_addr to 127.0.0.1")
	}
	p.http.Serve()
	return nil
}

// newMount returns all that the supervisor serves: its endpoints with their document, and the pages.
func newMount(s *Supervisor, console *pages, identity string) httpd.Mount {
	routes := newAPI(s, console.base, console.about.Version, identity).Routes()
	return httpd.Mount{Service: serviceName, BaseURL: console.base, Routes: append(routes, console.listRoutes()...), Errors: console.kit.Fail}
}

// Addr is the address in use.
func (p *Process) Addr() string { return p.http.Addr() }

// Logger is the supervisor's logger.
func (p *Process) Logger() hclog.Logger { return p.log }

// Failed gets the error if the listener breaks: the supervisor must end.
func (p *Process) Failed() <-chan error { return p.http.Failed() }

// Close ends the supervisor. An operation that runs goes on at the next start.
func (p *Process) Close() { p.closeAll() }

func (p *Process) closeAll() {
	for i := len(p.closers) - 1; i >= 0; i-- {
		p.closers[i]()
	}
	p.closers = nil
}
