package queue

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// Limits of Submission.Tags.
const (
	maxTags = 4096
	maxTag  = 200
)

// tagRow is a tag as it stands in the table.
type tagRow struct {
	Tag       string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	JobID     string
}

// TableName implements gorm's Tabler.
func (tagRow) TableName() string { return "job_tags" }

// tagSlice is how many tags one statement inserts.
const tagSlice = 200

func checkTags(tags []string) error {
	bad := len(tags) > maxTags
	for _, tag := range tags {
		bad = bad || tag == "" || tag != texts.Limit(tag, maxTag)
	}
	if bad {
		return fault.New(fault.InvalidArgument, "A job has at most 4096 tags of 1 to 200 bytes of text.")
	}
	return nil
}

func (q *Queue) addTags(ctx context.Context, r *row, tags []string) error {
	var rows []tagRow
	for _, tag := range slices.Compact(slices.Sorted(slices.Values(tags))) {
		rows = append(rows, tagRow{Tag: tag, CreatedAt: r.CreatedAt, JobID: r.ID})
	}
	if len(rows) == 0 {
		return nil
	}
	return q.store.Writer(ctx).CreateInBatches(rows, tagSlice).Error
}
