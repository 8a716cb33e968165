package pages

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
)

// settingsPages are the page of the settings.
type settingsPages struct{ pages }

func (p settingsPages) settingsRoutes() []httpd.Route {
	return []httpd.Route{getRoute("/settings", func(c *gin.Context) { p.renderSettings(c, pageForm{}) }), postRoute("/settings", p.saveSettings)}
}

// renderSettings shows the settings with a form that was refused.
func (p settingsPages) renderSettings(c *gin.Context, refused pageForm) {
	set, err := p.service.SystemSettings(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.settings.title")
	p.kit.Render(c, v, refused.form.Status(), settingsPage(v, p.pages, settingsView{set, refused}))
}

// sampleIntervals are the pauses between two samples that can be chosen, in seconds.
func sampleIntervals() []int { return []int{5, 10, 30, 60, 300} }

// saveSettings stores the part of the settings that a form is about, and leaves the rest alone.
func (p settingsPages) saveSettings(c *gin.Context) {
	var change service.SettingsChange
	var err error
	on := func(field string) *bool { return new(c.PostForm(field) != "") }
	text := func(field string) *string { return new(strings.TrimSpace(c.PostForm(field))) }
	switch c.PostForm("part") {
	case "backup":
		var limit int64
		limit, err = readMebibytes(c.PostForm("limit"))
		change.Backup = &service.BackupChange{Enabled: on("enabled"), RequireSuccess: on("require"), BaseDir: text("dir"), SkipOverBytes: &limit}
	case "monitor":
		interval, _ := strconv.Atoi(c.PostForm("interval"))
		change.Monitor = &service.MonitorChange{Enabled: on("enabled"), SampleInterval: &interval}
	case "schedules":
		change.Schedules = &service.SchedulesChange{
			UpdateCheck:  &service.ScheduleChange{Enabled: on("check"), Cron: text("check_cron")},
			WebhookAudit: &service.ScheduleChange{Enabled: on("audit"), Cron: text("audit_cron")},
		}
	case "instance":
		change.Instance = &service.InstanceChange{PublicBaseURL: api.OptionalText{Set: true, Text: *text("url")}}
	default:
		err = fault.New(fault.InvalidArgument, "The form does not say what to change.")
	}
	if err == nil {
		err = p.service.ChangeSettings(c.Request.Context(), change)
	}
	if err == nil {
		p.finishAction(c, "/settings", "containers.settings.saved", nil)
		return
	}
	if form, ok := p.kit.ReadForm(c, err); ok {
		p.renderSettings(c, pageForm{c.PostForm("part"), form})
	}
}

// readMebibytes reads a size in MiB; an empty field means no limit.
func readMebibytes(text string) (int64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 1<<30 {
		return 0, fault.New(fault.InvalidArgument, "The size limit must be a number of MiB, or empty for none.").With("field",
			"backup.skipTargetsOverBytes")
	}
	return int64(n * (1 << 20)), nil
}

// inMebibytes writes such a size; empty for no limit.
func inMebibytes(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', -1, 64)
}

// cronID is the text that explains an example of a schedule.
func cronID(example string) string {
	switch {
	case strings.HasPrefix(example, "CRON_TZ"):
		return "zone"
	case strings.HasPrefix(example, "*/30"):
		return "often"
	case strings.HasSuffix(example, "1"):
		return "weekly"
	}
	return "daily"
}

// settingsView is what the page of the settings shows.
type settingsView struct {
	service.SystemSettings
	pageForm
}

// limitInput is the line of the size from which on backups are left out.
func limitInput(label, hint string, limit int64) ui.Input {
	return ui.Input{ID: "limit", Name: "limit", Type: "number", Label: label, Hint: hint, Value: inMebibytes(limit),
		Field: "backup.skipTargetsOverBytes", Attributes: templ.Attributes{"min": "0", "step": "any"}}
}

// cronField returns what errors call a schedule.
func cronField(name string) string {
	if name == "check" {
		return "schedules.updateCheck.cron"
	}
	return "schedules.ghcrWebhookAudit.cron"
}
