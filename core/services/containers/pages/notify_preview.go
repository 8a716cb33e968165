package pages

import (
	"bytes"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
)

// mailPolicy is the content security policy of the HTML text, which is shown in a frame of our own pages: it runs nothing,
// loads nothing but its style, and is nobody's origin.
const mailPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"

// previewURL is the address of the preview of a kind, or of a part of it.
func previewURL(p pages, kind, part string) string {
	return p.base + notifyPath + "/preview/" + kind + part
}

// readPreview is the preview that an address asks for, with its language; it answers itself when there is none.
func (p notifyPages) readPreview(c *gin.Context) (got notice.Preview, locale string, ok bool) {
	set, err := p.service.Channels().Settings(c.Request.Context())
	if err == nil {
		got, err = p.notices.Preview(c.Request.Context(), c.Param("kind"))
	}
	if err != nil {
		p.kit.Fail(c, err)
		return got, "", false
	}
	return got, set.Locale, true
}

// showPreview shows what a notification of a kind looks like in each form.
func (p notifyPages) showPreview(c *gin.Context) {
	got, locale, ok := p.readPreview(c)
	if !ok {
		return
	}
	v := p.newView(c, "containers.notify.preview")
	v.Frames = true
	p.kit.Render(c, v, http.StatusOK, previewPage(v, p.pages, got, locale))
}

// previewMail is the HTML text alone, as mail shows it.
func (p notifyPages) previewMail(c *gin.Context) {
	got, locale, ok := p.readPreview(c)
	if !ok {
		return
	}
	var b bytes.Buffer
	if err := mailPage(p.kit.View(c, ""), got, locale).Render(c.Request.Context(), &b); err != nil {
		p.kit.Fail(c, fault.Wrap(err, fault.Internal, "The page could not be made."))
		return
	}
	h := c.Writer.Header()
	ui.Headers(h)
	h.Set("Content-Security-Policy", mailPolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	c.Data(http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}

// previewCard is the picture of a kind.
func (p notifyPages) previewCard(c *gin.Context) {
	png, err := p.notices.PreviewCard(c.Request.Context(), c.Param("kind"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "image/png", png)
}
