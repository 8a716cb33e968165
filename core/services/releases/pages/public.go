package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

const (
	// publicReposPath is that of the page on which administrators publish repositories.
	publicReposPath = hostsPath + "/public"
	// publicPageSize is how many releases a public page has.
	publicPageSize = 10
)

// publicLanes are what a public page may show of each release, in the words of the API.
var publicLanes = []string{"original", "translated", "polished"}

// publicView begins a page that everybody may read. It has nothing of whoever looks at it, and no warnings for operators.
func (p pages) publicView(c *gin.Context, title string) *ui.View {
	v := p.newView(c, "", "")
	v.Title, v.Principal, v.Nav, v.Warnings = title, nil, nil, nil
	return v
}

// publicReleases shows the releases of a published repository.
func (p *readingPages) publicReleases(c *gin.Context) {
	name, content := c.Param("owner")+"/"+c.Param("repo"), c.DefaultQuery("content", publicLanes[0])
	err := p.service.AllowPublic(httpd.ClientAddr(c))
	var page reading.PublicPage
	if err == nil {
		page, err = p.service.PublicReleases(c.Request.Context(), name, content, c.Query("cursor"), publicPageSize)
	}
	if err != nil {
		p.failPublic(c, err)
		return
	}
	v := p.publicView(c, page.Repo.FullName)
	p.kit.Render(c, v, http.StatusOK, publicReleasesPage(v, p.pages, page, content))
}

// releaseOrPublic shows a release to who is recognised, and one of a published repository to everybody else.
func (p *readingPages) releaseOrPublic(c *gin.Context) {
	if who := p.service.Recognise(c.Request); who != nil && who.In(service.ServiceName) {
		c.Request = c.Request.WithContext(auth.With(c.Request.Context(), who))
		p.showRelease(c)
		return
	}
	err := p.service.AllowPublic(httpd.ClientAddr(c))
	var r reading.ReleaseDetail
	if err == nil {
		r, err = p.service.PublicRelease(c.Request.Context(), c.Param("owner")+"/"+c.Param("repo"), strings.TrimPrefix(c.Param("tag"), "/"))
	}
	if err != nil {
		p.failPublic(c, err)
		return
	}
	title := r.TagName
	if r.Name != nil {
		title = *r.Name
	}
	v := p.publicView(c, title)
	p.kit.Render(c, v, http.StatusOK, publicReleasePage(v, p.pages, r))
}

// failPublic answers with an error. Who is not signed in learns of nothing that is not published: there may be something after the
// sign-in.
func (p *readingPages) failPublic(c *gin.Context, err error) {
	if fault.CodeOf(err) == fault.NotFound && p.service.Recognise(c.Request) == nil {
		err = fault.New(fault.Unauthorized, "Sign in to see this.")
	}
	p.kit.Fail(c, err)
}

// publicURL is the page of the releases of a published repository.
func (p pages) publicURL(name, content, cursor string) templ.SafeURL {
	q := url.Values{}
	if content != publicLanes[0] {
		q.Set("content", content)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	to := p.base + "/" + name + "/releases"
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return templ.SafeURL(to)
}

// publicText returns the text of a release in a lane of a public page, nil if it is not there.
func publicText(r reading.PublicRelease, content string) *reading.PublicText {
	switch content {
	case "translated":
		return r.Translated.Of
	case "polished":
		return r.Polished.Of
	}
	return r.Original.Of
}

// languageAttributes returns the attribute that names the language of a text; none for the original.
func languageAttributes(t *reading.PublicText) templ.Attributes {
	if t.Lang == nil {
		return nil
	}
	return templ.Attributes{"lang": *t.Lang}
}
