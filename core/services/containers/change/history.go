package change

import (
	"cmp"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// Change is an update or rollback of a service, for its history.
type Change struct {
	ID          string   `json:"id"`
	JobID       string   `json:"jobId"`
	Kind        string   `json:"kind" enum:"update,rollback"`
	Status      string   `json:"status" enum:"running,success,failed,rolled_back"`
	Step        string   `json:"step"`
	FromDigest  string   `json:"fromDigest,omitempty"`
	FromVersion string   `json:"fromVersion,omitempty"`
	ToDigest    string   `json:"toDigest,omitempty"`
	ToVersion   string   `json:"toVersion,omitempty"`
	Error       string   `json:"error,omitempty"`
	StartedAt   api.Time `json:"startedAt"`
	FinishedAt  api.Time `json:"finishedAt,omitempty,omitzero"`
}

// History are the newest updates and rollbacks of a service.
func (x *Changes) History(ctx context.Context, id string) ([]Change, error) {
	if _, err := x.store.FindService(ctx, id); err != nil {
		return nil, err
	}
	rows, err := x.store.ChangesOf(ctx, id, 50)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	out := make([]Change, len(rows))
	for i, r := range rows {
		out[i] = Change{
			ID: r.ID, JobID: r.JobID, Kind: r.Kind, Status: r.Status, Step: r.Step, FromDigest: cmp.Or(r.FromDigest, r.FromImage), FromVersion: r.FromVersion,
			ToDigest: cmp.Or(r.ToDigest, r.ToImage), ToVersion: r.ToVersion, Error: r.Error, StartedAt: api.TimeOfMillis(r.StartedAt), FinishedAt: api.TimeOfMillis(r.FinishedAt),
		}
	}
	return out, nil
}
