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
	helper     sync.Mutex

	mu  sync.Mutex
	api *client.Client
}

var _ engine.Engine = (*docker)(nil)

func newEngine(cfg Config, log hclog.Logger, executable func() (string, error)) (*docker, error) {
	d := &docker{cfg: cfg, log: log, executable: executable, now: time.Now, usage: newUsage(), probes: newProbes()}
	// The connection is made with the first call: an engine may come up later than the plugin.
	if _, err := d.dial(); err != nil {
		return nil, err
	}
	return d, nil
}

// dial returns the client of the engine's API.
func (d *docker) dial() (*client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.api != nil {
		return d.api, nil
	}
	// The client's own spans would show whole addresses.
	opts := []client.Opt{client.WithAPIVersionNegotiation(), client.WithTraceProvider(noop.NewTracerProvider())}
	if host := d.host(); host != "" {
		opts = append(opts, client.WithHost(host))
	}
	if dir := d.tlsDir(); dir != "" {
		opts = append(opts, client.WithTLSClientConfig(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")))
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to the engine: %w", err)
	}
	d.api = api
	return api, nil
}

// host is where the engine is; empty means the default socket.
func (d *docker) host() string {
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

// lost forgets a client whose connection failed: the engine that comes back may speak another version.
func (d *docker) lost(api *client.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.api == api {
		_ = api.Close()
		d.api = nil
	}
}

// do makes a call to the engine and puts its error into words; what says what the call is about.
func (d *docker) do(ctx context.Context, what string, call func(*client.Client) error) error {
	api, err := d.dial()
	if err != nil {
		return errs.Unavailable(errs.ReasonConnect, "%v", err)
	}
	if err = call(api); err == nil {
		return nil
	}
	if connection(err) && ctx.Err() == nil {
		d.lost(api)
	}
	return failure(ctx, what, err)
}

// Health implements framework's optional check.
func (d *docker) Health(ctx context.Context) error {
	return d.do(ctx, "ask the engine", func(api *client.Client) error {
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

// auth reads the Docker client configuration that a call names, or the instance's.
func (d *docker) auth(path string) (*dockerauth.Config, error) {
	if path == "" {
		path = d.cfg.DockerConfig
	}
	c, err := dockerauth.Load(path)
	if err != nil {
		return nil, errs.BadInput("INVALID_DOCKER_CONFIG", "%v", err)
	}
	return c, nil
}
