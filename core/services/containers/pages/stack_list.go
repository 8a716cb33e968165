package pages

import (
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

type updateRow struct {
	Stack   project.StackDetail
	Service project.ServiceDetail
}

// waitingUpdates returns the services whose new version may be applied.
func waitingUpdates(list []project.StackDetail) (out []updateRow) {
	for _, st := range list {
		for _, s := range st.Services {
			if s.Actionable() && !s.Archived && !st.Archived {
				out = append(out, updateRow{st, s})
			}
		}
	}
	return out
}

// servicesLeftOut returns the services of the stacks that an update of all of them leaves out.
func servicesLeftOut(list []project.StackDetail) (out []updateRow) {
	for _, st := range list {
		for _, s := range st.Services {
			if s.LeftOut() && !st.Archived {
				out = append(out, updateRow{st, s})
			}
		}
	}
	return out
}

// serviceStatus returns the status of a service, with a version that was rolled back told apart from others.
func serviceStatus(s project.ServiceDetail) string {
	if s.Candidate != nil && s.Candidate.RolledBack != nil && s.Ignore == nil {
		return "rolled_back"
	}
	return s.Status
}

// findService returns a service that is not archived with the name of its stack, or nil.
func findService(list []project.StackDetail, id string) (stack string, svc *project.ServiceDetail) {
	for i := range list {
		for j := range list[i].Services {
			if s := &list[i].Services[j]; s.ID == id && !s.Archived {
				return list[i].Name, s
			}
		}
	}
	return "", nil
}

// summed are the counts of the stacks.
type summed struct{ Stacks, Services, Running, Updates int }

func sumUp(list []project.StackDetail) (out summed) {
	for _, st := range list {
		out.Stacks++
		for i := range st.Services {
			s := &st.Services[i]
			if s.Archived {
				continue
			}
			out.Services++
			if s.State == record.StateRunning {
				out.Running++
			}
			if s.Actionable() && !st.Archived {
				out.Updates++
			}
		}
	}
	return out
}

// stackFilter is what the list of stacks is confined to, as in its address.
type stackFilter struct{ Query, Show, Archived string }

func readStackFilter(c *gin.Context) stackFilter {
	return stackFilter{strings.TrimSpace(c.Query("q")), c.Query("show"), c.Query("archived")}
}

func (f stackFilter) queryValues() url.Values {
	return ui.Query("q", f.Query, "show", f.Show, "archived", f.Archived)
}

func (f stackFilter) pageURL(path string) string {
	return ui.Address(path, "q", f.Query, "show", f.Show, "archived", f.Archived)
}

func (f stackFilter) isEmpty() bool { return f == stackFilter{} }

// includesService reports whether the list shows a service.
func (f stackFilter) includesService(st *project.StackDetail, s *project.ServiceDetail) bool {
	if s.Archived && f.Archived != project.ArchivedInclude && f.Archived != project.ArchivedOnly {
		return false
	}
	if f.Show == "updates" && s.Candidate == nil {
		return false
	}
	return strings.Contains(strings.ToLower(st.Name+" "+s.Name+" "+s.Image.Ref), strings.ToLower(f.Query))
}

// scopeName is what a form is about: a service, a stack or everything.
func scopeName(serviceID, stackID string) string {
	switch {
	case serviceID != "":
		return work.ScopeService
	case stackID != "":
		return work.ScopeStack
	}
	return work.ScopeAll
}
