package containers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"
)

// maxIDs is how many ids one statement names.
const maxIDs = 500

// finding is what a check found of one service: the columns that it sets.
type finding struct {
	svc     *serviceRecord
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

// readKnown gathers the digests about which no details are needed, by reference: those whose platforms were seen before, and
// what every service of a reference runs.
func (c *checking) readKnown(ctx context.Context, services []*serviceRecord) error {
	byRef := map[string][]*serviceRecord{}
	var digests []string
	for _, svc := range services {
		if c.asksRegistry(svc) {
			ref := svc.imageRef().Unpinned().String()
			byRef[ref] = append(byRef[ref], svc)
			digests = append(digests, svc.RuntimeDigest, svc.CandidateDigest, svc.TagDigest)
		}
	}
	slices.Sort(digests)
	manifests, err := c.s.repo.manifestsOf(ctx, slices.Compact(digests))
	if err != nil {
		return fmt.Errorf("read known manifests: %w", err)
	}
	c.known = map[string]map[string][]platformEntry{}
	for ref, list := range byRef {
		known := map[string][]platformEntry{}
		for _, d := range c.runtime[list[0].ID].digests {
			if !slices.ContainsFunc(list, func(svc *serviceRecord) bool { return !slices.Contains(c.runtime[svc.ID].digests, d) }) {
				known[d] = nil
			}
		}
		for _, svc := range list {
			for _, d := range []string{svc.RuntimeDigest, svc.CandidateDigest, svc.TagDigest} {
				if entries, ok := manifests[d]; ok {
					known[d] = entries
				}
			}
		}
		c.known[ref] = known
	}
	return nil
}

// keepCooldown stores until when a registry is left alone, in Unix milliseconds, and forgets those whose time is over.
func (r *repository) keepCooldown(ctx context.Context, host string, until, now int64) error {
	return r.settingTx(ctx, settingCooldowns, func(ctx context.Context, _ *gorm.DB) error {
		stored := map[string]int64{}
		if _, err := r.readSetting(ctx, settingCooldowns, &stored); err != nil {
			return err
		}
		maps.DeleteFunc(stored, func(_ string, end int64) bool { return end <= now })
		stored[host] = until
		return r.putSetting(ctx, settingCooldowns, stored, now)
	})
}

// writeFindings writes the findings of a check in one transaction. A service that an update or rollback has changed since
// the check read it keeps what it has. Those without news get the time of the check by one statement.
func (r *repository) writeFindings(ctx context.Context, findings []finding, now int64) error {
	if len(findings) == 0 {
		return nil
	}
	return r.tx(ctx, "write a check", func(_ context.Context, w *gorm.DB) error {
		var same []string
		for _, f := range findings {
			if !f.isNews() {
				same = append(same, f.svc.ID)
				continue
			}
			f.columns["checked_at"], f.columns["updated_at"] = now, now
			err := w.Model(&serviceRecord{}).Where("id = ? AND generation = ? AND image = ?", f.svc.ID, f.svc.Generation, f.svc.Image).Updates(f.columns).Error
			if err != nil {
				return err
			}
		}
		for ids := range slices.Chunk(same, maxIDs) {
			err := w.Model(&serviceRecord{}).Where("id IN ?", ids).Updates(map[string]any{"checked_at": now, "updated_at": now}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}
