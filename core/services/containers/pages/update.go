package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// updateChoice is what an update is confined to, as in its address; the zero value is everything.
type updateChoice struct {
	StackID, ServiceID string
	// Filter is that of the list of stacks, and Picked the ids of the rows that were ticked there.
	Filter stackFilter
	Picked []string
}

func readUpdateChoice(c *gin.Context) updateChoice {
	return updateChoice{StackID: c.Query("stack"), ServiceID: c.Query("service"), Filter: readStackFilter(c), Picked: ui.ReadPicked(c).IDs}
}

// isPicked reports whether the services were chosen in the list of stacks.
func (u updateChoice) isPicked() bool { return len(u.Picked) > 0 || !u.Filter.isEmpty() }

// includesService reports whether a service that can be updated is in the choice.
func (u updateChoice) includesService(st *project.StackDetail, s *project.ServiceDetail) bool {
	if len(u.Picked) > 0 {
		return slices.Contains(u.Picked, s.ID)
	}
	return u.Filter.includesService(st, s)
}

// returnPath returns the address of the page of the choice below the base of the service, as a form on it carries it.
func (u updateChoice) returnPath() string {
	if u.ServiceID != "" {
		return ""
	}
	q := u.Filter.queryValues()
	if u.StackID != "" {
		q.Set("stack", u.StackID)
	}
	for _, id := range u.Picked {
		q.Add("id", id)
	}
	if len(q) == 0 {
		return "/stacks/update"
	}
	return "/stacks/update?" + q.Encode()
}

// updateView is an update before it is asked for.
type updateView struct {
	updateChoice
	Name string
	Rows []updateRow
	// Mismatch tells that the service's candidate is made for another architecture.
	Mismatch bool
	// Drift is what recreating the services would change besides their images.
	Drift []drift.ServiceDrift
	// Dependents are the services that are recreated too, by the id of the one that they share with.
	Dependents map[string][]change.Dependent
	// Outline is what would run, by the id of the service.
	Outline map[string]change.ServicePlan
	// LeftOut are the services that an update of several leaves out, because their versions were rolled back.
	LeftOut []updateRow
	// NotPicked are the services that could be updated too, but are not in the choice.
	NotPicked []updateRow
}

// updatePages ask before an update, and start it.
type updatePages struct{ pages }

func (p updatePages) updateRoutes() []httpd.Route {
	return []httpd.Route{getRoute("/stacks/update", p.confirmUpdate), postRoute("/stacks/update", p.startUpdate)}
}

func (p updatePages) updateView(ctx context.Context, choice updateChoice) (out updateView, err error) {
	out.updateChoice = choice
	stackID, serviceID := choice.StackID, choice.ServiceID
	list, err := p.service.Overview(ctx, project.ArchivedExclude)
	if err != nil {
		return out, err
	}
	found := stackID == "" && serviceID == ""
	for _, st := range list {
		if stackID != "" && st.ID != stackID {
			continue
		}
		for _, s := range st.Services {
			switch {
			case serviceID == "" && s.Actionable() && !choice.includesService(&st, &s):
				out.NotPicked = append(out.NotPicked, updateRow{st, s})
			case serviceID == "" && s.Actionable(), serviceID == s.ID && s.Updatable():
				out.Rows = append(out.Rows, updateRow{st, s})
			case serviceID == "" && s.LeftOut() && (len(choice.Picked) > 0 || choice.includesService(&st, &s)):
				out.LeftOut = append(out.LeftOut, updateRow{st, s})
			}
			if serviceID == s.ID {
				found, out.StackID, out.Name = true, st.ID, st.Name+" / "+s.Name
				out.Mismatch = s.Status == "archMismatch"
			}
		}
		if stackID != "" && serviceID == "" {
			found, out.Name = true, st.Name
		}
	}
	if !found {
		return out, fault.New(fault.NotFound, "There is no such stack or service.")
	}
	return out, nil
}

func (p updatePages) confirmUpdate(c *gin.Context) {
	choice := readUpdateChoice(c)
	if c.Query("action") != "" && len(choice.Picked) == 0 {
		p.kit.Done(c, choice.Filter.pageURL(p.base+"/stacks"), ui.Toast{Kind: "info", TextID: "list.nothing_picked"})
		return
	}
	u, err := p.updateView(c.Request.Context(), choice)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	var ids []string
	for _, row := range u.Rows {
		ids = append(ids, row.Service.ID)
	}
	if u.Drift, err = p.service.Drift(c.Request.Context(), ids); err != nil {
		p.kit.Fail(c, err)
		return
	}
	if u.Outline, err = p.service.Outline(c.Request.Context(), ids); err != nil {
		p.kit.Fail(c, err)
		return
	}
	if u.Dependents, err = p.service.Dependents(c.Request.Context(), ids); err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.update.title")
	v.Path = p.base + "/stacks"
	p.kit.Render(c, v, http.StatusOK, updatePage(v, p.pages, u))
}

// startUpdate makes the job. The targets are those that the person saw: if others have come since, the service says so.
func (p updatePages) startUpdate(c *gin.Context) {
	stackID, serviceID := c.PostForm("stack"), c.PostForm("service")
	req := change.UpdateRequest{
		Scope: scopeName(serviceID, stackID), StackID: stackID, ServiceID: serviceID, Mode: c.PostForm("mode"), BackupMode: c.PostForm("backup"),
		AllowArchMismatch: c.PostForm("arch") != "", AllowDrift: c.PostForm("drift") != "", Reason: work.ReasonUI,
	}
	for _, line := range c.PostFormArray("target") {
		parts := strings.SplitN(line, " ", 3)
		if len(parts) != 3 {
			p.kit.Fail(c, fault.New(fault.InvalidArgument, "A target in the form is incomplete."))
			return
		}
		req.Targets = append(req.Targets, project.Target{ServiceID: parts[0], TargetTag: parts[1], TargetDigest: parts[2], PullTags: []string{}})
	}
	if c.PostForm("picked") != "" {
		p.updatePicked(c, req)
		return
	}
	id, err := p.service.Update(c.Request.Context(), req)
	p.answerJob(c, id, err)
}

// updatePicked makes the jobs of services that were chosen in the list of stacks, and goes on to the job, or to the list of
// jobs where there are several.
func (p updatePages) updatePicked(c *gin.Context, req change.UpdateRequest) {
	done, err := p.service.UpdatePicked(c.Request.Context(), req)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	if len(done.Jobs)+len(done.Refused) == 1 {
		if len(done.Jobs) == 1 {
			p.answerJob(c, done.Jobs[0], nil)
		} else {
			p.answerJob(c, "", done.Refused[0].Err)
		}
		return
	}
	if len(done.Refused) == 0 {
		p.kit.Done(c, jobsPath, ui.Toast{Kind: "ok", TextID: "containers.update.queued", Args: []string{"Jobs", strconv.Itoa(len(done.Jobs))}})
		return
	}
	var names []string
	for _, r := range done.Refused {
		names = append(names, r.Services...)
	}
	p.kit.Done(c, jobsPath, ui.Toast{Kind: "bad", TextID: "containers.update.queued.part",
		Args: []string{"Jobs", strconv.Itoa(len(done.Jobs)), "Names", shortList(names)}})
}

// shortList returns at most five names of a list in one line.
func shortList(names []string) string {
	const shown = 5
	if len(names) > shown {
		return strings.Join(names[:shown], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// updateTarget is a target as a form carries it.
func updateTarget(s project.ServiceDetail) string {
	t := s.Target()
	return t.ServiceID + " " + t.TargetTag + " " + t.TargetDigest
}

// updateArch are the platforms of a candidate.
func updateArch(u updateView) string {
	return textOrDash(strings.Join(u.Rows[0].Service.Candidate.Arch, ", "))
}
