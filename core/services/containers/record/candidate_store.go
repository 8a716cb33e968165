package record

import "context"

// ListIgnoreRules returns the ignore rules of all services, the oldest first.
func (r *Store) ListIgnoreRules(ctx context.Context) (out []Ignore, err error) {
	err = r.DB(ctx).Order("created_at, id").Find(&out).Error
	return out, err
}

// FindManifests returns the known platforms of digests.
func (r *Store) FindManifests(ctx context.Context, digests []string) (map[string][]ManifestPlatform, error) {
	var rows []Manifest
	if err := r.DB(ctx).Where("digest IN ?", digests).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string][]ManifestPlatform, len(rows))
	for _, m := range rows {
		out[m.Digest] = m.Platforms
	}
	return out, nil
}
