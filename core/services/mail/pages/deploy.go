package pages

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/deploycheck"
)

const deployPath = "/deploy-check"

func (p pages) deployCheck(c *gin.Context) {
	v := p.newView(c, "mail.nav.deploy")
	v.Path = p.base + deployPath
	p.kit.Render(c, v, http.StatusOK, deployPage(v, p, p.service.LastDeployReport()))
}

func (p pages) checkDeployment(c *gin.Context) {
	report, err := p.service.CheckDeployment(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	toast := ui.Toast{Kind: "ok", TextID: "mail.deploy.passed"}
	if report.Failed() > 0 {
		toast = ui.Toast{Kind: "info", TextID: "mail.deploy.done"}
	}
	p.kit.Done(c, p.base+deployPath, toast)
}

// sortedChecks returns the checks of a report, those that failed first.
func sortedChecks(r *api.DeployReport) []deploycheck.Finding {
	order := []string{deploycheck.Fail, deploycheck.NotApplicable, deploycheck.Pass}
	out := slices.Clone(r.Checks)
	slices.SortStableFunc(out, func(a, b deploycheck.Finding) int {
		return slices.Index(order, a.Status) - slices.Index(order, b.Status)
	})
	return out
}

// checkTone returns the colour of the outcome of a check.
func checkTone(status string) string {
	switch status {
	case deploycheck.Pass:
		return "ok"
	case deploycheck.Fail:
		return "bad"
	}
	return ""
}
