package console

import (
	"github.com/a-h/templ"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// userColumns are the columns of the list of users.
func userColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("users.title"), Columns: []ui.Column{
		{Label: v.T("user.name"), Kind: ui.TitleColumn}, {Label: v.T("jobs.state")}, {Label: v.T("user.role"), Class: "nowrap"},
		{Label: v.T("account.created"), Class: "nowrap"}, {Label: v.T("account.actions"), Kind: ui.ActionColumn},
	}}
}

// nodeColumns returns the columns of the list of nodes.
func nodeColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("nodes.title"), Columns: []ui.Column{
		{Label: v.T("nodes.node"), Kind: ui.TitleColumn}, {Label: v.T("jobs.state")}, {Label: v.T("nodes.version"), Class: "nowrap"},
		{Label: v.T("nodes.roles")}, {Label: v.T("jobs.title"), Class: "r nowrap"}, {Label: v.T("nodes.started"), Class: "nowrap"}, {Label: v.T("nodes.seen"), Class: "nowrap"},
		{Label: v.T("account.actions"), Kind: ui.ActionColumn},
	}}
}

// pluginColumns returns the columns of the list of instances.
func pluginColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("plugins.title"), Columns: []ui.Column{
		{Label: v.T("plugins.instance"), Kind: ui.TitleColumn}, {Label: v.T("plugins.state")}, {Label: v.T("plugins.uptime"), Class: "nowrap"},
		{Label: v.T("plugins.restarts"), Class: "r nowrap"},
		{Label: v.T("plugins.memory"), Class: "r nowrap"}, {Label: v.T("plugins.calls"), Class: "r nowrap"},
		{Label: v.T("plugins.errors"), Class: "r nowrap"}, {Label: v.T("plugins.latency"), Class: "nowrap"},
	}}
}

// filterForm returns the form above the audit.
func (a auditView) filterForm(v *ui.View) ui.Filter {
	actions, outcomes := []ui.Option{{Label: v.T("audit.all")}}, []ui.Option{{Label: v.T("audit.all_results")}}
	for _, name := range a.Actions {
		actions = append(actions, ui.Option{Value: name, Label: v.Word("action."+name, name)})
	}
	for _, name := range auditResults() {
		outcomes = append(outcomes, ui.Option{Value: name, Label: v.State(name)})
	}
	return ui.Filter{Path: auditPath, Fields: []ui.FilterField{
		{Name: "action", Label: v.T("audit.action"), Value: a.Action, Options: actions},
		{Name: "result", Label: v.T("audit.result"), Value: a.Result, Options: outcomes},
		{Name: "actor", Label: v.T("audit.who"), Value: a.Actor, MaxLength: 254},
		{Name: "object", Label: v.T("audit.object"), Value: a.Object, MaxLength: 254},
		{Name: "from", Label: v.T("audit.from"), Value: a.From, Type: "date", MaxLength: 10},
		{Name: "until", Label: v.T("audit.until"), Value: a.Until, Type: "date", MaxLength: 10},
	}}
}

// auditColumns are the columns of the audit.
func auditColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("audit.title"), Columns: []ui.Column{
		{Label: v.T("audit.action"), Kind: ui.TitleColumn}, {Label: v.T("audit.when"), Class: "nowrap"}, {Label: v.T("audit.who")},
		{Label: v.T("audit.target")}, {Label: v.T("account.address"), Class: "m"}, {Label: v.T("audit.result")},
	}}
}

// filterForm returns the form above the list of jobs.
func (l jobsView) filterForm(v *ui.View) ui.Filter {
	options := []ui.Option{{Label: v.T("jobs.all_states")}, {Value: openState, Label: v.T("jobs.open")}}
	for _, s := range jobStates() {
		options = append(options, ui.Option{Value: string(s), Label: v.State(string(s))})
	}
	types := []ui.Option{{Label: v.T("jobs.all_types")}}
	for _, name := range l.Types {
		types = append(types, ui.Option{Value: name, Label: v.Word("job."+name, name)})
	}
	housekeeping := []ui.Option{{Label: v.T("jobs.housekeeping.hidden")}, {Value: shownHousekeeping, Label: v.T("jobs.housekeeping.shown")}}
	return ui.Filter{Path: jobsPath, Hidden: []string{"tag", l.Filter.Tag}, Fields: []ui.FilterField{
		{Name: "state", Label: v.T("jobs.state"), Value: l.Filter.State, Options: options},
		{Name: "type", Label: v.T("jobs.type"), Value: l.Filter.Type, Options: types},
		{Name: "housekeeping", Label: v.T("jobs.housekeeping"), Value: l.Filter.Housekeeping, Options: housekeeping,
			Wider: []string{shownHousekeeping}},
	}}
}

// activeFilter returns the filter with the tag, which has no field of its own, among its fields.
func (l jobsView) activeFilter(v *ui.View) ui.Filter {
	f := l.filterForm(v)
	f.Hidden = nil
	if l.Filter.Tag != "" {
		f.Fields = append(f.Fields, ui.FilterField{Name: "tag", Label: v.T("jobs.target"), Value: l.Filter.Tag})
	}
	return f
}

// jobURL returns the page of a job.
func (l jobsView) jobURL(j queue.Job) string {
	if page := l.Targets[j.ID].Page; page != "" {
		return page
	}
	return jobsPath + "/" + j.ID
}

// liveAttributes returns the attributes of the list of jobs: its first page is kept current.
func (l jobsView) liveAttributes() templ.Attributes {
	if l.Filter.Cursor != "" {
		return nil
	}
	return ui.Live(l.Filter.pageURL(jobsPath+"/live", ""))
}

// jobColumns are the columns of the list of jobs.
func jobColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("jobs.title"), Columns: []ui.Column{
		{Label: v.T("jobs.type"), Kind: ui.TitleColumn}, {Label: v.T("jobs.target")}, {Label: v.T("jobs.state")}, {Label: v.T("jobs.step")},
		{Label: v.T("jobs.actor")}, {Label: v.T("jobs.took"), Class: "r nowrap"}, {Label: v.T("jobs.when"), Class: "r nowrap"},
	}}
}
