package pages

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// chartWindows are the stretches of time that charts show.
func chartWindows() []string { return []string{"1h", "24h", "30d"} }

// readWindow is the stretch that a page's address names; 24h without one.
func readWindow(c *gin.Context) (string, error) {
	w := c.DefaultQuery("window", "24h")
	if !slices.Contains(chartWindows(), w) {
		return "", fault.New(fault.InvalidRequest, "The window must be 1h, 24h or 30d.").With("field", "window")
	}
	return w, nil
}

// keyStates are the states of upstream keys, in the order in which they are shown.
func keyStates() []keys.KeyState {
	return []keys.KeyState{keys.KeyActive, keys.KeyCooling, keys.KeyExhausted, keys.KeyInvalid, keys.KeyDisabled}
}

type overviewView struct {
	Window string
	Chart  *audit.Chart
	Keys   map[keys.KeyState]int
	Top    []access.TopToken
	// Indexes are those that backends keep.
	Indexes []proxy.Index
}

func (p pages) showOverview(c *gin.Context) {
	ctx := c.Request.Context()
	w, err := readWindow(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	o := overviewView{Window: w, Keys: p.service.KeyStates(), Indexes: p.indexesInTime(ctx)}
	if o.Chart, err = p.service.Chart(ctx, w); err != nil {
		p.kit.Fail(c, err)
		return
	}
	if o.Top, err = p.service.TopTokens(ctx, "day", 10); err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "search.overview.title")
	v.AddCharts()
	p.kit.Render(c, v, http.StatusOK, overviewPage(v, p, o))
}
