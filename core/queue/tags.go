package queue

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Limits of Submission.Tags.
const (
	maxTags = 4096
	maxTag  = 200
)

const sqlAddTag = `INSERT INTO job_tags (tag, created_at, job_id) VALUES (?, ?, ?)`

func checkTags(tags []string) error {
	bad := len(tags) > maxTags
	for _, tag := range tags {
		bad = bad || tag == "" || tag != clean(tag, maxTag)
	}
	if bad {
		return fault.New(fault.InvalidArgument, "A job has at most 4096 tags of 1 to 200 bytes of text.")
	}
	return nil
}

func (q *Queue) addTags(ctx context.Context, r *row, tags []string) error {
	for _, tag := range slices.Compact(slices.Sorted(slices.Values(tags))) {
		if err := q.store.Writer(ctx).Exec(sqlAddTag, tag, r.CreatedAt, r.ID).Error; err != nil {
			return err
		}
	}
	return nil
}
