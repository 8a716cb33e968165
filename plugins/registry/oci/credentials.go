package oci

import (
	"context"
	"errors"
	"sync"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockerauth"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reasons of errors about the Docker client configuration. They come with INVALID_ARGUMENT: the caller named the file, or
// the operator did.
const (
	reasonDockerConfig = "INVALID_DOCKER_CONFIG"
	reasonHelper       = "CREDENTIAL_HELPER"
)

// credential is what belongs to a registry; the zero value is anonymous.
type credential struct{ user, password, identity string }

// credentials remembers what configurations and helpers said, until the file changes or a registry refuses it.
type credentials struct {
	mu    sync.Mutex
	files map[string]*configFile
}

type configFile struct {
	config *dockerauth.Config
	known  map[string]credential
}

func newCredentials() *credentials { return &credentials{files: map[string]*configFile{}} }

// maxFiles bounds how many configurations are remembered.
const maxFiles = 100

// findCredential returns the credentials of a domain in the configuration at path.
func (c *credentials) findCredential(ctx context.Context, path, domain string) (credential, error) {
	if path == "" {
		return credential{}, nil
	}
	f, err := c.loadFile(path)
	if err != nil {
		return credential{}, errs.BadInput(reasonDockerConfig, "%v", err)
	}
	c.mu.Lock()
	got, ok := f.known[domain]
	c.mu.Unlock()
	if ok {
		return got, nil
	}
	user, password, identity, err := f.config.Get(ctx, domain)
	if ctx.Err() != nil {
		return credential{}, contextError(ctx)
	}
	if err != nil {
		return credential{}, errs.BadInput(reasonHelper, "%v", err)
	}
	got = credential{user, password, identity}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(f.known) >= maxSessions {
		clear(f.known)
	}
	f.known[domain] = got
	return got, nil
}

// loadFile loads a configuration if it is not loaded or has changed.
func (c *credentials) loadFile(path string) (*configFile, error) {
	c.mu.Lock()
	f := c.files[path]
	c.mu.Unlock()
	if f != nil && !f.config.Changed() {
		return f, nil
	}
	config, err := dockerauth.Load(path)
	if err != nil {
		return nil, err
	}
	f = &configFile{config: config, known: map[string]credential{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.files) >= maxFiles {
		clear(c.files)
	}
	c.files[path] = f
	return f, nil
}

// forgetCredential has the next findCredential ask again.
func (c *credentials) forgetCredential(path, domain string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.files[path]; f != nil {
		delete(f.known, domain)
	}
}

func invalidConfig(err error) bool {
	var e *errs.Error
	return errors.As(err, &e) && e.Reason == reasonDockerConfig
}
