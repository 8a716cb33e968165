package containers

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// SettingsChange is a change of the settings. Members that are left out, on all levels, stay as they are.
type SettingsChange struct {
	Backup    *BackupChange    `json:"backup" required:"false" example:"{\"enabled\":true,\"requireSuccess\":true,\"baseDir\":\"/data/backups\"}"`
	Monitor   *MonitorChange   `json:"resourceMonitor" required:"false"`
	Schedules *SchedulesChange `json:"schedules" required:"false"`
	Instance  *InstanceChange  `json:"instance" required:"false"`
}

// BackupChange changes BackupSettings.
type BackupChange struct {
	Enabled        *bool   `json:"enabled" required:"false"`
	RequireSuccess *bool   `json:"requireSuccess" required:"false"`
	BaseDir        *string `json:"baseDir" required:"false" maxLength:"1024" doc:"Absolute path of a folder that can be written; it is made where it is missing." example:"/data/backups"`
	SkipOverBytes  *int64  `json:"skipTargetsOverBytes" required:"false" minimum:"0" example:"104857600"`
}

// MonitorChange changes usage.MonitorSettings.
type MonitorChange struct {
	Enabled        *bool `json:"enabled" required:"false"`
	SampleInterval *int  `json:"sampleIntervalSeconds" required:"false" enum:"5,10,30,60,300"`
}

// SchedulesChange changes ScheduleSettings.
type SchedulesChange struct {
	UpdateCheck  *ScheduleChange `json:"updateCheck" required:"false"`
	WebhookAudit *ScheduleChange `json:"ghcrWebhookAudit" required:"false"`
}

// ScheduleChange changes a Schedule.
type ScheduleChange struct {
	Enabled *bool   `json:"enabled" required:"false"`
	Cron    *string `json:"cron" required:"false" maxLength:"120" example:"*/30 * * * *"`
}

// InstanceChange changes InstanceSettings.
type InstanceChange struct {
	PublicBaseURL api.OptionalText `json:"publicBaseUrl" required:"false" maxLength:"1024" example:"https://code.example/acme/web" doc:"Absolute URL before the links in notifications; null for none."`
}

// setGiven sets *to to *value unless value is nil.
func setGiven[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// applyChange applies c to the settings, and checks what it sets.
func (set *systemSettings) applyChange(c SettingsChange) error {
	if b := c.Backup; b != nil {
		setGiven(&set.Backup.Enabled, b.Enabled)
		setGiven(&set.Backup.RequireSuccess, b.RequireSuccess)
		setGiven(&set.Backup.BaseDir, b.BaseDir)
		setGiven(&set.Backup.SkipOverBytes, b.SkipOverBytes)
		if !filepath.IsAbs(set.Backup.BaseDir) {
			return record.InvalidField("backup.baseDir", "The directory of backups must be an absolute path.")
		}
		set.Backup.BaseDir = filepath.Clean(set.Backup.BaseDir)
		if set.Backup.SkipOverBytes < 0 {
			return record.InvalidField("backup.skipTargetsOverBytes", "The size limit must not be negative.")
		}
	}
	if m := c.Monitor; m != nil {
		setGiven(&set.Monitor.Enabled, m.Enabled)
		setGiven(&set.Monitor.SampleInterval, m.SampleInterval)
		if !slices.Contains([]int{5, 10, 30, 60, 300}, set.Monitor.SampleInterval) {
			return record.InvalidField("resourceMonitor.sampleIntervalSeconds", "The interval must be 5, 10, 30, 60 or 300 seconds.")
		}
	}
	if c.Schedules != nil {
		if err := set.changeSchedules(*c.Schedules); err != nil {
			return err
		}
	}
	if c.Instance != nil && c.Instance.PublicBaseURL.Set {
		return set.changeBaseURL(c.Instance.PublicBaseURL.Text)
	}
	return nil
}

func (set *systemSettings) changeSchedules(c SchedulesChange) error {
	for _, sch := range []struct {
		name   string
		change *ScheduleChange
		to     **Schedule
	}{{"schedules.updateCheck.cron", c.UpdateCheck, &set.Schedules.UpdateCheck},
		{"schedules.ghcrWebhookAudit.cron", c.WebhookAudit, &set.Schedules.WebhookAudit}} {
		if sch.change == nil {
			continue
		}
		next := Schedule{}
		setGiven(&next, *sch.to)
		setGiven(&next.Enabled, sch.change.Enabled)
		setGiven(&next.Cron, sch.change.Cron)
		next.Cron = strings.TrimSpace(next.Cron)
		if err := queue.ValidCron(next.Cron); next.Enabled && err != nil {
			return record.InvalidField(sch.name, "The schedule %q is not valid: five fields, or six with seconds first.", next.Cron).With("reason",
				"cron_invalid")
		}
		*sch.to = &next
	}
	return nil
}

// changeBaseURL sets the public base URL: empty for none, else absolute, trimmed, with a slash at the end.
func (set *systemSettings) changeBaseURL(text string) error {
	if text = strings.TrimSpace(text); text == "" {
		set.Instance.PublicBaseURL = nil
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > 1024 || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return record.InvalidField("instance.publicBaseUrl",
			"The public base URL must be an absolute http:// or https:// URL of at most 1024 bytes.")
	}
	if !strings.HasSuffix(text, "/") {
		text += "/"
	}
	set.Instance.PublicBaseURL = &text
	return nil
}

// ChangeSettings stores a change of the settings, and puts the schedules into use. Changes at the same time keep each
// other's members.
func (s *Service) ChangeSettings(ctx context.Context, c SettingsChange) error {
	if err := s.checkBackupChange(ctx, c); err != nil {
		return err
	}
	err := s.repo.ChangeSetting(ctx, settingSystem, func(ctx context.Context) error {
		set, err := s.systemSettings(ctx)
		if err != nil {
			return err
		}
		if err := set.applyChange(c); err != nil {
			return err
		}
		return s.repo.PutSetting(ctx, settingSystem, set, s.now())
	})
	if err != nil {
		return err
	}
	s.Usage.Wake()
	return s.applySchedules(ctx)
}

// checkBackupChange refuses a directory of backups that cannot be written. While backups are off, the stored one may be so.
func (s *Service) checkBackupChange(ctx context.Context, c SettingsChange) error {
	stored, err := s.systemSettings(ctx)
	if err != nil || c.Backup == nil {
		return err
	}
	next := stored
	if err := next.applyChange(SettingsChange{Backup: c.Backup}); err != nil {
		return err
	}
	if !next.Backup.Enabled && next.Backup.BaseDir == stored.Backup.BaseDir {
		return nil
	}
	if err := backup.ProbeDir(next.Backup.BaseDir); err != nil {
		return record.InvalidField("backup.baseDir", "The directory of backups cannot be written: %s.", backup.Reason(err)).With("reason",
			"not_writable")
	}
	return nil
}
