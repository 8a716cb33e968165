package pages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// modelsPath is that of the page of language models, for administrators.
const modelsPath = hostsPath + "/models"

func (p *adminPages) showModels(c *gin.Context) {
	cursor := c.Query("cursor")
	use, err := p.service.ModelUse(c.Request.Context(), cursor)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.nav.models", hostsPath)
	p.kit.Render(c, v, http.StatusOK, modelsPage(v, p.pages, use, cursor == ""))
}

// callTable is the list of calls.
func callTable(v *ui.View) ui.Table {
	column := func(id, class string) ui.Column { return ui.Column{Label: v.T("releases.call." + id), Class: class} }
	title := column("model", "")
	title.Kind = ui.TitleColumn
	return ui.Table{Name: v.T("releases.calls"), Columns: []ui.Column{
		title, column("at", "nowrap"), column("task", ""), column("outcome", ""), column("input", "r"), column("output", "r"),
		column("cost", "r"), column("duration", "r"),
	}}
}

// olderCalls is the address of the calls before those of a page, "" if there are none.
func (p pages) olderCalls(use translation.ModelUse) string {
	if use.Next == "" {
		return ""
	}
	return ui.Address(p.base+modelsPath, "cursor", use.Next)
}

// costText writes millionths of a currency, such as 0.0125.
func costText(micros int64) string {
	text := strings.TrimRight(strconv.FormatFloat(float64(micros)/1e6, 'f', 6, 64), "0")
	return strings.TrimSuffix(text, ".")
}

// budgetRemark says how much of a budget is used: limit is 0 for none.
func budgetRemark(v *ui.View, limit string) string {
	if limit == "0" {
		return v.T("releases.models.unlimited")
	}
	return v.T("releases.models.of", "Limit", limit)
}

// outcomeTone is the class of the pill of how a call ended.
func outcomeTone(outcome string) string {
	switch outcome {
	case "ok":
		return "ok"
	case "rate_limited", "temporary":
		return "warn"
	}
	return "bad"
}
