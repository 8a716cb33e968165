package containers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// Report is what the deploy check found.
type Report struct {
	Overall     ReportOverall `json:"overall"`
	GeneratedAt api.Time      `json:"generatedAt"`
	Checks      []ReportCheck `json:"checks"`
	Refreshing  bool          `json:"refreshing,omitempty" doc:"A newer report is being made."`
}

// ReportOverall sums the checks up.
type ReportOverall struct {
	Result   string   `json:"result" enum:"pass,fail"`
	Blocking []string `json:"blockingCheckIds"`
	Summary  string   `json:"summary"`
}

// ReportCheck is one check, with what to do about it.
type ReportCheck struct {
	ID             string `json:"id" example:"core.docker_engine"`
	Title          string `json:"title"`
	Group          string `json:"group" enum:"core,feature"`
	Required       bool   `json:"required"`
	Status         string `json:"status" enum:"pass,fail,na"`
	NAReason       string `json:"naReason,omitempty" enum:"disabled_by_switch,missing_prerequisite,not_applicable"`
	Summary        string `json:"summary"`
	Impact         string `json:"impact,omitempty"`
	Evidence       string `json:"evidence,omitempty"`
	Recommendation string `json:"recommendation,omitempty"`
}

// Why a check says nothing.
const (
	naSwitch = "disabled_by_switch"
	naPrereq = "missing_prerequisite"
	naNone   = "not_applicable"
)

func passCheck(summary, evidence string) ReportCheck {
	return ReportCheck{Status: "pass", Required: true, Summary: summary, Evidence: evidence}
}

func failCheck(summary, impact, evidence, remedy string) ReportCheck {
	return ReportCheck{Status: "fail", Required: true, Summary: summary, Impact: impact, Evidence: evidence, Recommendation: remedy}
}

func skipCheck(why, summary string) ReportCheck {
	return ReportCheck{Status: "na", NAReason: why, Summary: summary}
}

// reportAge is how old a report may be before one that is asked for is made anew beside it.
const reportAge = 10 * time.Minute

// DeployReport is the last report; nil while the first is being made.
func (s *Service) DeployReport(ctx context.Context) (*Report, error) {
	var rep *Report
	at, err := s.repo.ReadSetting(ctx, settingReport, &rep)
	if err != nil {
		return nil, err
	}
	if rep == nil || s.now()-at > reportAge.Milliseconds() {
		if _, err := s.RefreshReport(ctx); err != nil {
			return nil, err
		}
	}
	if rep != nil {
		open, _, err := s.queue.List(ctx, queue.Filter{Types: []string{jobReport}, States: []queue.State{queue.Queued, queue.Running}}, "", 1)
		if err != nil {
			return nil, err
		}
		rep.Refreshing = len(open) > 0
	}
	return rep, nil
}

// RefreshReport has a report made, unless one is being made.
func (s *Service) RefreshReport(ctx context.Context) (string, error) {
	job, _, err := s.queue.Submit(ctx, queue.Submission{Type: jobReport, DedupKey: "report", Payload: work.Subject{Reason: work.ReasonUI},
		Actor: auth.Caller(ctx)})
	return job.ID, err
}

func (s *Service) runReport(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	rep := s.makeReport(ctx)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	return rep.Overall, s.repo.PutSetting(ctx, settingReport, rep, s.now())
}

// reportCheck is one of the checks of the report.
type reportCheck struct {
	id, title, group string
	run              func(context.Context) ReportCheck
}

// makeReport runs all checks, each within the time that the settings give it.
func (s *Service) makeReport(ctx context.Context) Report {
	rep := Report{GeneratedAt: api.TimeOf(s.cfg.Now()), Overall: ReportOverall{Result: "pass", Blocking: []string{}}}
	checks := []reportCheck{
		{"core.forward_auth_authorization_config", "Who is let in", "core", s.checkAllowlist},
		{"core.trusted_proxies", "Who may name people", "core", s.checkProxies},
		{"core.docker_engine", "Container engine", "core", s.checkEngine},
		{"core.update_executor_ready", "Compose command", "core", s.checkCompose},
		{"core.compose_access", "Compose files", "core", s.checkFiles},
		{"core.service_image_ref_valid", "Image references", "core", s.checkImages},
		{"core.backup_dir", "Directory of backups", "core", s.checkBackupDir},
		{"feature.registry_auth", "Registry credentials", "feature", s.checkRegistries},
		{"feature.registry_limits", "Registries that limit requests", "feature", s.checkCooling},
		{"feature.github_packages", "Package webhooks", "feature", s.checkHooks},
		{"feature.public_base_url", "Links in notifications", "feature", s.checkBaseURL},
	}
	for _, c := range channelChecks {
		checks = append(checks, reportCheck{c.id, c.title, "feature",
			func(ctx context.Context) ReportCheck { return s.checkChannel(ctx, c.role) }})
	}
	for _, c := range checks {
		run, cancel := context.WithTimeout(ctx, time.Duration(s.settings().DeployTimeout)*time.Second)
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

func (s *Service) checkAllowlist(context.Context) ReportCheck {
	a := s.access.Load()
	if a.AllowedUser != "" || a.AllowedGroup != "" {
		return passCheck("A forwarded user or group is allowed.",
			"user "+cmp.Or(maskName(a.AllowedUser), "none")+", group "+cmp.Or(maskName(a.AllowedGroup), "none"))
	}
	if a.AnonymousInDev {
		return failCheck("Everybody who reaches this server may administer it.", "Anybody can run containers on this host.",
			"allow_anonymous_in_dev is true, and there is no allowlist",
			"Set allowed_user or allowed_group in the core block, or allow_anonymous_in_dev = false.")
	}
	return skipCheck(naNone, "No proxy signs people in: they use passkeys.")
}

func (s *Service) checkProxies(context.Context) ReportCheck {
	a := s.access.Load()
	if a.AllowedUser == "" && a.AllowedGroup == "" {
		return skipCheck(naNone, "No proxy signs people in.")
	}
	if a.OpenLoopback {
		c := failCheck("Names are believed from this machine, and the listener is open to others.",
			"A proxy on this machine that passes on headers of its clients lets them name themselves.",
			"trusted_proxies has loopback, http_addr is open, proxy_secret is not set",
			"Set proxy_secret in the core block and have the proxy send it in X-Patchbay-Proxy-Secret, or have http_addr listen on 127.0.0.1.")
		c.Required = false
		return c
	}
	if slices.ContainsFunc(a.TrustedProxies, func(p string) bool { return p != "127.0.0.0/8" && p != "::1/128" }) {
		return passCheck("The proxies that may name people are declared.", strings.Join(a.TrustedProxies, ", "))
	}
	c := skipCheck(naPrereq, "Only proxies on this machine may name people.")
	c.Recommendation = "If the proxy runs in a container or on another machine, add its address to trusted_proxies in the core block."
	return c
}
