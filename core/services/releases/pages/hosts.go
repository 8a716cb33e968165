package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
)

// hostsPath is that of the page of administrators.
const hostsPath = "/hosts"

func (p *adminPages) showHosts(c *gin.Context) {
	w, err := p.service.OverviewOf(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.nav.hosts", hostsPath)
	p.kit.Render(c, v, http.StatusOK, hostsPage(v, p.pages, w))
}

// limitName says whose calls a limit is for.
func limitName(v *ui.View, l service.HostLimit) string {
	if l.AccountID == "" {
		return v.T("releases.limits.anonymous")
	}
	if l.UserName == "" {
		return l.AccountID
	}
	return l.UserName
}
