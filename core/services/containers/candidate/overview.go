package candidate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// InferenceQuery selects rows of the overview.
type InferenceQuery struct {
	Query, Status string
	Page, PerPage int
}

// InferenceOverview is what is known of the versions behind digests.
type InferenceOverview struct {
	Worker  InferenceWorker  `json:"worker"`
	GC      GCState          `json:"gc"`
	Summary InferenceSummary `json:"summary"`
	Tasks   []InferenceTask  `json:"tasks"`
	Rows    []InferenceRow   `json:"rows"`
	Page    int              `json:"page"`
	PerPage int              `json:"perPage"`
	Total   int              `json:"total"`
}

// InferenceWorker is what the worker does.
type InferenceWorker struct {
	MaxConcurrency int `json:"maxConcurrency"`
	Queued         int `json:"queued"`
	Running        int `json:"running"`
	InFlight       int `json:"inFlight"`
}

// InferenceSummary counts rows by their status.
type InferenceSummary struct {
	SnapshotsTotal int `json:"snapshotsTotal"`
	Queued         int `json:"queued"`
	Running        int `json:"running"`
	Ready          int `json:"ready"`
	Stale          int `json:"stale"`
	AllFailed      int `json:"allFailed"`
	Missing        int `json:"missing"`
}

// InferenceRow is one digest.
type InferenceRow struct {
	Key          string             `json:"key"`
	ImageRepo    string             `json:"imageRepo"`
	Digest       string             `json:"digest"`
	HostPlatform string             `json:"hostPlatform"`
	Status       string             `json:"status" enum:"missing,queued,running,ready,stale,all_failed"`
	ServiceCount int                `json:"serviceCount"`
	Reason       string             `json:"reason,omitempty"`
	ResolvedTag  string             `json:"resolvedTag,omitempty"`
	CheckedAt    api.Time           `json:"checkedAt,omitempty,omitzero"`
	UpdatedAt    api.Time           `json:"updatedAt,omitempty,omitzero"`
	Progress     *InferenceProgress `json:"progress,omitempty"`
}

// InferenceOverview lists the digests of all services, with what is known of each.
func (c *Candidates) InferenceOverview(ctx context.Context, q InferenceQuery) (InferenceOverview, error) {
	out := InferenceOverview{Page: max(1, q.Page), PerPage: q.PerPage, Tasks: []InferenceTask{}, Rows: []InferenceRow{}}
	if out.PerPage <= 0 {
		out.PerPage = 50
	}
	rows, err := c.inferenceRows(ctx)
	if err != nil {
		return out, err
	}
	c.addProgress(&out, rows)
	var picked []InferenceRow
	for _, r := range rows {
		out.Summary.countStatus(r.Status)
		if (q.Status == "" || q.Status == r.Status) &&
			strings.Contains(strings.ToLower(r.ImageRepo+r.Digest+r.ResolvedTag), strings.ToLower(q.Query)) {
			picked = append(picked, *r)
		}
	}
	slices.SortFunc(picked, func(a, b InferenceRow) int { return cmp.Compare(a.Key, b.Key) })
	out.Total = len(picked)
	from := min(len(picked), (out.Page-1)*out.PerPage)
	out.Rows = append(out.Rows, picked[from:min(len(picked), from+out.PerPage)]...)
	return out, nil
}

func (c *InferenceSummary) countStatus(status string) {
	switch status {
	case "ready":
		c.Ready++
	case "stale":
		c.Stale++
	case "all_failed":
		c.AllFailed++
	case "queued":
		c.Queued++
	case "running":
		c.Running++
	case "missing":
		c.Missing++
		return
	}
	c.SnapshotsTotal++
}

// inferenceRows are the digests that services run or may get, with their snapshots.
func (c *Candidates) inferenceRows(ctx context.Context) (map[string]*InferenceRow, error) {
	services, err := c.store.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	snaps, err := c.store.listSnapshots(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the snapshots: %w", err)
	}
	platform, err := c.hostPlatform(ctx)
	if err != nil {
		return nil, err
	}
	rows := map[string]*InferenceRow{}
	row := func(repo, digest, platform string) *InferenceRow {
		key := VersionKey{repo, digest, platform}.String()
		if rows[key] == nil {
			rows[key] = &InferenceRow{Key: key, ImageRepo: repo, Digest: digest, HostPlatform: platform, Status: "missing"}
		}
		return rows[key]
	}
	for _, svc := range services {
		for _, digest := range []string{svc.RuntimeDigest, svc.CandidateDigest} {
			if digest != "" && svc.ArchivedAt == 0 {
				row(svc.Repo, digest, platform.String()).ServiceCount++
			}
		}
	}
	for i := range snaps {
		r := row(snaps[i].Repo, snaps[i].Digest, snaps[i].Platform)
		r.Status, r.ResolvedTag, r.CheckedAt, r.UpdatedAt = "ready", snaps[i].Version, api.TimeOfMillis(snaps[i].CheckedAt),
			api.TimeOfMillis(snaps[i].CheckedAt)
		if snaps[i].Failed {
			r.Status = "all_failed"
		} else if !snaps[i].isFresh(c.nowMillis()) {
			r.Status = "stale"
		}
	}
	return rows, nil
}

// addProgress adds the queued and running tasks to the overview.
func (f *inference) addProgress(out *InferenceOverview, rows map[string]*InferenceRow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out.GC = f.gc
	out.GC.RetentionDays, out.GC.IntervalSeconds = int(snapshotKeep.Hours()/24), 86400
	out.Worker.MaxConcurrency = inferWorkers
	for _, t := range f.tasks {
		out.Tasks = append(out.Tasks, t.InferenceTask)
		if t.Status == "running" {
			out.Worker.Running++
		} else {
			out.Worker.Queued++
		}
		if r := rows[t.Key]; r != nil {
			r.Status, r.Reason, r.UpdatedAt, r.Progress = t.Status, t.Reason, t.UpdatedAt, t.Progress
		}
	}
	out.Worker.InFlight = len(f.tasks)
	slices.SortFunc(out.Tasks, func(a, b InferenceTask) int {
		return cmp.Or(a.EnqueuedAt.Compare(b.EnqueuedAt.Time), cmp.Compare(a.Key, b.Key))
	})
}
