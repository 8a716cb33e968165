package pages

import (
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
)

// numbers are the classes of columns with numbers and times.
const numbers = "r nowrap"

// allOption is the choice of a filter that leaves nothing out.
func allOption(v *ui.View) ui.Option { return ui.Option{Label: v.T("containers.filter.all")} }

// queryField is the field of a filter by a text.
func queryField(label, value string) ui.FilterField {
	return ui.FilterField{Name: "q", Label: label, Value: value}
}

// archivedField is the field of a filter by what was archived.
func archivedField(v *ui.View, chosen string) ui.FilterField {
	return ui.FilterField{Name: "archived", Label: v.T("containers.filter.archived"), Value: chosen, Options: []ui.Option{
		{Label: v.T("containers.filter.archived.exclude")}, {Value: project.ArchivedInclude, Label: v.T("containers.filter.archived.include")},
		{Value: project.ArchivedOnly, Label: v.T("containers.filter.archived.only")},
	}, Wider: []string{project.ArchivedInclude}}
}

// filterForm returns the form above the stacks.
func (l stacksView) filterForm(v *ui.View, p pages) ui.Filter {
	show := []ui.Option{{Label: v.T("containers.filter.show.all")}, {Value: "updates", Label: v.T("containers.filter.show.updates")}}
	return ui.Filter{Path: p.base + "/stacks", Fields: []ui.FilterField{
		queryField(v.T("containers.filter.text"), l.Filter.Query),
		{Name: "show", Label: v.T("containers.filter.show"), Value: l.Filter.Show, Options: show}, archivedField(v, l.Filter.Archived),
	}}
}

// countUpdates returns how many services of the list an update of several takes along.
func (l stacksView) countUpdates() int { return len(waitingUpdates(l.Stacks)) }

// bulkActions returns what can be done with several services.
func (l stacksView) bulkActions(v *ui.View, p pages) ui.Bulk {
	n := l.countUpdates()
	return ui.Bulk{URL: p.base + "/stacks/update", Filter: l.Filter.queryValues(), Total: n, Shown: n,
		Buttons: []ui.BulkButton{{Action: "update", Label: v.T("containers.update"), Class: "btn p"}}}
}

// serviceColumns are the columns of the services of a stack, with ticks if any of them can be picked.
func serviceColumns(v *ui.View, st project.StackDetail, picks bool) ui.Table {
	return ui.Table{Name: v.T("containers.services") + ": " + st.Name, Picks: picks && len(waitingUpdates([]project.StackDetail{st})) > 0,
		Columns: []ui.Column{
			{Label: v.T("containers.service"), Kind: ui.TitleColumn}, {Label: v.T("containers.state")}, {Label: v.T("containers.version")},
			{Label: v.T("containers.cpu"), Class: numbers}, {Label: v.T("containers.memory"), Class: numbers},
			{Label: v.T("containers.actions"), Kind: ui.ActionColumn},
		}}
}

// serviceRow returns the row of a service, which can be picked if an update of several takes it along.
func serviceRow(v *ui.View, st project.StackDetail, s project.ServiceDetail) ui.Row {
	row := ui.Row{ID: "service-" + s.ID}
	if s.Actionable() && !st.Archived {
		row.Value, row.Name = s.ID, v.T("list.select", "Name", st.Name+" / "+s.Name)
	}
	return row
}

// formatCPU returns the processor time that a service uses, in words.
func formatCPU(all map[string]usage.ResourceUsage, id string) string {
	u, ok := all[id]
	if !ok {
		return "–"
	}
	return cpuText(u.CPUPercent)
}

// formatMemory returns the memory that a service uses, in words.
func formatMemory(v *ui.View, all map[string]usage.ResourceUsage, id string) string {
	u, ok := all[id]
	if !ok {
		return "–"
	}
	return v.Bytes(u.MemUsedBytes)
}

// jobColumns are the columns of a list of jobs.
func jobColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("containers.jobs"), Columns: []ui.Column{
		{Label: v.T("containers.job"), Kind: ui.TitleColumn}, {Label: v.T("containers.state")}, {Label: v.T("containers.job.by")},
		{Label: v.T("containers.took"), Class: numbers}, {Label: v.T("containers.when"), Class: numbers},
	}}
}

// filterForm returns the form above the compose projects.
func (d discoveryView) filterForm(v *ui.View, p pages) ui.Filter {
	return ui.Filter{Path: p.base + "/discovery", Fields: []ui.FilterField{archivedField(v, d.Archived)}}
}

// filterForm returns the form above the versions behind digests.
func (i inferenceView) filterForm(v *ui.View, p pages) ui.Filter {
	states := []ui.Option{allOption(v)}
	for _, s := range inferenceStatuses() {
		states = append(states, ui.Option{Value: s, Label: stateText(v, "inference."+s)})
	}
	return ui.Filter{Path: p.base + "/queue/version-inference", Fields: []ui.FilterField{
		queryField(v.T("containers.inference.query"), i.Query),
		{Name: "status", Label: v.T("containers.state"), Value: i.Status, Options: states},
	}}
}

// filterForm returns the form above the repositories and the inbox of package webhooks.
func (h hooksView) filterForm(v *ui.View, p pages) ui.Filter {
	var shown []ui.Option
	for _, s := range []string{"", "selected", "unselected"} {
		shown = append(shown, ui.Option{Value: s, Label: v.T("containers.hooks.show." + choiceText(s))})
	}
	decisions := []ui.Option{allOption(v)}
	for _, d := range []string{"processed", "ignored", "rejected"} {
		decisions = append(decisions, ui.Option{Value: d, Label: stateText(v, d)})
	}
	return ui.Filter{Path: p.base + hooksPath, Fields: []ui.FilterField{
		queryField(v.T("containers.hooks.repo"), h.Filter.Query),
		{Name: "selected", Label: v.T("containers.filter.show"), Value: h.Filter.Selected, Options: shown},
		{Name: "decision", Label: v.T("containers.hooks.inbox"), Value: h.Filter.Decision, Options: decisions},
	}}
}

// repoFilter returns the part of the filter that is about repositories.
func (h hooksView) repoFilter(v *ui.View, p pages) ui.Filter {
	f := h.filterForm(v, p)
	f.Fields, f.Hidden = f.Fields[:2], []string{"decision", h.Filter.Decision}
	return f
}

// inboxFilter returns the part of the filter that is about deliveries.
func (h hooksView) inboxFilter(v *ui.View, p pages) ui.Filter {
	f := h.filterForm(v, p)
	f.Fields, f.Hidden = f.Fields[2:], []string{"q", h.Filter.Query, "selected", h.Filter.Selected}
	return f
}

// repoColumns are the columns of the repositories that are tracked.
func repoColumns(v *ui.View) ui.Table {
	return ui.Table{Name: v.T("containers.hooks.repos"), Columns: []ui.Column{
		{Label: v.T("containers.hooks.repo"), Kind: ui.TitleColumn}, {Label: v.T("containers.state")},
		{Label: v.T("containers.hooks.synced"), Class: numbers}, {Label: v.T("containers.actions"), Kind: ui.ActionColumn},
	}}
}
