package candidate

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// settingCooldowns is the setting with the registries that are left alone, and until when, in Unix milliseconds.
const settingCooldowns = "registry_cooldowns"

// maxIDs is how many ids one statement names.
const maxIDs = 500

// checkResult is what a check found of one service: the columns that it sets.
type checkResult struct {
	svc     *record.Service
	columns map[string]any
}

// isNews reports whether a finding differs from what is stored.
func (f *checkResult) isNews() bool {
	stored := map[string]any{
		"check_error": f.svc.CheckError, "check_reason": f.svc.CheckReason, "newer_tags": record.EncodeColumn(f.svc.NewerTags),
		"candidate_digest": f.svc.CandidateDigest, "candidate_tag": f.svc.CandidateTag,
		"candidate_match": f.svc.CandidateMatch, "candidate_arch": record.EncodeColumn(f.svc.CandidateArch), "tag_digest": f.svc.TagDigest,
	}
	for column, v := range f.columns {
		switch column {
		case "candidate_version", "candidate_since":
			// They change with the digest alone.
			continue
		}
		if stored[column] != v {
			return true
		}
	}
	return false
}

func (r *Store) cacheManifest(ctx context.Context, digest string, platforms []record.ManifestPlatform, now int64) error {
	return r.Write(ctx, "keep a manifest", func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{DoNothing: true}).Create(&record.Manifest{Digest: digest, Platforms: platforms, CreatedAt: now}).Error
	})
}

// storeCooldown stores until when a registry is left alone, in Unix milliseconds, and forgets those whose time is over.
func (r *Store) storeCooldown(ctx context.Context, host string, until, now int64) error {
	return r.ChangeSetting(ctx, settingCooldowns, func(ctx context.Context) error {
		stored := map[string]int64{}
		if _, err := r.ReadSetting(ctx, settingCooldowns, &stored); err != nil {
			return err
		}
		maps.DeleteFunc(stored, func(_ string, end int64) bool { return end <= now })
		stored[host] = until
		return r.PutSetting(ctx, settingCooldowns, stored, now)
	})
}

// writeFindings writes the findings of a check in one transaction, and reports whether there was news. A service that an update or
// rollback has changed since the check read it keeps what it has. Those without news get the time of the check by one statement.
func (r *Store) writeFindings(ctx context.Context, findings []checkResult, now int64) (news bool, err error) {
	if len(findings) == 0 {
		return false, nil
	}
	err = r.Write(ctx, "write a check", func(_ context.Context, w *gorm.DB) error {
		var same []string
		for _, f := range findings {
			if !f.isNews() {
				same = append(same, f.svc.ID)
				continue
			}
			news = true
			f.columns["checked_at"], f.columns["updated_at"] = now, now
			err := w.Model(&record.Service{}).Where("id = ? AND generation = ? AND image = ?", f.svc.ID, f.svc.Generation,
				f.svc.Image).Updates(f.columns).Error
			if err != nil {
				return err
			}
		}
		for ids := range slices.Chunk(same, maxIDs) {
			err := w.Model(&record.Service{}).Where("id IN ?", ids).Updates(map[string]any{"checked_at": now, "updated_at": now}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	return news, err
}

// touchStacks stores that stacks were checked.
func (r *Store) touchStacks(ctx context.Context, ids []string, now int64) error {
	return r.Write(ctx, "note a check", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&record.Stack{}).Where("id IN ?", ids).Update("last_check_at", now).Error
	})
}

// SnapshotByKey returns a snapshot, nil without one.
func (r *Store) SnapshotByKey(ctx context.Context, key VersionKey) (*snapshotRecord, error) {
	var rows []snapshotRecord
	err := r.DB(ctx).Where("repo = ? AND digest = ? AND platform = ?", key.Repo, key.Digest, key.Platform).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func (r *Store) listSnapshots(ctx context.Context) (out []snapshotRecord, err error) {
	err = r.DB(ctx).Order("repo, digest, platform").Find(&out).Error
	return out, err
}
