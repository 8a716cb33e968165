package candidate

import (
	"cmp"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Snapshot is which tags stand for a digest.
type Snapshot struct {
	Digest      string   `json:"digest"`
	Tags        []string `json:"tags"`
	ResolvedTag string   `json:"resolvedTag,omitempty"`
	CheckedAt   api.Time `json:"checkedAt"`
	Scan        Scan     `json:"scan"`
	Stale       bool     `json:"stale,omitempty"`
}

// digestFor is the digest that a request for a service is about: the one that is named, which must be the service's, or the
// one that runs.
func digestFor(svc *record.Service, asked string) (string, error) {
	if asked == "" {
		asked = cmp.Or(svc.RuntimeDigest, svc.CandidateDigest)
	}
	if asked == "" || asked != svc.RuntimeDigest && asked != svc.CandidateDigest {
		return "", fault.New(fault.NotFound, "The digest is neither the running one nor the candidate.")
	}
	return asked, nil
}

// DigestTags is the snapshot of a service's digest; nil while it is being made.
func (c *Candidates) DigestTags(ctx context.Context, serviceID, asked string) (digest string, snap *Snapshot, err error) {
	svc, err := c.store.FindService(ctx, serviceID)
	if err != nil {
		return "", nil, err
	}
	if digest, err = digestFor(&svc, asked); err != nil {
		return "", nil, err
	}
	platform, err := c.hostPlatform(ctx)
	if err != nil {
		return "", nil, err
	}
	ref := svc.ImageRef()
	rec, err := c.store.SnapshotByKey(ctx, VersionKey{ref.Repo(), digest, platform.String()})
	if err != nil {
		return "", nil, fmt.Errorf("read the snapshot: %w", err)
	}
	if rec == nil || !rec.isFresh(c.nowMillis()) {
		c.FindVersion(ref, digest, platform, cmp.Or(map[bool]string{true: "stale"}[rec != nil], "missing"))
		return digest, nil, nil
	}
	return digest, rec.toSnapshot(c.nowMillis()), nil
}

func (r *snapshotRecord) toSnapshot(now int64) *Snapshot {
	return &Snapshot{Digest: r.Digest, Tags: append([]string{}, r.Tags...), ResolvedTag: r.Version, CheckedAt: api.TimeOfMillis(r.CheckedAt),
		Scan: r.Scan, Stale: !r.isFresh(now)}
}

// DigestVersion returns which tags stand for a digest of a service; nil while that is being found out.
func (c *Candidates) DigestVersion(ctx context.Context, serviceID, digest string) (*project.DigestVersion, error) {
	_, snap, err := c.DigestTags(ctx, serviceID, digest)
	if err != nil || snap == nil {
		return nil, err
	}
	return &project.DigestVersion{Tags: snap.Tags, ResolvedTag: snap.ResolvedTag, CheckedAt: snap.CheckedAt}, nil
}

// RefreshInference has the version behind a digest looked for again.
func (c *Candidates) RefreshInference(ctx context.Context, serviceID, digest string) (image.Ref, string, error) {
	svc, err := c.store.FindService(ctx, serviceID)
	if err != nil {
		return image.Ref{}, "", err
	}
	if !image.ValidDigest(digest) {
		return image.Ref{}, "", record.InvalidField("digest", "The digest must be sha256: and 64 hexadecimal digits.")
	}
	if digest, err = digestFor(&svc, digest); err != nil {
		return image.Ref{}, "", err
	}
	platform, err := c.hostPlatform(ctx)
	if err != nil {
		return image.Ref{}, "", err
	}
	ref := svc.ImageRef()
	c.registries.lists.forgetRepo(ref.Repo())
	if c.FindVersion(ref, digest, platform, "force") == "running" {
		return ref, "running", nil
	}
	return ref, "force", nil
}

// CollectGarbage deletes snapshots and manifests that were not used for long.
func (f *inference) CollectGarbage(ctx context.Context) error {
	began := f.cfg.Now()
	before := began.Add(-snapshotKeep).UnixMilli()
	deleted, err := f.store.deleteSnapshots(ctx, before)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gc = GCState{LastRunAt: api.TimeOf(began), LastDeleted: deleted, LastDurationMS: f.cfg.Now().Sub(began).Milliseconds()}
	if err != nil {
		f.gc.LastError = "the database refused"
	}
	f.publishEvent("gc_ran", nil, "", nil)
	return err
}
