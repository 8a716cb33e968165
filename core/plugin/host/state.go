package host

import "time"

// State is the state of a plugin process.
type State string

// The states. A process goes declared → starting → configuring → ready ⇄ degraded, after an exit through backoff to
// starting again. Failed is left when a file of the plugin changes, by Restart, or when an instance of the plugin is opened
// anew.
const (
	Declared    State = "declared"
	Starting    State = "starting"
	Configuring State = "configuring"
	Ready       State = "ready"
	Degraded    State = "degraded"
	Backoff     State = "backoff"
	Failed      State = "failed"
	Stopped     State = "stopped"
)

// Serving reports whether the process takes calls.
func (s State) Serving() bool { return s == Ready || s == Degraded }

// Status is the status of a process at one moment.
type Status struct {
	Name    string
	Key     string
	Version string
	State   State
	// Message explains a state other than Ready in one sentence.
	Message string
	// Since is when the state began.
	Since time.Time
	PID   int
	// Restarts counts the starts after the first.
	Restarts int
	// Instances holds the ids of the configured instances.
	Instances []string
}
