package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Image is what a tag of a Registry stands for.
type Image struct {
	// Digest is that of the index or the single manifest; Platforms are those of an index, or the one of a manifest.
	Digest    string
	Platforms []registry.Platform
	// Config is what Config answers; its Digest is filled in if it is empty.
	Config registry.ImageConfig
}

// RegistryCall is one call of a Registry, also one that failed.
type RegistryCall struct {
	// Method is "resolve", "tags" or "config".
	Method string
	// Ref is the reference, or the repository for "tags".
	Ref          string
	Known        []string
	Platform     string
	DockerConfig string
	Err          error
}

// Registry is a double of client.Registry: registries in memory. It is safe for concurrent use.
type Registry struct {
	mu          sync.Mutex
	hosts       []string
	images      map[string]map[string]Image
	tags        map[string][]string
	credentials []string
	down        map[string]error
	queued      map[string][]error
	before      func(RegistryCall)
	calls       []RegistryCall
}

var _ client.Registry = (*Registry)(nil)

// NewRegistry makes an empty double that serves hosts; none means any.
func NewRegistry(hosts ...string) *Registry {
	return &Registry{
		hosts: hosts, images: map[string]map[string]Image{}, tags: map[string][]string{},
		down: map[string]error{}, queued: map[string][]error{},
	}
}

// Set makes a tag of a repository (host/name) stand for an image. New tags are listed after those that are there.
func (r *Registry) Set(repository, tag string, image Image) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.images[repository] == nil {
		r.images[repository] = map[string]Image{}
	}
	if _, ok := r.images[repository][tag]; !ok {
		r.tags[repository] = append(r.tags[repository], tag)
	}
	r.images[repository][tag] = image
}

// Remove takes a tag away.
func (r *Registry) Remove(repository, tag string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.images[repository], tag)
	r.tags[repository] = slices.DeleteFunc(slices.Clone(r.tags[repository]), func(t string) bool { return t == tag })
}

// Down makes all calls to a host fail with err until it is called with nil. RegistryLimited and others make such errors.
func (r *Registry) Down(host string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down[host] = err
}

// Fail appends what the next calls to a host end with, one each; nil lets one pass.
func (r *Registry) Fail(host string, errs ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queued[host] = append(r.queued[host], errs...)
}

// Before sets what is called before each call, without a lock held; it may wait.
func (r *Registry) Before(f func(RegistryCall)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = f
}

// SetCredentials names the hosts for which there are credentials.
func (r *Registry) SetCredentials(hosts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.credentials = hosts
}

// Calls are the calls so far, in order.
func (r *Registry) Calls() []RegistryCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// beginCall records a call and returns with the lock held, or with the call's error and without the lock.
func (r *Registry) beginCall(ctx context.Context, c RegistryCall) error {
	r.mu.Lock()
	before := r.before
	r.mu.Unlock()
	if before != nil {
		before(c)
	}
	if ctx.Err() != nil {
		return fault.FromPlugin("registry.fake", ctx.Err())
	}
	r.mu.Lock()
	host, _, _ := strings.Cut(c.Ref, "/")
	c.Err = r.down[host]
	if q := r.queued[host]; len(q) > 0 {
		c.Err, r.queued[host] = q[0], q[1:]
	}
	r.calls = append(r.calls, c)
	if c.Err != nil {
		r.mu.Unlock()
	}
	return c.Err
}

// findImage returns the image of a reference, by its tag or by a digest that one of the repository's tags has.
func (r *Registry) findImage(ref string) (Image, error) {
	if repository, digest, ok := strings.Cut(ref, "@"); ok {
		for _, image := range r.images[repository] {
			if image.Digest == digest || slices.ContainsFunc(image.Platforms, func(p registry.Platform) bool { return p.Digest == digest }) {
				return image, nil
			}
		}
		return Image{}, RegistryMissing(ref)
	}
	repository, tag := ref, "latest"
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		repository, tag = ref[:i], ref[i+1:]
	}
	image, ok := r.images[repository][tag]
	if !ok {
		return Image{}, RegistryMissing(ref)
	}
	return image, nil
}

func upstreamError(code codes.Code, status int, ref, text string) *errs.Error {
	host, _, _ := strings.Cut(ref, "/")
	e := errs.New(errs.Upstream, code, errs.ReasonStatus, "%s", fmt.Sprintf("%s: %s", ref, text))
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(status), Host: host}
	return e
}
