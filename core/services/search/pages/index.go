package pages

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

const (
	// indexEvery is how often the page of the indexes looks for news.
	indexEvery = time.Second
	// overviewTime is how long the overview waits for the indexes.
	overviewTime = 300 * time.Millisecond
)

// indexesInTime returns the indexes without waiting long for one that does not answer.
func (p pages) indexesInTime(ctx context.Context) []proxy.Index {
	ctx, cancel := context.WithTimeout(ctx, overviewTime)
	defer cancel()
	return p.service.Indexes(ctx)
}

// showIndex is the page of the indexes that backends keep.
func (p pages) showIndex(c *gin.Context) {
	v := p.newView(c, "search.index.title")
	p.kit.Render(c, v, http.StatusOK, indexPage(v, p, p.service.Indexes(c.Request.Context())))
}

func (p pages) indexLive(c *gin.Context) {
	p.kit.Stream(c, indexEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		return indexCards(v, p, p.service.Indexes(c.Request.Context())), false, nil
	})
}

func (p pages) startReindex(c *gin.Context) {
	ref := c.Param("ref")
	if err := p.service.Reindex(c.Request.Context(), ref); err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.base+"/index", ui.Toast{Kind: "info", TextID: "search.index.started", Args: []string{"Backend", ref}})
}

// sourceTable returns the columns of the sources of an index.
func sourceTable(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("search.index.sources"), Columns: []ui.Column{
		{Label: v.T("search.index.source"), Kind: ui.TitleColumn, Class: "m"}, {Label: v.T("search.state")},
		{Label: v.T("search.index.documents"), Class: numbers},
		{Label: v.T("search.index.visited"), Class: "nowrap"}, {Label: v.T("search.index.next"), Class: "nowrap"},
	}}
}

// sourceKind returns what a source is, in words.
func sourceKind(v *ui.View, s proxy.IndexSource) string {
	if s.Site {
		return v.T("search.index.site")
	}
	return v.T("search.index.files")
}

// leftOutCount returns how many files or pages of a source are not in the index.
func leftOutCount(s proxy.IndexSource) (n int64) {
	for _, l := range s.LeftOut {
		n += l.Count
	}
	return n
}

// leftOutReasons are the reasons that have words of their own.
var leftOutReasons = []string{
	"empty", "too_large", "generated", "sensitive", "link", "unreadable", "binary", "encoding", "key", "no_text", "damaged", "encrypted",
	"too_slow",
	"noindex", "robots", "status", "redirect", "timeout", "failed",
}

// leftOutReason returns why something is not in the index, in words.
func leftOutReason(v *ui.View, reason string) string {
	if slices.Contains(leftOutReasons, reason) {
		return v.T("search.index.left." + reason)
	}
	return reason
}

// leftOutNames lists the names that are known of what is left out, and tells if there are more.
func leftOutNames(l proxy.LeftOut) string {
	names := strings.Join(l.Names, ", ")
	if int64(len(l.Names)) < l.Count {
		names += ", …"
	}
	return strings.TrimPrefix(names, ", ")
}
