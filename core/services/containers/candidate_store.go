package containers

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// repository holds the queries. It decides nothing.
type repository struct{ *recordStore }

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
	return r.write(ctx, "keep a manifest", func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{DoNothing: true}).Create(&manifestRecord{Digest: digest, Platforms: platforms, CreatedAt: now}).Error
	})
}
