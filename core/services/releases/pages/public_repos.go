package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// publicRepos shows administrators which repositories are published.
func (p *adminPages) publicRepos(c *gin.Context) { p.renderPublicRepos(c, ui.Form{}) }

func (p *adminPages) renderPublicRepos(c *gin.Context, form ui.Form) {
	state, err := p.service.PublicState(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.nav.public", hostsPath)
	p.kit.Render(c, v, max(http.StatusOK, form.Status()), publicReposPage(v, p.pages, state, form))
}

func (p *adminPages) publishRepo(c *gin.Context) {
	if err := p.service.PublishRepo(c.Request.Context(), c.PostForm("name")); err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderPublicRepos(c, form)
		}
		return
	}
	p.finishAction(c, p.base+publicReposPath, "releases.public.published", nil)
}

func (p *adminPages) unpublishRepo(c *gin.Context) {
	p.finishAction(c, p.base+publicReposPath, "releases.public.unpublished",
		p.service.UnpublishRepo(c.Request.Context(), c.Param("owner")+"/"+c.Param("repo")))
}
