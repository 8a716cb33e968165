package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

// feedURL returns the page of the feed to which an action leads back.
func (p pages) feedURL(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		path = feedPath
	}
	return ui.LocalPath(p.base + path)
}

func (p *readingPages) showRelease(c *gin.Context) {
	ctx := c.Request.Context()
	repo, tag := c.Param("owner")+"/"+c.Param("repo"), strings.TrimPrefix(c.Param("tag"), "/")
	r, err := p.service.Release(ctx, repo, tag, "")
	if err == nil && c.Request.Method == http.MethodGet {
		err = p.service.SetRead(ctx, r.ReleaseID, true)
	}
	var bar reading.ReactionBar
	if err == nil {
		look := p.service.ReactionsTo
		if c.Query(reactedParameter) != "" {
			// Without a script nothing else asks for what the reader has just changed.
			look = p.service.RefreshReactions
		}
		bar, err = look(ctx, r.ReleaseID)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.release", feedPath)
	v.Title = r.TagName
	if r.Name != nil {
		v.Title = *r.Name
	}
	p.kit.Render(c, v, http.StatusOK, releasePage(v, p.pages, r, findLane(c.Query("lane"), r), bar, p.feedURL(c.Query("from"))))
}

// tagURL is the page of a release of a repository.
func (p pages) tagURL(repo, tag string) string {
	return p.base + "/" + repo + "/releases/tag/" + url.PathEscape(tag)
}

func (p *readingPages) setRead(c *gin.Context) {
	read := c.PostForm("read") != "no"
	if err := p.service.SetRead(c.Request.Context(), c.Param("id"), read); err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Redirect(c, p.feedURL(c.PostForm("back"))+"#i-"+url.PathEscape(c.Param("id")))
}

func (p *readingPages) startSync(c *gin.Context) {
	p.finishAction(c, p.feedURL(c.PostForm("back")), "releases.sync.begun", p.service.StartSync(c.Request.Context()))
}

func (p *readingPages) showInbox(c *gin.Context) {
	ctx := c.Request.Context()
	list, status, err := readWithStatus(ctx, p.service, p.service.Notifications)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.tab.inbox", feedPath)
	p.kit.Render(c, v, http.StatusOK, inboxPage(v, p.pages, list, status))
}

func (p *readingPages) showBriefs(c *gin.Context) {
	ctx := c.Request.Context()
	list, status, err := readWithStatus(ctx, p.service, p.service.Briefs)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.tab.briefs", feedPath)
	p.kit.Render(c, v, http.StatusOK, briefsPage(v, p.pages, list, status))
}

func (p *readingPages) showBrief(c *gin.Context) {
	b, err := p.service.Brief(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.brief", feedPath)
	v.Title = v.T("releases.brief.of", "Date", b.Date)
	p.kit.Render(c, v, http.StatusOK, briefPage(v, p.pages, b))
}

func (p *readingPages) writeBrief(c *gin.Context) {
	id, err := p.service.WriteBrief(c.Request.Context())
	p.finishAction(c, p.base+briefsPath+"/"+id, "releases.brief.written", err)
}
