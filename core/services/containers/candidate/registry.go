package candidate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// registries asks registries for the service: it chooses the instance for a host, bounds the requests to one host, tries
// again where a registry limits them, and leaves a host alone that goes on limiting.
type registries struct {
	base

	mu    sync.Mutex
	hosts map[string]*registryHost
	lists tagLists
	// served is which instance serves a host.
	served map[string]client.Registry
	// restored tells that the cool-downs of an earlier process were read.
	restored bool
}

// registryHost is one registry.
type registryHost struct {
	slots chan struct{}
	until time.Time
}

func newRegistries(b base) *registries {
	r := &registries{base: b}
	r.resetHosts()
	return r
}

// resetHosts forgets the choice of instances and the bounds, which settings change; cool-downs stay.
func (r *registries) resetHosts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.hosts
	r.hosts, r.served = map[string]*registryHost{}, map[string]client.Registry{}
	for name, h := range old {
		r.hostState(name).until = h.until
	}
}

// hostState returns the state of a host, which it creates if needed. The caller holds the mutex.
func (r *registries) hostState(name string) *registryHost {
	h := r.hosts[name]
	if h == nil {
		h = &registryHost{slots: make(chan struct{}, max(1, r.cfg.Settings().PerHost))}
		r.hosts[name] = h
	}
	return h
}

// CoolingHosts returns the registries that are not asked for a while, each with the end of that time.
func (r *registries) CoolingHosts(ctx context.Context) map[string]time.Time {
	r.restoreCooldowns(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Time{}
	for name, h := range r.hosts {
		if h.until.After(r.cfg.Now()) {
			out[name] = h.until
		}
	}
	return out
}

// instanceFor returns the registry instance that serves a host.
func (r *registries) instanceFor(ctx context.Context, host string) (client.Registry, error) {
	r.mu.Lock()
	in := r.served[host]
	r.mu.Unlock()
	if in != nil {
		return in, nil
	}
	var failed error
	for _, in := range r.cfg.Registries() {
		hosts, err := in.Hosts(ctx)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, h := range hosts {
			if h == host {
				return r.rememberInstance(host, in), nil
			}
		}
		if len(hosts) == 0 {
			return r.rememberInstance(host, in), nil
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, fault.New(fault.Unprocessable, "No registry reader serves %s: add the host to one in plugin.hcl.", host)
}

func (r *registries) rememberInstance(host string, in client.Registry) client.Registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.served[host] = in
	return in
}

// acquireSlot waits for a slot of the host.
func (r *registries) acquireSlot(ctx context.Context, name string) (leave func(), err error) {
	r.restoreCooldowns(ctx)
	r.mu.Lock()
	h := r.hostState(name)
	until := h.until
	r.mu.Unlock()
	if left := until.Sub(r.cfg.Now()); left > 0 {
		return nil, fault.Wrap(failure.ErrCooling, fault.UpstreamUnavailable, "The registry %s is rate limited; next check after %s.",
			name, store.FormatTime(until)).WithRetryAfter(left)
	}
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// coolDown leaves a host alone for a while, also in the next process.
func (r *registries) coolDown(ctx context.Context, name string) {
	pause := time.Duration(r.cfg.Settings().Cooldown) * time.Second
	until := r.cfg.Now().Add(pause)
	r.mu.Lock()
	r.hostState(name).until = until
	r.mu.Unlock()
	r.cfg.Logger.Warn("registry rate limited, pausing", "host", name, "for", pause)
	if err := r.store.storeCooldown(context.WithoutCancel(ctx), name, store.Millis(until), r.nowMillis()); err != nil {
		r.cfg.Logger.Warn("cannot store the pause of a registry", "host", name, "error", err)
	}
}

// restoreCooldowns reads once what an earlier process has left. If the database refuses, the next call tries again.
func (r *registries) restoreCooldowns(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.restored {
		return
	}
	stored := map[string]int64{}
	if _, err := r.store.ReadSetting(ctx, settingCooldowns, &stored); err != nil {
		r.cfg.Logger.Warn("cannot read paused registries", "error", err)
		return
	}
	r.restored = true
	latest := r.cfg.Now().Add(time.Duration(r.cfg.Settings().Cooldown) * time.Second)
	for name, stored := range stored {
		until := store.FromMillis(stored)
		if until.After(latest) {
			r.cfg.Logger.Warn("registry pause shortened, the clock was wrong", "host",
				name, "until", until)
			until = latest
		}
		if h := r.hostState(name); h.until.IsZero() {
			h.until = until
		}
	}
}

// isRateLimited reports whether err says that a registry limits requests, and returns the pause that it asks for.
func isRateLimited(err error) (after time.Duration, yes bool) {
	if err == nil || errors.Is(err, failure.ErrCooling) {
		return 0, false
	}
	e := errs.From(err)
	after = e.RetryAfter
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		after = max(after, f.RetryAfter)
	}
	return after, e.Code == codes.ResourceExhausted
}

// askRegistry makes one request to a registry, and again if it is limited.
func askRegistry[T any](ctx context.Context, r *registries, host string,
	call func(context.Context, client.Registry, registry.Access) (T, error)) (out T, err error) {
	return requestWithRetry(ctx, r, host, func(error) bool { return false }, call)
}

// requestWithRetry makes one request to a registry, and again if it is limited or retry holds for its error: after the pause that the
// registry asks for, or one that doubles, neither longer than the settings allow. The settings bound the attempts, whatever
// their errors; a host that limits the last one is left alone.
func requestWithRetry[T any](ctx context.Context, r *registries, host string, retry func(error) bool,
	call func(context.Context, client.Registry, registry.Access) (T, error)) (out T, err error) {
	in, err := r.instanceFor(ctx, host)
	if err != nil {
		return out, err
	}
	set := r.cfg.Settings()
	access := registry.Access{DockerConfig: set.DockerConfig}
	pause, longest := time.Duration(set.RetryBaseMS)*time.Millisecond, time.Duration(max(set.RetryBaseMS, set.RetryMaxMS))*time.Millisecond
	for attempt := int64(1); ; attempt++ {
		leave, err := r.acquireSlot(ctx, host)
		if err != nil {
			return out, err
		}
		out, err = call(ctx, in, access)
		leave()
		after, busy := isRateLimited(err)
		if err == nil || ctx.Err() != nil || !busy && !retry(err) {
			return out, err
		}
		if attempt >= set.RetryAttempts {
			if busy {
				r.coolDown(ctx, host)
			}
			return out, err
		}
		wait := min(pause<<min(attempt-1, 20), longest)
		wait = min(wait+rand.N(wait/2+1), longest)
		if after > 0 {
			wait = min(after, longest)
		}
		if err := event.Sleep(ctx, wait); err != nil {
			return out, err
		}
	}
}

// resolveRef returns what a reference resolves to, with retries. The details of the kept digests are not asked for, so that an
// unchanged tag costs one request; their platforms are those that are given.
func (r *registries) resolveRef(ctx context.Context, ref image.Ref, platform record.Platform,
	kept map[string][]record.ManifestPlatform) (*registry.Resolved, error) {
	digests := slices.Sorted(maps.Keys(kept))
	got, err := requestWithRetry(ctx, r, ref.Host, failure.IsTransient,
		func(ctx context.Context, in client.Registry, a registry.Access) (*registry.Resolved, error) {
			return in.Resolve(ctx, registry.ResolveRequest{Access: a, Ref: ref.String(), Known: digests, Platform: platform.String()})
		})
	if err != nil {
		return nil, err
	}
	if !got.Detailed {
		got.Platforms = toPlatforms(kept[got.Digest])
		got.PlatformDigest = choosePlatform(got.Platforms, platform, got.Digest)
		return got, nil
	}
	if err := r.store.cacheManifest(ctx, got.Digest, fromPlatforms(got.Platforms), r.nowMillis()); err != nil {
		return nil, fmt.Errorf("keep a manifest: %w", err)
	}
	return got, nil
}

// tagLists keeps the tags of repositories for a while.
type tagLists struct {
	mu   sync.Mutex
	list map[string]tagList
}

type tagList struct {
	at   time.Time
	tags []string
}

// getFresh returns the tags of a repository if they were read less than age ago, else nil.
func (t *tagLists) getFresh(repo string, now time.Time, age time.Duration) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l, ok := t.list[repo]; ok && now.Sub(l.at) < age {
		return l.tags
	}
	return nil
}

func (t *tagLists) putTags(repo string, tags []string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil || len(t.list) > 2000 {
		t.list = map[string]tagList{}
	}
	t.list[repo] = tagList{at: now, tags: tags}
}

func (t *tagLists) forgetRepo(repo string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, repo)
}
