package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// inferVersion finds the tags of a digest. It tries the newest versions first, until one matches and its shorter aliases were
// tried.
func (f *inference) inferVersion(ctx context.Context, key VersionKey, t *inferTask) (*snapshotRecord, error) {
	snap := &snapshotRecord{Repo: key.Repo, Digest: key.Digest, Platform: key.Platform, Tags: []string{}, CheckedAt: f.nowMillis()}
	all, err := f.registries.listTags(ctx, t.ref, tagsFor)
	if err != nil {
		return nil, err
	}
	platform, err := record.ParsePlatform(key.Platform)
	if err != nil {
		return nil, err
	}
	tags := candidateTags(t.ref.Tag, all, inferTags)
	snap.Scan = Scan{TagsTotal: len(all), Considered: len(tags)}
	var last time.Time
	for i := 0; i < len(tags); i++ {
		fits, err := f.tagMatchesDigest(ctx, t.ref.WithTag(tags[i]), t.ref, tags[i], key.Digest, platform)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			snap.Scan.Timeout++
		case err != nil:
			snap.Scan.Error++
			if _, busy := isRateLimited(err); busy || errors.Is(err, failure.ErrCooling) {
				return nil, fmt.Errorf("ask what %s stands for: %w", tags[i], err)
			}
		default:
			snap.Scan.OK++
		}
		if fits {
			snap.Tags = append(snap.Tags, tags[i])
			if version.Strict(tags[i]) {
				tags = append(tags[:i+1], aliasTags(tags[i], tags[i+1:])...)
			}
		}
		if now := time.Now(); now.Sub(last) >= inferPause || i == len(tags)-1 {
			last = now
			f.reportProgress(t, i+1, len(tags))
		}
	}
	snap.Failed = snap.Scan.Considered > 0 && snap.Scan.OK == 0
	snap.Version = version.Resolve(snap.Tags, t.ref.Tag)
	if snap.Version == "" && !snap.Failed {
		snap.Version = f.imageLabel(ctx, t.ref.WithDigest(key.Digest), t.ref.Host, key.Platform)
	}
	return snap, nil
}

func (f *inference) reportProgress(t *inferTask, current, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Progress = &InferenceProgress{Current: current, Total: total, Percent: 100 * current / max(1, total)}
	t.UpdatedAt = api.TimeOf(f.cfg.Now())
	f.publishEvent("task_progress", t, "", nil)
}

// tagMatchesDigest reports whether a tag resolves to a digest, that of the index or of the platform's manifest.
func (f *inference) tagMatchesDigest(ctx context.Context, name string, ref image.Ref, tag, digest string,
	platform record.Platform) (bool, error) {
	f.mu.Lock()
	k, ok := f.known[name]
	f.mu.Unlock()
	if !ok || f.cfg.Now().Sub(k.at) > digestsFor || !version.Strict(tag) {
		res, err := askRegistry(ctx, f.registries, ref.Host,
			func(ctx context.Context, in client.Registry, a registry.Access) (*registry.Resolved, error) {
				return in.Resolve(ctx, registry.ResolveRequest{Access: a, Ref: name, Platform: platform.String(), DigestOnly: true})
			})
		if err != nil {
			return false, err
		}
		k = knownTag{digest: res.Digest, at: f.cfg.Now()}
		f.mu.Lock()
		if len(f.known) > 50000 {
			f.known = map[string]knownTag{}
		}
		f.known[name] = k
		f.mu.Unlock()
	}
	return k.digest == digest || f.cfg.Projects.RunsDigest(ctx, []string{digest}, k.digest), nil
}

// imageLabel returns the version in the image's labels, or "" if there is none or the image cannot be read.
func (f *inference) imageLabel(ctx context.Context, ref, host, platform string) string {
	cfg, err := askRegistry(ctx, f.registries, host,
		func(ctx context.Context, in client.Registry, a registry.Access) (*registry.ImageConfig, error) {
			return in.Config(ctx, registry.ConfigRequest{Access: a, Ref: ref, Platform: platform})
		})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(cfg.Labels[project.LabelVersion])
}

// AwaitVersions waits until no search for the digests is queued or running, at most for the given time.
func (f *inference) AwaitVersions(ctx context.Context, digests []string, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		var pending chan struct{}
		f.mu.Lock()
		for key, t := range f.tasks {
			if slices.Contains(digests, key.Digest) {
				pending = t.done
			}
		}
		f.mu.Unlock()
		if pending == nil {
			return
		}
		select {
		case <-pending:
		case <-ctx.Done():
			return
		}
	}
}

// FindVersions runs the search for the versions behind digests until ctx ends.
func (f *inference) FindVersions(ctx context.Context) {
	slots := make(chan struct{}, inferWorkers)
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		key, t := f.nextTask()
		if t == nil {
			select {
			case <-ctx.Done():
				return
			case <-f.wake:
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		workers.Go(func() {
			defer func() { <-slots }()
			f.runTask(ctx, key, t)
		})
	}
}

func (f *inference) nextTask() (VersionKey, *inferTask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return VersionKey{}, nil
	}
	key := f.queue[0]
	f.queue = f.queue[1:]
	return key, f.tasks[key]
}

func (f *inference) runTask(ctx context.Context, key VersionKey, t *inferTask) {
	f.mu.Lock()
	t.Status, t.StartedAt = "running", api.TimeOf(f.cfg.Now())
	t.UpdatedAt = t.StartedAt
	f.publishEvent("task_started", t, "", nil)
	f.mu.Unlock()
	snap, err := f.inferVersion(ctx, key, t)
	if err == nil {
		err = f.store.storeSnapshot(ctx, snap)
	}
	resolved := ""
	if snap != nil {
		resolved = snap.Version
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rememberFailure(key, err != nil && ctx.Err() == nil)
	delete(f.tasks, key)
	t.UpdatedAt = api.TimeOf(f.cfg.Now())
	f.publishEvent("task_finished", t, resolved, err)
	close(t.done)
}

// rememberFailure stores whether the last task of key failed. The caller holds the mutex.
func (f *inference) rememberFailure(key VersionKey, failed bool) {
	if !failed {
		delete(f.failed, key)
		return
	}
	if len(f.failed) >= maxFailed {
		clear(f.failed)
	}
	f.failed[key] = f.cfg.Now()
}
