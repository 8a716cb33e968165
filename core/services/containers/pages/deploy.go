package pages

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
)

// deployPages are the page of the deploy check.
type deployPages struct{ pages }

func (p deployPages) deployRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute("/deploy-check", p.showDeployCheck), getRoute("/deploy-check/live", p.deployLive),
		postRoute("/deploy-check/refresh", func(c *gin.Context) {
			_, err := p.service.RefreshReport(c.Request.Context())
			p.finishAction(c, "/deploy-check", "containers.deploy.asked", err)
		}),
		postRoute("/deploy-check/welcome", func(c *gin.Context) {
			p.finishAction(c, "/deploy-check", "containers.deploy.saved", p.service.SetWelcome(c.Request.Context(), c.PostForm("open") == ""))
		}),
	}
}

// deployView is the last report.
type deployView struct {
	// Report is nil while the first is being made.
	Report  *deploycheck.Report
	Welcome service.Welcome
}

func (p deployPages) deployView(c *gin.Context) (out deployView, err error) {
	if out.Report, err = p.service.DeployReport(c.Request.Context()); err != nil {
		return out, err
	}
	out.Welcome, err = p.service.Welcome(c.Request.Context())
	return out, err
}

func (p deployPages) showDeployCheck(c *gin.Context) {
	d, err := p.deployView(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.deploy.title")
	p.kit.Render(c, v, http.StatusOK, deployPage(v, p.pages, d))
}

func (p deployPages) deployLive(c *gin.Context) {
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		d, err := p.deployView(c)
		return deployParts(v, d), false, err
	})
}

// checkText is a part of a check in the language of the page; the service writes English.
func checkText(v *ui.View, c deploycheck.ReportCheck, part, english string) string {
	if english == "" || v.Lang == ui.English {
		return english
	}
	return v.Word("containers.deploy."+c.ID+"."+part, english)
}

// filterChecks are those of a group, what fails first.
func (d deployView) filterChecks(group string) (out []deploycheck.ReportCheck) {
	for _, status := range []string{"fail", "na", "pass"} {
		for _, c := range d.Report.Checks {
			if c.Group == group && c.Status == status {
				out = append(out, c)
			}
		}
	}
	return out
}

// remedyTone is the class of a remedy: urgent only where something fails.
func remedyTone(status string) string {
	if status == "fail" {
		return "warn"
	}
	return "off"
}
