// Package deploycheck looks whether an instance has what it needs, and tells what to do where it does not.
package deploycheck

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// JobType is the job that makes a report.
const JobType = work.Prefix + "deploy_check"

// setting is the name under which the last report is stored.
const setting = "deploy_report"

// reportAge is how old a report may be before one that is asked for is made anew beside it.
const reportAge = 10 * time.Minute

// DeployReport is the last report; nil while the first is being made.
func (r *Reports) DeployReport(ctx context.Context) (*Report, error) {
	var rep *Report
	at, err := r.cfg.Store.ReadSetting(ctx, setting, &rep)
	if err != nil {
		return nil, err
	}
	if rep == nil || r.nowMillis()-at > reportAge.Milliseconds() {
		if _, err := r.RefreshReport(ctx); err != nil {
			return nil, err
		}
	}
	if rep != nil {
		open, _, err := r.cfg.Jobs.List(ctx, queue.Filter{Types: []string{JobType}, States: []queue.State{queue.Queued, queue.Running}}, "", 1)
		if err != nil {
			return nil, err
		}
		rep.Refreshing = len(open) > 0
	}
	return rep, nil
}

// RefreshReport has a report made, unless one is being made.
func (r *Reports) RefreshReport(ctx context.Context) (string, error) {
	job, _, err := r.cfg.Jobs.Submit(ctx, queue.Submission{Type: JobType, DedupKey: "report", Payload: work.Subject{Reason: work.ReasonUI},
		Actor: auth.Caller(ctx)})
	return job.ID, err
}

// RunReport runs the job that makes a report and stores it.
func (r *Reports) RunReport(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	rep := r.makeReport(ctx)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	return rep.Overall, r.cfg.Store.PutSetting(ctx, setting, rep, r.nowMillis())
}

// reportCheck is one of the checks of the report.
type reportCheck struct {
	id, title, group string
	run              func(context.Context) ReportCheck
}

// makeReport runs all checks, each within the time that the settings give it.
func (r *Reports) makeReport(ctx context.Context) Report {
	rep := Report{GeneratedAt: api.TimeOf(r.cfg.Now()), Overall: ReportOverall{Result: "pass", Blocking: []string{}}}
	checks := []reportCheck{
		{"core.forward_auth_authorization_config", "Who is let in", "core", r.checkAllowlist},
		{"core.trusted_proxies", "Who may name people", "core", r.checkProxies},
		{"core.docker_engine", "Container engine", "core", r.checkEngine},
		{"core.update_executor_ready", "Compose command", "core", r.checkCompose},
		{"core.compose_access", "Compose files", "core", r.checkFiles},
		{"core.service_image_ref_valid", "Image references", "core", r.checkImages},
		{"core.backup_dir", "Directory of backups", "core", r.checkBackupDir},
		{"feature.registry_auth", "Registry credentials", "feature", r.checkRegistries},
		{"feature.registry_limits", "Rate limited registries", "feature", r.checkCooling},
		{"feature.github_packages", "Package webhooks", "feature", r.checkHooks},
		{"feature.public_base_url", "Links in notifications", "feature", r.checkBaseURL},
	}
	for _, c := range channelChecks {
		checks = append(checks, reportCheck{c.id, c.title, "feature",
			func(ctx context.Context) ReportCheck { return r.checkChannel(ctx, c.role) }})
	}
	for _, c := range checks {
		run, cancel := context.WithTimeout(ctx, r.cfg.Settings().Timeout)
		check := c.run(run)
		cancel()
		check.ID, check.Title, check.Group = c.id, c.title, c.group
		rep.Checks = append(rep.Checks, check)
		if check.Required && check.Status == "fail" {
			rep.Overall.Blocking = append(rep.Overall.Blocking, c.id)
		}
	}
	rep.Overall.Summary = "Everything that is needed is there."
	if n := len(rep.Overall.Blocking); n > 0 {
		rep.Overall.Result, rep.Overall.Summary = "fail", fmt.Sprintf("%d checks need attention.", n)
	}
	return rep
}
