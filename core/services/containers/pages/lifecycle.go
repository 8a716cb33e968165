package pages

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// lifecycleView is what can be started and stopped: a stack, or a service of it.
type lifecycleView struct {
	// URL takes the action; Project and Service are what compose is told, Name is what people call it.
	URL, Project, Service, Name string
	State                       record.LifecycleState
	Jobs                        []work.ActiveJob
	// Unavailable is why it cannot be started or stopped; empty if it can.
	Unavailable string
}

// possibleActions are those that make sense in a state.
func (l lifecycleView) possibleActions() []string {
	switch l.State {
	case record.StateRunning:
		return []string{lifecycle.ActionRestart, lifecycle.ActionStop}
	case record.StateStopped:
		return []string{lifecycle.ActionStart}
	}
	return []string{lifecycle.ActionStart, lifecycle.ActionRestart, lifecycle.ActionStop}
}

// actionQuestion is the question before an action; a start needs none.
func (l lifecycleView) actionQuestion(v *ui.View, p pages, action string) string {
	if action == lifecycle.ActionStart {
		return ""
	}
	return v.T("containers."+action+".confirm", "Name", l.Name, "Command", p.lifecycleCommand(l.Project, action, l.Service))
}

// archOf are the platforms of a candidate.
func archOf(u updateView) string {
	return textOrDash(strings.Join(u.Rows[0].Service.Candidate.Arch, ", "))
}
