package pages

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

const (
	// shownUpdates is how many services with a new version the home page names.
	shownUpdates = 5
	// shownFailures is how many services with a failed check the home page names.
	shownFailures = 3
	// rolledBackFor is how long an update that was rolled back is shown there.
	rolledBackFor = 7 * 24 * time.Hour
	// lookedAtJobs is how many of the newest of those are looked at.
	lookedAtJobs = 20
)

// homePages are what other pages show of this service.
type homePages struct{ pages }

// homePart returns what the home page shows to administrators.
func (p homePages) homePart(ctx context.Context, v *ui.View) (part ui.HomePart, err error) {
	if !v.Admin() {
		return part, nil
	}
	list, err := p.service.Overview(ctx, project.ArchivedExclude)
	if err != nil {
		return part, err
	}
	rolledBack, _, err := p.service.ListJobs(ctx, service.JobFilter{Status: []string{"rolled_back"}, Limit: lookedAtJobs})
	if err != nil {
		return part, err
	}
	sum := sumUp(list)
	part.Attention = append(p.rolledBack(v, list, rolledBack), p.failedChecks(v, list)...)
	part.Steps = []ui.Step{{
		ID: "containers-stacks", Title: v.T("containers.step.stacks"), Text: v.T("containers.step.stacks.text"),
		Href: p.base + "/discovery", Action: v.T("containers.nav.discovery"), Done: sum.Stacks > 0,
	}}
	if sum.Stacks > 0 {
		part.Figures = []ui.KeyFigure{
			{Name: v.T("containers.services"), Value: v.Num(int64(sum.Services)), Href: p.base + "/stacks",
				Remark: v.T("containers.services.running", "Running", v.Num(int64(sum.Running)), "All", v.Num(int64(sum.Services)))},
			{Name: v.T("containers.home.updates"), Value: v.Num(int64(sum.Updates)), Href: p.base + "/stacks?show=updates",
				Remark: v.N("containers.home.stacks", sum.Stacks)},
		}
	}
	if waiting := waitingUpdates(list); len(waiting) > 0 {
		part.Card = updatesCard(v, p.pages, waiting)
	}
	return part, nil
}

// rolledBack returns the services whose latest update was rolled back of late, as long as the same version waits for them.
func (p homePages) rolledBack(v *ui.View, list []project.StackDetail, jobs []service.Job) (out []ui.Attention) {
	seen := map[string]bool{}
	for _, j := range jobs {
		stack, svc := findService(list, j.ServiceID)
		ended := j.FinishedAt.Time
		if svc == nil || seen[j.ServiceID] || serviceStatus(*svc) != "rolled_back" || v.Now.Sub(ended) > rolledBackFor {
			continue
		}
		seen[j.ServiceID] = true
		a := ui.Attention{Tone: "warn", Title: v.T("containers.home.rolled_back", "Stack", stack, "Service", svc.Name, "When", v.Ago(ended)),
			Href: p.base + "/queue/" + j.ID, Action: v.T("home.see")}
		if j.ResultReason != nil {
			a.Text = j.ResultReason.Summary
		}
		out = append(out, a)
	}
	return out
}

// failedChecks returns the services whose last check told nothing.
func (p homePages) failedChecks(v *ui.View, list []project.StackDetail) (out []ui.Attention) {
	more := 0
	for i := range list {
		for j := range list[i].Services {
			s := &list[i].Services[j]
			switch {
			case s.CheckError == "" || s.Archived:
			case len(out) == shownFailures:
				more++
			default:
				out = append(out, ui.Attention{
					Tone: "warn", Title: v.T("containers.home.check_failed", "Stack", list[i].Name, "Service", s.Name), Text: s.CheckError,
					Href: p.serviceURL(s.StackID, s.ID), Action: v.T("home.see"),
				})
			}
		}
	}
	if more > 0 {
		out = append(out, ui.Attention{Tone: "warn", Title: v.N("containers.home.checks_failed", more), Href: p.base + "/stacks",
			Action: v.T("home.see")})
	}
	return out
}

// findHits returns the stacks and services that a text finds. The pages are for administrators.
func (p homePages) findHits(ctx context.Context, v *ui.View, text string) (out []ui.Hit, err error) {
	if !v.Admin() {
		return nil, nil
	}
	all, err := p.service.Overview(ctx, project.ArchivedExclude)
	for _, st := range all {
		if ui.Matches(text, st.Name) {
			out = append(out, ui.Hit{Kind: v.T("containers.stack"), Title: st.Name, Href: p.base + "/stacks/" + st.ID})
		}
		for _, s := range st.Services {
			if ui.Matches(text, st.Name, s.Name, s.Image.Ref) {
				out = append(out, ui.Hit{Kind: v.T("containers.service"), Title: st.Name + " / " + s.Name, Detail: s.Image.Ref,
					Href: p.serviceURL(st.ID, s.ID)})
			}
		}
	}
	return out, err
}

// countPending returns how many updates wait.
func (p homePages) countPending(ctx context.Context) (map[string]int, error) {
	all, err := p.service.Overview(ctx, project.ArchivedExclude)
	if err != nil {
		return nil, err
	}
	return map[string]int{p.base + "/stacks": sumUp(all).Updates}, nil
}
