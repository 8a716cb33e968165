package fake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Leftover is the state in which an interrupted compose command leaves each container that it was to recreate.
type Leftover string

// The states, in the order in which the two generations of compose go through them.
const (
	// NotInterrupted is a command that does its work.
	NotInterrupted Leftover = ""
	// FirstRenamed: the old container is stopped and has a temporary name.
	FirstRenamed Leftover = "v1 renamed"
	// FirstCreated: the new one was created beside it, FirstStarted: and started.
	FirstCreated Leftover = "v1 created"
	FirstStarted Leftover = "v1 started"
	// SecondCreated: the new container was created under a temporary name while the old one runs, SecondStopped: the old
	// one is stopped, SecondRemoved: and removed, SecondRenamed: the new one has its name and was not started.
	SecondCreated Leftover = "v2 created"
	SecondStopped Leftover = "v2 stopped"
	SecondRemoved Leftover = "v2 removed"
	SecondRenamed Leftover = "v2 renamed"
)

// Leftovers are all of them.
func Leftovers() []Leftover {
	return []Leftover{FirstRenamed, FirstCreated, FirstStarted, SecondCreated, SecondStopped, SecondRemoved, SecondRenamed}
}

// InterruptCompose makes the next commands of an action, one for each leftover, end with the plugin and leave the
// containers so that were to be recreated.
func (e *Engine) InterruptCompose(action string, leftovers ...Leftover) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.interruptions[action] = append(e.interruptions[action], leftovers...)
}

func (e *Engine) leaveInterrupted(req *engine.ComposeRequest, state Leftover) {
	for _, old := range slices.Clone(e.findContainers(req.Project, "")) {
		if len(req.Services) > 0 && !slices.Contains(req.Services, old.Labels[LabelService]) {
			continue
		}
		name, temporary := old.Name, old.ID[:12]+"_"+old.Name
		replacement := func(name, state string) {
			c := old.Container
			c.ID, c.Name, c.ImageID, c.State, c.Labels = "", name, e.names[old.Image], state, maps.Clone(old.Labels)
			e.createContainer(c)
		}
		switch state {
		case FirstRenamed, FirstCreated, FirstStarted:
			old.Name = temporary
			e.changeState(old, "exited", "die")
			if state == FirstCreated {
				replacement(name, "created")
			}
			if state == FirstStarted {
				replacement(name, "running")
			}
		case SecondCreated, SecondStopped:
			replacement(temporary, "created")
			if state == SecondStopped {
				e.changeState(old, "exited", "die")
			}
		case SecondRemoved, SecondRenamed:
			e.containers = slices.DeleteFunc(e.containers, func(o *held) bool { return o == old })
			if state == SecondRenamed {
				temporary = name
			}
			replacement(temporary, "created")
		}
	}
}

// repairProject does what engine.Repair describes.
func (e *Engine) repairProject(project string) {
	var list []engine.Container
	for _, h := range e.findContainers(project, "") {
		list = append(list, h.Container)
	}
	repairs := engine.Repair(list)
	for _, c := range repairs.Remove {
		e.containers = slices.DeleteFunc(e.containers, func(h *held) bool { return h.ID == c.ID })
	}
	for id, name := range repairs.Rename {
		if h, err := e.findContainer(id); err == nil {
			h.Name = name
		}
	}
}

// scaleService gives a service a number of containers. New ones are copies of the first.
func (e *Engine) scaleService(project, service string, n int) {
	list := e.findContainers(project, service)
	if len(list) == 0 {
		return
	}
	for _, h := range list[min(n, len(list)):] {
		e.containers = slices.DeleteFunc(e.containers, func(o *held) bool { return o == h })
	}
	for i := len(list) + 1; i <= n; i++ {
		c := list[0].Container
		c.ID, c.Labels = "", maps.Clone(c.Labels)
		c.Labels[engine.LabelNumber] = strconv.Itoa(i)
		c.Name = fmt.Sprintf("%s%d", strings.TrimRight(c.Name, "0123456789"), i)
		e.createContainer(c)
	}
}
