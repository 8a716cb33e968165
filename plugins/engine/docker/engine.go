package docker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/docker/docker/client"
	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockerauth"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// docker is an instance.
type docker struct {
	cfg        Config
	log        hclog.Logger
	executable func() (string, error)
	now        func() time.Time
	usage      *usage
	probes     *probes
	images     knownImages
	// helper is held by whoever looks for the helper image or makes it.
	helper contextMutex

	mu  sync.Mutex
	api *client.Client
	// engineID is what the engine of api calls itself, once it has been asked.
	engineID string

	// negotiation is held by whoever negotiates or looks at negotiated, the client that knows the version of the engine's API.
	negotiation contextMutex
	negotiated  *client.Client
}

var _ engine.Engine = (*docker)(nil)

func newEngine(cfg Config, log hclog.Logger, executable func() (string, error)) (*docker, error) {
	d := &docker{
		cfg: cfg, log: log, executable: executable, now: time.Now, usage: newUsage(), probes: newProbes(), helper: newContextMutex(),
		negotiation: newContextMutex(),
	}
	// The connection is made with the first call: an engine may come up later than the plugin.
	if _, err := d.connectEngine(); err != nil {
		return nil, err
	}
	return d, nil
}

// connectEngine returns the client of the engine's API.
func (d *docker) connectEngine() (*client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.api != nil {
		return d.api, nil
	}
	// The client's own spans would show whole addresses.
	opts := []client.Opt{client.WithAPIVersionNegotiation(), client.WithTraceProvider(noop.NewTracerProvider())}
	if host := d.engineHost(); host != "" {
		opts = append(opts, client.WithHost(host))
	}
	if dir := d.tlsDir(); dir != "" {
		opts = append(opts, client.WithTLSClientConfig(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"),
			filepath.Join(dir, "key.pem")))
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to the engine: %w", err)
	}
	d.api = api
	return api, nil
}

// engineHost returns the address of the engine; "" means the default socket.
func (d *docker) engineHost() string {
	if d.cfg.Host != "" {
		return d.cfg.Host
	}
	return os.Getenv("DOCKER_HOST")
}

func (d *docker) tlsDir() string {
	if d.cfg.TLSDir == "" && d.cfg.Host == "" && os.Getenv("DOCKER_TLS_VERIFY") != "" {
		return os.Getenv("DOCKER_CERT_PATH")
	}
	return d.cfg.TLSDir
}

// dropClient drops a client whose connection failed: the engine that comes back may speak another version.
func (d *docker) dropClient(api *client.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.api == api {
		_ = api.Close()
		d.api, d.engineID = nil, ""
	}
}

// negotiateVersion agrees with the engine on the version of its API before the first call of a client. A client would do so by itself, but
// others of its calls read meanwhile what it writes. Where the question itself is refused, as by a proxy that lets few calls through, the
// client's own version is used.
func (d *docker) negotiateVersion(ctx context.Context, api *client.Client) error {
	unlock, err := d.negotiation.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if d.negotiated == api {
		return nil
	}
	ping, err := api.Ping(ctx)
	switch {
	case err == nil:
		api.NegotiateAPIVersionPing(ping)
	case isConnectionError(err), ctx.Err() != nil:
		return err
	}
	d.negotiated = api
	return nil
}

// callEngine makes a call to the engine and describes its error. what names the attempt, such as "list the containers".
func (d *docker) callEngine(ctx context.Context, what string, call func(*client.Client) error) error {
	api, err := d.connectEngine()
	if err != nil {
		return errs.Unavailable(errs.ReasonConnect, "%v", err)
	}
	if err = d.negotiateVersion(ctx, api); err == nil {
		err = call(api)
	}
	if err == nil {
		return nil
	}
	if isConnectionError(err) && ctx.Err() == nil {
		d.dropClient(api)
	}
	return describeFailure(ctx, what, err)
}

// Health implements framework's optional check.
func (d *docker) Health(ctx context.Context) error {
	return d.callEngine(ctx, "ask the engine", func(api *client.Client) error {
		_, err := api.Ping(ctx)
		return err
	})
}

// Close ends what is idle.
func (d *docker) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.api == nil {
		return nil
	}
	return d.api.Close()
}

// readAuth reads the Docker client configuration that a call names, or the instance's.
func (d *docker) readAuth(path string) (*dockerauth.Config, error) {
	if path == "" {
		path = d.cfg.DockerConfig
	}
	c, err := dockerauth.Load(path)
	if err != nil {
		return nil, errs.BadInput("INVALID_DOCKER_CONFIG", "%v", err)
	}
	return c, nil
}
