// Package docker is the container engine plugin for Docker Engine 20.10 and newer, and for what speaks its API. It
// drives the engine through its socket and compose through its command, of the first (1.x) or second generation.
package docker

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockerauth"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	Host         string `patchbay:"host" doc:"Address of the engine, such as unix:///var/run/docker.sock or tcp://host:2376. Empty means DOCKER_HOST if the plugin has it, else the default socket."`
	TLSDir       string `patchbay:"tls_dir" doc:"Directory with ca.pem, cert.pem and key.pem for an engine behind TLS."`
	DockerConfig string `patchbay:"docker_config" doc:"Docker client configuration with registry credentials: a file or a directory. Empty means anonymous."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin { return newPlugin(nil) }

// newPlugin returns Plugin with another executable for what runs beside the plugin (see helper.go); nil means this one.
func newPlugin(executable func() (string, error)) framework.Plugin {
	if executable == nil {
		executable = ownExecutable
	}
	return framework.Plugin{
		Name:    "docker",
		Version: "1.0.0",
		Summary: "Drives a Docker engine and compose.",
		Documentation: "The API version is negotiated, and an engine that comes late or restarts is found again. Compose runs as a child process that " +
			"ends with the plugin. Restoring a volume runs a container from an image `patchbay-helper`, made from the plugin itself; nothing is fetched for it.",
		Kinds: []framework.Kind{engine.New(engine.Definition[Config]{Build: func(inst engine.Instance, cfg Config) (engine.Open,
			schema.Diagnostics) {
			return buildInstance(inst, cfg, executable)
		}})},
	}
}

var schemes = []string{"unix", "tcp"}

func buildInstance(inst engine.Instance, cfg Config, executable func() (string, error)) (engine.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	if cfg.Host != "" {
		u, err := url.Parse(cfg.Host)
		switch {
		case err != nil || !slices.Contains(schemes, u.Scheme):
			diags = append(diags, schema.Errorf(schema.At("host"), "must begin with unix:// or tcp://")...)
		case u.User != nil:
			diags = append(diags, schema.Errorf(schema.At("host"), "must not hold a user or password")...)
		case u.Host == "" && u.Path == "":
			diags = append(diags, schema.Errorf(schema.At("host"), "names no socket or host")...)
		}
	}
	absolute := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(inst.BaseDir, path)
	}
	cfg.TLSDir, cfg.DockerConfig = absolute(cfg.TLSDir), absolute(cfg.DockerConfig)
	if cfg.TLSDir != "" && cfg.Host == "" {
		diags = append(diags, schema.Errorf(schema.At("tls_dir"), "needs host")...)
	}
	if cfg.DockerConfig != "" {
		if _, err := dockerauth.Load(cfg.DockerConfig); err != nil {
			diags = append(diags, schema.Warnf(schema.At("docker_config"), "%v", err)...)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (engine.Engine, error) { return newEngine(cfg, inst.Log, executable) }, diags
}
