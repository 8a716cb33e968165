// Package app wires the core: configuration, database, plugins, services, listeners. It is the only package that may
// import all the others.
package app

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config says what to run.
type Config struct {
	// Path is plugin.hcl.
	Path string
	// Env looks environment variables up.
	Env config.Env
	// Version is the core's own.
	Version string
	// RetryEvery is the pause between attempts to build the instances that were left out (15 s).
	RetryEvery time.Duration
	// Logger overrides the one that the configuration asks for. Nothing is taken out of what it gets.
	Logger hclog.Logger
	// LogOutput is where the log goes (standard error), without the secrets that are known.
	LogOutput io.Writer
}

// configSource returns the configuration that is read at the start and at each reload.
func (c Config) configSource() settings.Source {
	return settings.Source{Path: c.Path, Env: c.Env, Services: Modules()}
}

// workers are how many jobs run at once: most wait for others, and those that send notifications to channels that hang must
// leave some to the rest.
const workers = 16

// App is a running core.
type App struct {
	cfg     Config
	began   time.Time
	log     hclog.Logger
	redact  *secret.Redactor
	set     *settings.Settings
	store   *store.Store
	cluster *cluster.Cluster
	keyring *secret.Keyring
	host    *host.Host
	catalog *catalog.Catalog
	bus     *event.Bus
	queue   *queue.Queue
	// startedQueue is queue once it has started.
	startedQueue atomic.Pointer[queue.Queue]
	notify       *notify.Sender
	channels     *channels.Manager
	users        *auth.Users
	registry     *prometheus.Registry
	metrics      *pluginMetrics
	shared       *coreMetrics
	services     []runningService
	http         *httpd.Server
	admin        *httpd.Server
	clients      *httpd.Clients
	streams      *httpd.StreamLimits
	bodies       *httpd.BodyBudget
	secrets      ui.Secrets
	// tracer begins the spans of requests and jobs, and traceEnv returns the variables by which plugins are traced. Both are nil
	// unless there is an exporter.
	tracer   trace.Tracer
	traceEnv func(plugin string) []string
	// inUse are the settings that requests are answered by.
	inUse atomic.Pointer[settings.Settings]

	outcome reloadOutcome
	backups backupOutcome
	absent  absences
	changes changes
	plugins pluginList
	// res is the resolver of the settings in use.
	res *settings.Resolver

	reload   sync.Mutex
	retiring sync.WaitGroup
	draining bool
	closers  []func()
}

// Start brings the core up. Diagnostics are of the configuration; with errors among them nothing runs. Another error is
// one sentence for the operator.
func Start(ctx context.Context, cfg Config) (app *App, diags config.Diagnostics, err error) {
	gin.SetMode(gin.ReleaseMode)
	a := &App{cfg: cfg, began: time.Now(), registry: prometheus.NewRegistry(), bus: event.NewBus(), redact: secret.NewRedactor()}
	a.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.shared = newCoreMetrics(a.registry)
	a.closers = append(a.closers, a.bus.Close)
	defer func() {
		if err != nil || diags.HasErrors() {
			a.closeAll()
			app = nil
		}
	}()
	set, res, diags, err := cfg.configSource().Load(ctx)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	if diags = append(diags, set.CheckBackupFolder()...); diags.HasErrors() {
		return nil, diags, nil
	}
	a.set = set
	a.inUse.Store(set)
	a.learnSecrets(set, res)
	a.log = cfg.Logger
	if a.log == nil {
		a.log = a.newLogger(set.Core)
	}
	a.log.Info("configuration read", "file", set.ConfigPath())
	a.openTraces(ctx)
	// A start goes on while the disk is full: otherwise nobody could delete anything after a restart.
	ctx = store.Essential(ctx)
	if err := a.openStore(ctx); err != nil {
		return nil, diags, err
	}
	if err := a.openHost(); err != nil {
		return nil, diags, err
	}
	change, absent, found, err := a.prepareInstances(ctx, set, res)
	diags = append(diags, found...)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	if err := a.startWork(ctx, change); err != nil {
		change.Abort()
		return nil, diags, err
	}
	a.res = res
	a.absent.replaceAll(absent)
	if err := a.startListeners(ctx); err != nil {
		return nil, diags, err
	}
	a.startOperator()
	a.watchAbsent()
	a.watchHealth()
	return a, diags, nil
}

// openHost makes the plugin host and the catalog of instances.
func (a *App) openHost() (err error) {
	a.metrics = newPluginMetrics(a.registry, a.log.ResetNamed("calls"))
	a.host, err = host.New(host.Config{
		Logger: a.log, PluginLogLevel: a.set.Core.LogLevel, SocketDir: a.set.Core.SocketDir, DataDir: a.set.DataDir,
		Redact: a.redact.Values, Env: a.traceEnv,
	})
	if err != nil {
		return err
	}
	a.metrics.statuses, a.metrics.instances, a.metrics.outcome = a.host.Statuses, a.instanceStates, &a.outcome
	a.catalog = catalog.New(catalog.Config{
		Host: a.host, Logger: a.log, Version: a.cfg.Version, UserAgent: "patchbay/" + a.cfg.Version,
		Protected: a.set.Protected(), Drain: a.set.Core.Drain,
	})
	a.closers = append(a.closers, a.host.Close, a.retiring.Wait, a.catalog.Close)
	return nil
}

// startWork puts the instances of a change into use and opens, on them, all that works in the background.
func (a *App) startWork(ctx context.Context, change *catalog.Change) (err error) {
	if _, err := change.Commit(ctx); err != nil {
		return err
	}
	a.users, err = auth.New(auth.Config{Store: a.store, Keyring: a.keyring, Logger: a.log.ResetNamed("auth"), Scopes: module.Names(Modules()),
		Grants: module.Grants(Modules())})
	if err != nil {
		return err
	}
	if err := a.openNotify(); err != nil {
		return err
	}
	a.queue, err = queue.New(queue.Config{Store: a.store, Bus: a.bus, Logger: a.log.ResetNamed("queue"), Workers: workers,
		Cluster: a.cluster, NoSchedules: !a.set.Core.Schedules, Held: a.cluster.Draining, Ended: a.shared.observeJob, Tracer: a.tracer})
	if err != nil {
		return err
	}
	watchQueue(a.registry, a.queue)
	a.notify.Use(a.queue)
	if err := a.openServices(ctx); err != nil {
		return err
	}
	if err := a.queue.Start(ctx); err != nil {
		return err
	}
	a.startedQueue.Store(a.queue)
	a.closers = append(a.closers, func() {
		stop, cancel := context.WithTimeout(context.Background(), a.set.Core.Drain)
		defer cancel()
		_ = a.queue.Stop(stop)
	})
	if err := a.startServices(ctx); err != nil {
		return err
	}
	a.watchDatabase()
	a.watchDamage()
	a.users.OnChange(a.usersChanged)
	return nil
}

// usersChanged has the services hear of users who were disabled or enabled.
func (a *App) usersChanged() {
	ctx, cancel := context.WithTimeout(context.Background(), adminEnd)
	defer cancel()
	if err := a.refreshServices(ctx); err != nil {
		a.log.Error("cannot apply a change of users, retrying", "error", err)
	}
	_ = a.cluster.Publish(ctx, auth.TopicUsers, "")
}

// watchDatabase has the services take in what the command line writes while the core runs.
func (a *App) watchDatabase() {
	a.runUntilClosed(func(ctx context.Context) {
		err := a.store.Watch(ctx, 0, func() {
			if err := errors.Join(a.cluster.Refresh(ctx), a.refreshServices(ctx)); err != nil && ctx.Err() == nil {
				a.log.Error("cannot apply changes from the database", "error", err)
			}
		})
		if ctx.Err() == nil {
			a.log.Error("stopped watching the database for changes", "error", err)
		}
	})
}

// runUntilClosed runs f in the background. Its context ends when what was opened before is about to be closed, which waits for f.
func (a *App) runUntilClosed(f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { f(ctx) })
	a.closers = append(a.closers, func() { cancel(); loop.Wait() })
}

// closeAll closes what was opened, the newest first.
func (a *App) closeAll() {
	for i := len(a.closers) - 1; i >= 0; i-- {
		a.closers[i]()
	}
	a.closers = nil
}

// adminEnd is how long requests to the admin listener may take at the end.
const adminEnd = time.Second

// Close drains the requests and ends everything. Requests get the time that the configuration gives them; those that take
// longer are cut off, which is no error.
func (a *App) Close() error {
	a.absent.stopRetries()
	a.reload.Lock()
	defer a.reload.Unlock()
	a.draining = true
	ctx, cancel := context.WithTimeout(context.Background(), a.set.Core.Drain)
	defer cancel()
	err := a.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("requests cut off at the drain timeout", "drain", a.set.Core.Drain)
		err = nil
	}
	a.closeAll()
	end, stop := context.WithTimeout(context.Background(), adminEnd)
	defer stop()
	if last := a.admin.Shutdown(end); !errors.Is(last, context.DeadlineExceeded) {
		err = errors.Join(err, last)
	}
	return err
}

// Failed reports a listener or lock that was lost: the core must end.
func (a *App) Failed() <-chan error {
	out := make(chan error, 1)
	go func() {
		select {
		case err := <-a.http.Failed():
			out <- err
		case err := <-a.admin.Failed():
			out <- err
		case <-a.store.LockLost():
			out <- errors.New("the lock on the database was lost")
		case <-a.cluster.Lost():
			out <- errors.New("another core has taken the node id of this one")
		}
	}()
	return out
}

// Addr and AdminAddr are the addresses in use.
func (a *App) Addr() string { return a.http.Addr() }

// AdminAddr is the address of the admin listener.
func (a *App) AdminAddr() string { return a.admin.Addr() }

// Logger is the core's logger.
func (a *App) Logger() hclog.Logger { return a.log }
