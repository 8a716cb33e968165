package oci

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// settings are those of an instance.
type settings struct {
	hosts, insecure []string
	dockerConfig    string
	timeout         time.Duration
	now             func() time.Time
	log             hclog.Logger
}

// reader implements registry.Registry.
type reader struct {
	settings
	http  *httpx.Client
	creds *credentials

	mu       sync.Mutex
	sessions map[sessionKey]*session
}

// sessionKey is a registry with the configuration that its credentials come from.
type sessionKey struct{ domain, dockerConfig string }

func newReader(s settings, client *httpx.Client) *reader {
	return &reader{settings: s, http: client, creds: newCredentials(), sessions: map[sessionKey]*session{}}
}

// maxSessions bounds what is remembered; a caller chooses references and configurations.
const maxSessions = 1000

// sessionFor returns the session with a registry. It is made at the first request and kept.
func (r *reader) sessionFor(n name, access registry.Access) (*session, error) {
	if len(r.hosts) > 0 && !slices.Contains(r.hosts, n.domain) {
		return nil, errs.BadInput(registry.ReasonInvalidReference, "%s is not among the registries of this instance", n.domain)
	}
	key := sessionKey{n.domain, access.DockerConfig}
	if key.dockerConfig == "" {
		key.dockerConfig = r.dockerConfig
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[key]; s != nil {
		return s, nil
	}
	if len(r.sessions) >= maxSessions {
		clear(r.sessions)
	}
	s := &session{reader: r, key: key, host: apiHost(n.domain), scheme: "https", tokens: map[string]*token{}}
	if isLoopback(n.domain) || slices.Contains(r.insecure, n.domain) {
		s.scheme = "http"
	}
	r.sessions[key] = s
	return s, nil
}

// Hosts implements registry.Registry.
func (r *reader) Hosts(context.Context) ([]string, error) { return slices.Clone(r.hosts), nil }

// maxAsked is how many hosts Credentials looks up at most.
const maxAsked = 1000

// Credentials implements registry.Registry.
func (r *reader) Credentials(ctx context.Context, access registry.Access, hosts []string) (out []string, err error) {
	if len(hosts) > maxAsked {
		return nil, errs.BadInput(registry.ReasonInvalidRequest, "there are more than %d hosts", maxAsked)
	}
	path := access.DockerConfig
	if path == "" {
		path = r.dockerConfig
	}
	for _, h := range hosts {
		domain, err := parseDomain(h)
		if err != nil {
			continue
		}
		c, err := r.creds.findCredential(ctx, path, domain)
		switch {
		case ctx.Err() != nil:
			return nil, contextError(ctx)
		case invalidConfig(err):
			return nil, err
		case err == nil && c != (credential{}):
			out = append(out, h)
		}
	}
	return out, nil
}

// String is the registry for messages.
func (s *session) String() string { return s.key.domain }
