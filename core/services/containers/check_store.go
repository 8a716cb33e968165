package containers

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// maxIDs is how many ids one statement names.
const maxIDs = 500

// finding is what a check found of one service: the columns that it sets.
type finding struct {
	svc     *record.Service
	columns map[string]any
}

// isNews reports whether a finding differs from what is stored.
func (f *finding) isNews() bool {
	stored := map[string]any{
		"check_error": f.svc.CheckError, "check_reason": f.svc.CheckReason, "newer_tags": toJSON(f.svc.NewerTags), "candidate_digest": f.svc.CandidateDigest, "candidate_tag": f.svc.CandidateTag,
		"candidate_match": f.svc.CandidateMatch, "candidate_arch": toJSON(f.svc.CandidateArch), "tag_digest": f.svc.TagDigest,
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

// keepCooldown stores until when a registry is left alone, in Unix milliseconds, and forgets those whose time is over.
func (r *repository) keepCooldown(ctx context.Context, host string, until, now int64) error {
	return r.ChangeSetting(ctx, settingCooldowns, func(ctx context.Context, _ *gorm.DB) error {
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
func (r *repository) writeFindings(ctx context.Context, findings []finding, now int64) (news bool, err error) {
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
			err := w.Model(&record.Service{}).Where("id = ? AND generation = ? AND image = ?", f.svc.ID, f.svc.Generation, f.svc.Image).Updates(f.columns).Error
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

// ignoreRecord is a rule that keeps candidates of a service back.
type ignoreRecord struct {
	ID        string `gorm:"primaryKey"`
	ServiceID string
	Enabled   bool
	Kind      string
	Value     string
	Note      string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (ignoreRecord) TableName() string { return "containers_ignores" }

// manifestRecord keeps the platforms behind a digest, which never change.
type manifestRecord struct {
	Digest    string          `gorm:"primaryKey"`
	Platforms []platformEntry `gorm:"serializer:json"`
	CreatedAt int64           `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (manifestRecord) TableName() string { return "containers_manifests" }

type platformEntry struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Variant string `json:"variant,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

func (p platformEntry) String() string {
	return record.Platform{OS: p.OS, Arch: p.Arch, Variant: p.Variant}.String()
}

// repository holds the queries. It decides nothing.
type repository struct{ *record.Store }

func (r *repository) ignoreRules(ctx context.Context) (out []ignoreRecord, err error) {
	err = r.DB(ctx).Order("created_at, id").Find(&out).Error
	return out, err
}

// manifestsOf returns the known platforms of digests.
func (r *repository) manifestsOf(ctx context.Context, digests []string) (map[string][]platformEntry, error) {
	var rows []manifestRecord
	if err := r.DB(ctx).Where("digest IN ?", digests).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string][]platformEntry, len(rows))
	for _, m := range rows {
		out[m.Digest] = m.Platforms
	}
	return out, nil
}

func (r *repository) keepManifest(ctx context.Context, digest string, platforms []platformEntry, now int64) error {
	return r.Write(ctx, "keep a manifest", func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{DoNothing: true}).Create(&manifestRecord{Digest: digest, Platforms: platforms, CreatedAt: now}).Error
	})
}
