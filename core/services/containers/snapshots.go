package containers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// snapshotRecord is which tags stood for a digest when it was looked at.
type snapshotRecord struct {
	Repo      string   `gorm:"primaryKey"`
	Digest    string   `gorm:"primaryKey"`
	Platform  string   `gorm:"primaryKey"`
	Tags      []string `gorm:"serializer:json"`
	Version   string
	Scan      Scan `gorm:"serializer:json"`
	Failed    bool
	CheckedAt int64
}

// TableName implements gorm's Tabler.
func (snapshotRecord) TableName() string { return "containers_snapshots" }

// isFresh reports whether a snapshot has not expired.
func (r *snapshotRecord) isFresh(now int64) bool {
	age := time.Duration(now-r.CheckedAt) * time.Millisecond
	if r.Failed {
		return age < failedFor
	}
	return age < snapshotFor
}

// keepSnapshot stores a snapshot and gives the services that have its digest the version.
func (s *Service) keepSnapshot(ctx context.Context, snap *snapshotRecord) error {
	return s.repo.Write(ctx, "keep a snapshot of tags", func(_ context.Context, w *gorm.DB) error {
		if err := w.Clauses(clause.OnConflict{UpdateAll: true}).Create(snap).Error; err != nil {
			return err
		}
		if snap.Version == "" {
			return nil
		}
		for _, c := range [][2]string{{"runtime_version", "runtime_digest"}, {"candidate_version", "candidate_digest"}} {
			err := w.Model(&record.Service{}).Where("repo = ? AND "+c[1]+" = ?", snap.Repo, snap.Digest).Update(c[0], snap.Version).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *repository) snapshotByKey(ctx context.Context, key inferKey) (*snapshotRecord, error) {
	var rows []snapshotRecord
	err := r.DB(ctx).Where("repo = ? AND digest = ? AND platform = ?", key.repo, key.digest, key.platform).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func (r *repository) listSnapshots(ctx context.Context) (out []snapshotRecord, err error) {
	err = r.DB(ctx).Order("repo, digest, platform").Find(&out).Error
	return out, err
}

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
		return "", fault.New(fault.NotFound, "The digest is neither the one that runs nor the candidate.")
	}
	return asked, nil
}

// DigestTags is the snapshot of a service's digest; nil while it is being made.
func (s *Service) DigestTags(ctx context.Context, serviceID, asked string) (digest string, snap *Snapshot, err error) {
	svc, err := s.repo.FindService(ctx, serviceID)
	if err != nil {
		return "", nil, err
	}
	if digest, err = digestFor(&svc, asked); err != nil {
		return "", nil, err
	}
	platform, err := s.hostPlatform(ctx)
	if err != nil {
		return "", nil, err
	}
	ref := svc.ImageRef()
	rec, err := s.repo.snapshotByKey(ctx, inferKey{ref.Repo(), digest, platform.String()})
	if err != nil {
		return "", nil, fmt.Errorf("read the snapshot: %w", err)
	}
	if rec == nil || !rec.isFresh(s.now()) {
		s.inference.queueTask(ref, digest, platform, cmp.Or(map[bool]string{true: "stale"}[rec != nil], "missing"))
		return digest, nil, nil
	}
	return digest, rec.toSnapshot(s.now()), nil
}

func (r *snapshotRecord) toSnapshot(now int64) *Snapshot {
	return &Snapshot{Digest: r.Digest, Tags: append([]string{}, r.Tags...), ResolvedTag: r.Version, CheckedAt: api.TimeOfMillis(r.CheckedAt), Scan: r.Scan, Stale: !r.isFresh(now)}
}

// RefreshInference has the version behind a digest looked for again.
func (s *Service) RefreshInference(ctx context.Context, serviceID, digest string) (image.Ref, string, error) {
	svc, err := s.repo.FindService(ctx, serviceID)
	if err != nil {
		return image.Ref{}, "", err
	}
	if !image.ValidDigest(digest) {
		return image.Ref{}, "", record.InvalidField("digest", "The digest must be sha256: and 64 hexadecimal digits.")
	}
	if digest, err = digestFor(&svc, digest); err != nil {
		return image.Ref{}, "", err
	}
	platform, err := s.hostPlatform(ctx)
	if err != nil {
		return image.Ref{}, "", err
	}
	ref := svc.ImageRef()
	s.registry.lists.forgetRepo(ref.Repo())
	if s.inference.queueTask(ref, digest, platform, "force") == "running" {
		return ref, "running", nil
	}
	return ref, "force", nil
}

func (t *tagLists) forgetRepo(repo string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, repo)
}

// GCState is what the removal of old snapshots did last.
type GCState struct {
	RetentionDays   int      `json:"retentionDays"`
	IntervalSeconds int      `json:"intervalSeconds"`
	LastRunAt       api.Time `json:"lastRunAt,omitempty,omitzero"`
	LastDeleted     int64    `json:"lastDeleted"`
	LastDurationMS  int64    `json:"lastDurationMs"`
	LastError       string   `json:"lastError,omitempty"`
}

// collectGarbage deletes snapshots and manifests that were not used for long.
func (f *inference) collectGarbage(ctx context.Context) error {
	began := f.s.cfg.Now()
	before := began.Add(-snapshotKeep).UnixMilli()
	var deleted int64
	err := f.s.repo.Write(ctx, "remove old snapshots", func(_ context.Context, w *gorm.DB) error {
		done := w.Where("checked_at < ?", before).Delete(&snapshotRecord{})
		deleted = done.RowsAffected
		if done.Error != nil {
			return done.Error
		}
		return w.Exec("DELETE FROM containers_manifests WHERE created_at < ? AND digest NOT IN (SELECT candidate_digest FROM containers_services) AND digest NOT IN (SELECT runtime_digest FROM containers_services) AND digest NOT IN (SELECT tag_digest FROM containers_services)", before).Error
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gc = GCState{LastRunAt: api.TimeOf(began), LastDeleted: deleted, LastDurationMS: f.s.cfg.Now().Sub(began).Milliseconds()}
	if err != nil {
		f.gc.LastError = "the database refused"
	}
	f.publishEvent("gc_ran", nil, "", nil)
	return err
}
