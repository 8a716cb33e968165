package containers

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// Names of what is stored in the table of settings.
const (
	settingSystem  = "system"
	settingWelcome = "deploy_welcome"
	// settingCheckMinute is the minute of the day of the daily check.
	settingCheckMinute = "check_minute"
	// settingPlace is the name of the engine that a node had last.
	settingPlace = "place"
)

// Schedule is work by the clock.
type Schedule struct {
	Enabled bool   `json:"enabled"`
	Cron    string `json:"cron" maxLength:"120" doc:"Five fields, or six with seconds first, in the time zone of the server; CRON_TZ=… may stand before them." example:"*/30 * * * *"`
}

// ScheduleSettings are the schedules that people set.
type ScheduleSettings struct {
	UpdateCheck  *Schedule `json:"updateCheck,omitempty" doc:"A check of everything."`
	WebhookAudit *Schedule `json:"ghcrWebhookAudit,omitempty" doc:"A look at the webhooks of the tracked repositories."`
}

// InstanceSettings are about this instance.
type InstanceSettings struct {
	PublicBaseURL *string `json:"publicBaseUrl" nullable:"true" maxLength:"1024" doc:"Absolute URL before the links in notifications; null for none." example:"https://patchbay.example.com/"`
}

// systemSettings are those that are stored.
type systemSettings struct {
	Backup    backup.BackupSettings `json:"backup"`
	Monitor   usage.MonitorSettings `json:"resourceMonitor"`
	Schedules ScheduleSettings      `json:"schedules"`
	Instance  InstanceSettings      `json:"instance"`
}

// SystemSettings are the settings as the API shows them.
type SystemSettings struct {
	Backup    backup.BackupSettings `json:"backup"`
	Monitor   usage.MonitorSettings `json:"resourceMonitor"`
	Schedules ScheduleSettings      `json:"schedules"`
	Instance  InstanceSettings      `json:"instance"`
	Auth      AuthSettings          `json:"auth"`
}

// AuthSettings tell how the caller was let in.
type AuthSettings struct {
	ForwardHeaderName   string   `json:"forwardHeaderName" example:"X-Forwarded-User"`
	GroupHeaderName     string   `json:"groupHeaderName" example:"Remote-Groups"`
	AllowAnonymousInDev bool     `json:"allowAnonymousInDev"`
	AuthorizationMode   string   `json:"authorizationMode" enum:"user,group,user_or_group,anonymous_dev,none"`
	AllowedUserMasked   string   `json:"allowedUserMasked,omitempty" example:"a***"`
	AllowedGroupMasked  string   `json:"allowedGroupMasked,omitempty" example:"a***"`
	CurrentUser         string   `json:"currentUser,omitempty" example:"ann@example.com"`
	CurrentGroups       []string `json:"currentGroups"`
	MatchedBy           string   `json:"matchedBy,omitempty" enum:"user,group,anonymous_dev,session"`
}

// systemSettings reads the settings, with the defaults for what nobody has set.
func (s *Service) systemSettings(ctx context.Context) (systemSettings, error) {
	minute := s.checkMinute.Load()
	out := systemSettings{
		Backup: backup.BackupSettings{Enabled: true, RequireSuccess: true, BaseDir: filepath.Join(s.cfg.DataDir, "backups"),
			SkipOverBytes: 100 << 20},
		Monitor: usage.MonitorSettings{Enabled: true, SampleInterval: 5},
		Schedules: ScheduleSettings{UpdateCheck: &Schedule{Enabled: true, Cron: fmt.Sprintf("%d %d * * *", minute%60, minute/60)},
			WebhookAudit: &Schedule{Enabled: true, Cron: "0 3 * * *"}},
	}
	if _, err := s.repo.ReadSetting(ctx, settingSystem, &out); err != nil {
		return out, fmt.Errorf("read the settings: %w", err)
	}
	out.Monitor.RetentionDays = usage.RetentionDays
	return out, nil
}

// pickCheckMinute sets the minute of the day at which this instance checks everything unless people choose another time.
// It is drawn at the first start, so that not all instances ask the registries at the same time.
func (s *Service) pickCheckMinute(ctx context.Context) error {
	var minute int64
	at, err := s.repo.ReadSetting(ctx, settingCheckMinute, &minute)
	if err == nil && at == 0 {
		// Other nodes may start at the same time.
		err = s.repo.ChangeSetting(ctx, settingCheckMinute, func(ctx context.Context) error {
			if at, err := s.repo.ReadSetting(ctx, settingCheckMinute, &minute); err != nil || at > 0 {
				return err
			}
			minute = rand.Int64N(24 * 60)
			return s.repo.PutSetting(ctx, settingCheckMinute, minute, s.now())
		})
	}
	if err != nil {
		return fmt.Errorf("draw the time of checks: %w", err)
	}
	s.checkMinute.Store(minute)
	return nil
}

// The names of the schedules that people set.
const (
	scheduleCheck = work.Prefix + "scheduled_check"
	scheduleAudit = work.Prefix + "scheduled_audit"
)

// applySchedules puts the stored schedules into use.
func (s *Service) applySchedules(ctx context.Context) error {
	set, err := s.systemSettings(ctx)
	if err != nil {
		return err
	}
	for _, sch := range []struct {
		name, kind string
		payload    any
		by         *Schedule
	}{
		{scheduleCheck, work.JobCheck, candidate.CheckJob{Subject: work.Subject{Scope: work.ScopeAll, Reason: work.ReasonSchedule}},
			set.Schedules.UpdateCheck},
		{scheduleAudit, work.JobHook, webhook.Payload{Subject: work.Subject{Reason: work.ReasonSchedule}, Op: webhook.OpAuditAll},
			set.Schedules.WebhookAudit},
	} {
		if sch.by == nil || !sch.by.Enabled {
			if err := s.queue.RemoveSchedule(ctx, sch.name); err != nil {
				return err
			}
			continue
		}
		err := s.queue.SetSchedule(ctx, queue.Schedule{Name: sch.name, Cron: sch.by.Cron, Local: true, Type: work.Prefix + sch.kind,
			Payload: sch.payload})
		if err != nil {
			return err
		}
	}
	return nil
}

// PublicBaseURL is what stands before links in notifications; empty if it is not set.
func (s *Service) PublicBaseURL(ctx context.Context) string {
	set, err := s.systemSettings(ctx)
	if err != nil || set.Instance.PublicBaseURL == nil {
		return ""
	}
	return *set.Instance.PublicBaseURL
}

// SystemSettings reads the settings, with how the caller was let in.
func (s *Service) SystemSettings(ctx context.Context) (SystemSettings, error) {
	set, err := s.systemSettings(ctx)
	out := SystemSettings{Backup: set.Backup, Monitor: set.Monitor, Schedules: set.Schedules, Instance: set.Instance}
	a := s.access.Load()
	out.Auth = AuthSettings{
		ForwardHeaderName: a.UserHeader, GroupHeaderName: a.GroupHeader, AllowAnonymousInDev: a.AnonymousInDev,
		AuthorizationMode: a.describeMode(),
		AllowedUserMasked: maskName(a.AllowedUser), AllowedGroupMasked: maskName(a.AllowedGroup), CurrentGroups: []string{},
	}
	if p := auth.From(ctx); p != nil {
		out.Auth.CurrentUser = cmp.Or(p.User.Email, p.User.Name)
		out.Auth.MatchedBy = matchedBy(p)
	}
	return out, err
}

// reportAccess returns what the deploy check may tell of it.
func (s *Service) reportAccess() deploycheck.Access {
	a := s.access.Load()
	return deploycheck.Access{AllowedUser: maskName(a.AllowedUser), AllowedGroup: maskName(a.AllowedGroup), AnonymousInDev: a.AnonymousInDev,
		OpenLoopback: a.OpenLoopback, TrustedProxies: a.TrustedProxies}
}

func matchedBy(p *auth.Principal) string {
	switch {
	case p.Via == auth.ViaForward:
		return "user"
	case !p.HasAccount():
		return "anonymous_dev"
	}
	return "session"
}

// Welcome says whether the deploy check opens by itself.
type Welcome struct {
	NeverAutoOpen bool     `json:"neverAutoOpen"`
	UpdatedAt     api.Time `json:"updatedAt,omitempty,omitzero"`
}

// Welcome reports whether the deploy check opens by itself.
func (s *Service) Welcome(ctx context.Context) (out Welcome, err error) {
	at, err := s.repo.ReadSetting(ctx, settingWelcome, &out)
	out.UpdatedAt = api.TimeOfMillis(at)
	return out, err
}

// SetWelcome says whether the deploy check opens by itself.
func (s *Service) SetWelcome(ctx context.Context, never bool) error {
	return s.repo.PutSetting(ctx, settingWelcome, struct {
		NeverAutoOpen bool `json:"neverAutoOpen"`
	}{never}, s.now())
}
