// Package oci is the registry plugin for whatever speaks the OCI distribution protocol.
//
// It asks with one HEAD request and fetches a manifest only if its digest is new to the caller. What a registry said
// about how it wants to be asked (its challenge, the tokens it gave) is kept while the instance lives, so that a later
// question costs one request. Digests are computed from what arrived and compared with what was promised.
package oci

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockerauth"
	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/registry"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	Hosts        []string      `patchbay:"hosts" doc:"Registries that this instance reads, such as docker.io or registry.example.com:5000; empty means any."`
	Insecure     []string      `patchbay:"insecure" doc:"Registries behind plain HTTP. This machine needs no entry."`
	AllowHosts   []string      `patchbay:"allow_hosts" doc:"Private token servers and blob stores that a registry may lead to: names, addresses or networks; name:port allows that port only. Hosts of the registry itself, of hosts and of insecure need no entry."`
	DockerConfig string        `patchbay:"docker_config" doc:"A Docker client configuration with credentials: the file config.json or its directory."`
	Timeout      time.Duration `patchbay:"timeout,default=8s" doc:"Longest time for one request."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "oci",
		Version: "1.0.0",
		Summary: "Reads image registries that speak the OCI distribution protocol.",
		Documentation: "Credentials come from `docker_config`: `auths`, `credHelpers` and `credsStore` are honoured, and the file is read again when it changes. " +
			"A credential helper must be in the path of the core. Requests are not repeated: the core decides about that.",
		Kinds: []framework.Kind{registry.New(registry.Definition[Config]{Build: buildInstance})},
	}
}

const (
	maxTimeout  = 5 * time.Minute
	dialTimeout = 3 * time.Second
	// maxManifest and the next four bound answers, in bytes.
	maxManifest = 4 << 20
	maxConfig   = 8 << 20
	maxTags     = 8 << 20
	maxToken    = 1 << 20
	maxError    = 8 << 10
	// maxRedirects is how many redirects are followed for one answer.
	maxRedirects = 5
)

func buildInstance(inst registry.Instance, cfg Config) (registry.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	hosts, bad := readDomains("hosts", cfg.Hosts)
	insecure, worse := readDomains("insecure", cfg.Insecure)
	diags = append(append(diags, bad...), worse...)
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: cfg.AllowHosts, AnyPort: true,
		Hint: "allow_hosts in the configuration can permit it"})
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("allow_hosts"), "%v", err)...)
	}
	path := ""
	if cfg.DockerConfig != "" {
		path = resolvePath(inst.BaseDir, cfg.DockerConfig)
		if _, err := dockerauth.Load(path); err != nil {
			diags = append(diags, schema.Errorf(schema.At("docker_config"), "%v", err)...)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (registry.Registry, error) {
		client, err := httpx.New(httpx.Config{
			UserAgent: inst.UserAgent, MaxBody: maxConfig, DialTimeout: dialTimeout, Proxy: true, Guard: guard, Own: parseAddresses(hosts, insecure),
		})
		if err != nil {
			return nil, err
		}
		return newReader(settings{hosts: hosts, insecure: insecure, dockerConfig: path, timeout: cfg.Timeout, now: time.Now, log: inst.Log},
			client), nil
	}, diags
}

func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// parseAddresses returns the addresses of registries that the configuration names.
func parseAddresses(hosts, insecure []string) (own []*url.URL) {
	for _, h := range hosts {
		own = append(own, &url.URL{Scheme: "https", Host: apiHost(h)})
	}
	for _, h := range insecure {
		own = append(own, &url.URL{Scheme: "http", Host: h})
	}
	return own
}

// readDomains reads a list of registry hosts into their usual form.
func readDomains(name string, list []string) (out []string, diags schema.Diagnostics) {
	for i, h := range list {
		if strings.Contains(h, "@") {
			diags = append(diags, schema.Errorf(schema.At(name).Index(i), "must not hold a user or password: credentials stand in docker_config")...)
			continue
		}
		domain, err := parseDomain(h)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At(name).Index(i), "%q: %v", h, err)...)
			continue
		}
		out = append(out, domain)
	}
	return out, diags
}

// Close lets idle connections go.
func (r *reader) Close() error {
	if err := r.http.Close(); err != nil {
		return fmt.Errorf("close connections: %w", err)
	}
	return nil
}
