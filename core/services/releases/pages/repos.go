package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
)

func (p *settingsPages) showRepos(c *gin.Context) { p.renderRepos(c, ui.Form{}, nil) }

// renderRepos shows the repositories that the caller sees, with the form that follows another one, and what an import has done.
func (p *settingsPages) renderRepos(c *gin.Context, form ui.Form, imported *follow.ImportResult) {
	ctx := c.Request.Context()
	list, status, err := readWithStatus(ctx, p.service, p.service.Followed)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.nav.repos", reposPath)
	p.kit.Render(c, v, max(http.StatusOK, form.Status()), reposPage(v, p.pages, list, status, auth.From(ctx).HasAccount(), form, imported))
}

func (p *settingsPages) followRepo(c *gin.Context) {
	if _, err := p.service.Follow(c.Request.Context(), c.PostForm("name")); err != nil {
		if f := fault.As(err); f.Ext["field"] == "name" && (f.Code == fault.NotFound || f.Code == fault.NotReady) {
			// What the code host says of the name stands at the field.
			err = f.WithStatus(http.StatusUnprocessableEntity)
		}
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderRepos(c, form, nil)
		}
		return
	}
	p.finishAction(c, p.base+reposPath, "releases.followed", nil)
}

func (p *settingsPages) importRepos(c *gin.Context) {
	result, err := p.service.ImportRepos(c.Request.Context(), "", c.PostForm("content"))
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderRepos(c, form, nil)
		}
		return
	}
	p.renderRepos(c, ui.Form{}, &result)
}

func (p *settingsPages) unfollowRepo(c *gin.Context) {
	p.finishAction(c, p.base+reposPath, "releases.unfollowed", p.service.Unfollow(c.Request.Context(), c.Param("owner"), c.Param("repo")))
}

func (p *settingsPages) setFilter(c *gin.Context) {
	_, err := p.service.SetFilter(c.Request.Context(), c.Param("owner"), c.Param("repo"), follow.RepoFilter{
		Muted: c.PostForm("muted") != "", NoPrereleases: c.PostForm("no_prereleases") != "", MinLevel: c.PostForm("min_level"),
		Keyword: c.PostForm("keyword"),
	})
	p.finishAction(c, p.base+reposPath, "releases.saved", err)
}
