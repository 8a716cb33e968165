package containers

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

// ProjectSettings are those of the service that are about projects.
type ProjectSettings struct {
	// ImageRepo is the repository of this instance's own image.
	ImageRepo string
	// MinAge is how long a new version must be known before it may be applied, unless its service says otherwise.
	MinAge time.Duration
	// Discovery is the pause between two discoveries, in seconds, MaxActions the most actions that the result of one lists.
	Discovery, MaxActions int64
}

// ProjectConfig is what projects and their discovery need.
type ProjectConfig struct {
	Store  *record.Store
	Host   *host.Host
	Jobs   *work.Queue
	Logger hclog.Logger
	Now    func() time.Time
	// Settings returns those in use.
	Settings func() ProjectSettings
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
	cfg      ProjectConfig
	store    *projectStore
	versions versionFinder
}

// NewProjects returns the projects.
func NewProjects(cfg ProjectConfig) *Projects {
	return &Projects{cfg: cfg, store: &projectStore{cfg.Store}}
}

// UseVersions tells who finds the versions behind digests.
func (p *Projects) UseVersions(v versionFinder) { p.versions = v }

func (p *Projects) now() int64 { return store.Millis(p.cfg.Now()) }
