package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/change"
)

// TestSeveralFailuresOfAnUpdate: the page of a job names each service that failed, its step, what the engine said, and whether it was
// rolled back.
func TestSeveralFailuresOfAnUpdate(t *testing.T) {
	s := newSite(t, "/")
	web, api, db := s.project("shop", "web", webRepo), s.project("blog", "web", webRepo), s.project("wiki", "web", webRepo)
	sum := change.UpdateSummary{Mode: change.ModeApply, Stacks: []change.StackSummary{{StackID: web.StackID, Name: "shop",
		Update: change.ChangeSummary{ChangedServices: []string{}, FailureStep: "healthcheck", FailedService: web.ID,
			LastError: "web is unhealthy",
			AlsoFailed: []change.ServiceFailure{
				{ServiceID: api.ID, FailureStep: "pull", LastError: "the tag is gone " + hostile},
				{ServiceID: db.ID, FailureStep: "up", LastError: "exit code 2", RolledBack: true},
			}}}}}
	result, err := json.Marshal(sum)
	must(t, err)
	now := time.Now().UnixMilli()
	must(t, s.store.Tx(t.Context(), "insert the job", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec(`INSERT INTO jobs (id, type, state, actor, payload, result, error_code, error_message, step, percent, run_at, created_at,
			started_at, finished_at) VALUES ('job_failed', 'containers.update', 'failed', '', '{"scope":"services","mode":"apply"}', ?, 'internal', 'web is unhealthy', '',
			100, ?, ?, ?, ?)`, string(result), now, now, now, now).Error
	}))
	v := s.as(s.admin, "en")
	p := v.get("/queue/job_failed")
	p.Is(t, "the failures", http.StatusOK, "data-also-failed", "shop / web: It failed at: health check.", "blog / web:", "wiki / web:",
		"exit code 2", "the tag is gone")
	p.Lacks(t, "the failures", hostile)
	v.SetLanguage("zh")
	v.get("/queue/job_failed").Is(t, "in Chinese", http.StatusOK, "data-also-failed", "blog / web")
}
