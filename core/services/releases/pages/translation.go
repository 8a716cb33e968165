package pages

import (
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// translationsPath is followed by the id of a release and a lane.
const translationsPath = "/translations"

// The lanes of a release besides its own text, as addresses have them.
const (
	laneTranslated = "translated"
	laneSummary    = "summary"
)

// translatingEvery is how often the page looks whether a translation is there.
const translatingEvery = time.Second

// isTranslatable reports whether releases have lanes: something translates, or there is something to say about it.
func isTranslatable(r reading.ReleaseDetail) bool {
	t := r.Translated.Of
	return t != nil && (t.Status != "disabled" || t.ErrorCode != nil)
}

// findLane returns the lane that an address chooses, "" for the text itself.
func findLane(word string, r reading.ReleaseDetail) string {
	if (word == laneTranslated || word == laneSummary) && isTranslatable(r) {
		return word
	}
	return ""
}

// findText returns what there is of a release in a lane.
func findText(r reading.ReleaseDetail, lane string) translation.TranslatedItem {
	item := r.Translated.Of
	if lane == laneSummary {
		item = r.Smart.Of
	}
	if item == nil {
		return translation.TranslatedItem{Status: "disabled"}
	}
	return *item
}

// isUnderWay reports whether a translation is on its way.
func isUnderWay(t translation.TranslatedItem) bool {
	return t.Status == "missing" && t.AutoTranslate != nil && !*t.AutoTranslate
}

// mayAsk reports whether the page has a button that asks for a translation.
func mayAsk(t translation.TranslatedItem) bool {
	return !isUnderWay(t) && (t.Status == "missing" || t.Status == "error" || t.Status == "disabled" && t.ErrorCode != nil)
}

// laneURL is the address of a release in a lane.
func (p pages) laneURL(r reading.ReleaseDetail, lane string) templ.SafeURL {
	var query []string
	if lane != "" {
		query = []string{"lane", lane}
	}
	return templ.SafeURL(ui.Address(p.tagURL(textOrEmpty(r.RepoFullName), r.TagName), query...))
}

// translatedURL is the address of the translation of a release in the feed.
func (p pages) translatedURL(i feed.Item) templ.SafeURL {
	return templ.SafeURL(ui.Address(p.tagURL(i.RepoFullName, i.Tag), "lane", laneTranslated))
}

// liveTranslation are the attributes by which the page waits for a translation.
func (p pages) liveTranslation(r reading.ReleaseDetail, lane string) templ.Attributes {
	if lane == "" || !isUnderWay(findText(r, lane)) {
		return templ.Attributes{}
	}
	return ui.Live(p.base + translationsPath + "/" + r.ReleaseID + "/" + lane + "/live")
}

func (p *readingPages) translationLive(c *gin.Context) {
	ctx := c.Request.Context()
	p.kit.Stream(c, translatingEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		r, err := p.service.ReleaseByID(ctx, c.Param("id"), "")
		lane := findLane(c.Param("lane"), r)
		return releaseText(v, p.pages, r, lane), !isUnderWay(findText(r, lane)), err
	})
}

func (p *readingPages) startTranslation(c *gin.Context) {
	ctx := c.Request.Context()
	r, err := p.service.ReleaseByID(ctx, c.Param("id"), "")
	lane := findLane(c.Param("lane"), r)
	if err == nil {
		err = p.service.StartTranslation(ctx, r.ReleaseID, lane == laneSummary)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Redirect(c, string(p.laneURL(r, lane)))
}
