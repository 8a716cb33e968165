// Package project finds the compose projects of the host, keeps what is managed of them, and tells what runs.
package project

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Settings are those of the service that are about projects.
type Settings struct {
	// ImageRepo is the repository of this instance's own image.
	ImageRepo string
	// MinAge is how long a new version must be known before it may be applied, unless its service says otherwise.
	MinAge time.Duration
	// Discovery is the pause between two discoveries, in seconds, MaxActions the most actions that the result of one lists.
	Discovery, MaxActions int64
}

// Config is what projects and their discovery need.
type Config struct {
	Store  *record.Store
	Host   *host.Host
	Jobs   *work.Queue
	Logger hclog.Logger
	Now    func() time.Time
	// Settings returns those in use.
	Settings func() Settings
}

// versionFinder finds the versions behind digests.
type versionFinder interface {
	// DigestVersion returns which tags stand for a digest of a service; nil while that is being found out.
	DigestVersion(ctx context.Context, serviceID, digest string) (*DigestVersion, error)
}

// DigestVersion is which tags stand for a digest.
type DigestVersion struct {
	Tags        []string
	ResolvedTag string
	CheckedAt   api.Time
}

// Projects are the compose projects of the host: what is managed of them, and what runs.
type Projects struct {
	cfg      Config
	store    *Store
	versions versionFinder
}

// New returns the projects.
func New(cfg Config) *Projects {
	return &Projects{cfg: cfg, store: &Store{cfg.Store}}
}

// UseVersions tells who finds the versions behind digests.
func (p *Projects) UseVersions(v versionFinder) { p.versions = v }

func (p *Projects) now() int64 { return store.Millis(p.cfg.Now()) }
