package pages

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// numbers are the classes of columns with numbers.
const numbers = "r nowrap"

// allOption is the choice of a filter that leaves nothing out.
func allOption(v *ui.View) ui.Option { return ui.Option{Label: v.T("search.filter.all")} }

// filterForm returns the form above the list of tokens.
func (t tokensView) filterForm(v *ui.View, p pages) ui.Filter {
	groups := []ui.Option{allOption(v)}
	for _, g := range t.Groups {
		if g.Name != "" {
			groups = append(groups, ui.Option{Value: g.Name, Label: g.Name + " (" + v.Num(g.TokenCount) + ")"})
		}
	}
	quota := []ui.Option{allOption(v)}
	for _, state := range []string{"normal", "hour", "day", "month"} {
		quota = append(quota, ui.Option{Value: state, Label: v.T("search.quota.state." + state)})
	}
	return ui.Filter{Path: p.base + "/tokens", Fields: []ui.FilterField{
		{Name: "q", Label: v.T("search.filter.text"), Value: t.Query},
		{Name: "group", Label: v.T("search.group"), Value: t.Group, Options: groups},
		{Name: "enabled", Label: v.T("search.state"), Value: t.Enabled,
			Options: []ui.Option{allOption(v), {Value: "active", Label: v.State("enabled")}, {Value: "frozen", Label: v.State("disabled")}}},
		{Name: "quota", Label: v.T("search.quota"), Value: t.Quota, Options: quota},
	}}
}

// listTable returns the columns of the list of tokens. Administrators pick rows.
func (t tokensView) listTable(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("search.tokens.title"), Picks: !t.Own, Columns: []ui.Column{
		{Label: v.T("search.token"), Kind: ui.TitleColumn}, {Label: v.T("search.state")}, {Label: v.T("search.group")},
		{Label: v.T("search.owner")},
		{Label: v.T("search.quota.day.short"), Class: numbers}, {Label: v.T("search.requests.title"), Class: numbers},
		{Label: v.T("search.used"), Class: numbers},
	}}
}

// filterValues returns the filter of the list of tokens as in its address.
func (t tokensView) filterValues() url.Values {
	return ui.Query("q", t.Query, "group", t.Group, "enabled", t.Enabled, "quota", t.Quota)
}

// bulkActions returns what can be done with several tokens.
func (t tokensView) bulkActions(v *ui.View, p pages) ui.Bulk {
	return ui.Bulk{URL: p.base + "/tokens/bulk", Filter: t.filterValues(), Total: int(t.List.Total), Shown: len(t.List.Items),
		Buttons: bulkButtons(v)}
}

// bulkButtons are what can be done with several tokens or keys.
func bulkButtons(v *ui.View) []ui.BulkButton {
	return []ui.BulkButton{
		{Action: "enable", Label: v.T("search.enable"), Class: "btn"}, {Action: "disable", Label: v.T("search.disable"), Class: "btn"},
		{Action: "delete", Label: v.T("search.delete"), Class: "btn bad"},
	}
}

// filterForm returns the form above the list of keys.
func (k keysView) filterForm(v *ui.View, p pages) ui.Filter {
	states, groups := []ui.Option{allOption(v)}, []ui.Option{allOption(v)}
	for _, f := range k.List.Facets.Statuses {
		states = append(states, ui.Option{Value: f.Value, Label: v.State(f.Value) + " (" + v.Num(f.Count) + ")"})
	}
	for _, f := range k.List.Facets.Groups {
		if f.Value != "" {
			groups = append(groups, ui.Option{Value: f.Value, Label: f.Value + " (" + v.Num(f.Count) + ")"})
		}
	}
	return ui.Filter{Path: p.base + "/keys", Fields: []ui.FilterField{
		{Name: "status", Label: v.T("search.state"), Value: k.State, Options: states},
		{Name: "group", Label: v.T("search.group"), Value: k.Group, Options: groups},
	}}
}

// listTable returns the columns of the list of keys.
func (k keysView) listTable(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("search.keys.title"), Picks: true, Columns: []ui.Column{
		{Label: v.T("search.key"), Kind: ui.TitleColumn}, {Label: v.T("search.state")}, {Label: v.T("search.group")},
		{Label: v.T("search.quota.left"), Class: numbers},
		{Label: v.T("search.requests.title"), Class: numbers}, {Label: v.T("search.errors"), Class: numbers},
		{Label: v.T("search.used"), Class: numbers},
	}}
}

// bulkActions returns what can be done with several keys.
func (k keysView) bulkActions(v *ui.View, p pages) ui.Bulk {
	return ui.Bulk{URL: p.base + "/keys/bulk", Filter: k.filterValues(), Total: int(k.List.Total), Shown: len(k.List.Items),
		Buttons: bulkButtons(v)}
}

// filterForm returns the form above the list of requests.
func (r requestsView) filterForm(v *ui.View, p pages) ui.Filter {
	operations, results := []ui.Option{allOption(v)}, []ui.Option{allOption(v)}
	for _, o := range r.Catalog.Operations {
		operations = append(operations, ui.Option{Value: o, Label: o})
	}
	for _, o := range r.Catalog.Results {
		results = append(results, ui.Option{Value: o, Label: v.State(o)})
	}
	fields := []ui.FilterField{
		{Name: "token", Label: v.T("search.token"), Value: r.Filter.Token, MaxLength: 8},
		{Name: "operation", Label: v.T("search.operation"), Value: r.Filter.Operation, Options: operations},
		{Name: "result", Label: v.T("search.result"), Value: r.Filter.Result, Options: results},
	}
	if v.Admin() {
		fields = append(fields, ui.FilterField{Name: "key", Label: v.T("search.key"), Value: r.Filter.Key, MaxLength: 12})
	}
	return ui.Filter{Path: p.base + "/requests",
		Fields: append(fields, ui.FilterField{Name: "request_id", Label: v.T("search.request.id"), Value: r.Filter.RequestID, MaxLength: 30})}
}

// liveAttributes returns the attributes of the list of requests: its first page is kept current.
func (r requestsView) liveAttributes(p pages) templ.Attributes {
	if r.Filter.Cursor != "" {
		return nil
	}
	return ui.Live(r.Filter.pageURL(p.base+"/requests/live", ""))
}

// requestColumns are the columns of a list of requests; of leaves the token out.
func requestColumns(v *ui.View, of bool) ui.Table {
	t := ui.Table{Name: v.T("search.requests.title"), Columns: []ui.Column{
		{Label: v.T("search.time"), Class: "m nowrap", Kind: ui.TitleColumn}, {Label: v.T("search.operation")},
		{Label: v.T("search.result"), Class: "nowrap"},
		{Label: v.T("search.backend"), Class: "m"}, {Label: v.T("search.credits"), Class: numbers},
		{Label: v.T("search.duration"), Class: numbers},
	}}
	if !of {
		t.Columns = append(t.Columns, ui.Column{Label: v.T("search.token"), Class: "m r"})
	}
	return t
}
