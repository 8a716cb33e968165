package fake

import (
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Step changes what Inspect says of a container.
type Step func(*engine.Detail)

func stepTo(state, health string) Step {
	return func(d *engine.Detail) { d.State, d.Health = state, health }
}

// Healthy, Unhealthy and Starting are states of a container with a health check; Running is one without.
func Healthy() Step { return stepTo("running", "healthy") }

// Unhealthy is a container whose health check fails.
func Unhealthy() Step { return stepTo("running", "unhealthy") }

// Starting is a container whose health check has not succeeded yet.
func Starting() Step { return stepTo("running", "starting") }

// Running is a container that runs and has no health check.
func Running() Step { return stepTo("running", "") }

// Exited is a container that has ended.
func Exited(code int) Step {
	return func(d *engine.Detail) { d.State, d.Health, d.ExitCode = "exited", "", code }
}

// Restarted is a container that the engine has started n times again.
func Restarted(n, code int) Step {
	return func(d *engine.Detail) { d.State, d.Health, d.RestartCount, d.ExitCode = "restarting", "", n, code }
}

// ScriptContainer sets what Inspect says of one container.
func (e *engineContainers) ScriptContainer(id string, steps ...Step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h, err := e.findContainer(id); err == nil {
		h.script = steps
	}
}

// SetInfo sets what Info says. A nil compose is a compose command that cannot be used.
func (e *engineState) SetInfo(info engine.Info, compose *engine.Compose) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.info, e.compose = info, compose
}
