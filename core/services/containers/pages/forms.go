package pages

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
)

// The forms of pages that have several.
const (
	ignoreForm  = "ignore"
	serviceForm = "service"
	hookForm    = "hooks"
	targetForm  = "target"
)

// newIgnore and newTarget are the ids of the dialogs that add an ignore rule and a target.
const (
	newIgnore = "new-ignore"
	newTarget = "new-target"
)

// pageForm is the form of a page that was refused. The zero value is none.
type pageForm struct {
	name string
	form ui.Form
}

// formNamed returns a form of the page: as it was refused, or else as it is at first.
func (f pageForm) formNamed(name string) ui.Form {
	if f.name == name {
		return f.form
	}
	return ui.Form{}
}

// changeForm returns a handler of a form on the page of a service. The page shows what is wrong with it.
func (p pages) changeForm(name, toast string, do func(c *gin.Context, id string) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		d, _, err := p.knownService(c)
		if err != nil {
			p.kit.Fail(c, err)
			return
		}
		if err := do(c, d.ID); err != nil {
			if form, ok := p.kit.ReadForm(c, err); ok {
				p.renderService(c, pageForm{name, form})
			}
			return
		}
		p.kit.Done(c, p.serviceURL(d.StackID, d.ID), ui.Toast{Kind: "ok", TextID: toast})
	}
}

// boundAttributes returns the bounds of a number.
func boundAttributes(least, most int) templ.Attributes {
	return templ.Attributes{"min": strconv.Itoa(least), "max": strconv.Itoa(most)}
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

// settingsView is what the page of the settings shows.
type settingsView struct {
	service.SystemSettings
	pageForm
}
