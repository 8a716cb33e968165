package console

import (
	"context"
	"time"
)

// Service is a service that is switched on, for the patch panel.
type Service struct {
	Name, BaseURL string
	// Uses are the instances that its block in plugin.hcl names.
	Uses []Use
}

// Use is one reference of a service to an instance.
type Use struct {
	// Kind is the kind of the provider, Ref the instance, such as search.docs.
	Kind, Ref string
}

// Instance is a configured instance and its process. What is not known is zero.
type Instance struct {
	Ref, Kind, Plugin, Name, Version string
	// State is the state of the process, or degraded or error if the instance says so of itself, or off if it was left out.
	State   string
	Message string
	// Checked is when the instance was last asked how it is.
	Checked time.Time
	// Since is when the state began; PID and Memory, in bytes, are of the process.
	Since    time.Time
	PID      int
	Memory   int64
	Restarts int
	// Calls and Failures count since the core started; Latency is the mean of each of the last minutes with calls, in
	// milliseconds, the newest last.
	Calls, Failures int64
	Latency         []float64
	// Events are what happened to the process, the newest first.
	Events []Event
	// Place is where the block stands, such as plugin.hcl:12, and Config the block in effect, with secrets masked.
	Place, Config string
}

// Event is something that happened to a plugin process.
type Event struct {
	At time.Time
	// Kind is ready, degraded, ended, restart or failed; Detail the reason, in English.
	Kind, Detail string
	PID          int
	// Exit is the exit code, or the name of the signal, of a process that has ended; "" for neither.
	Exit string
}

// Serving reports whether calls are let through.
func (i Instance) Serving() bool { return i.State == "ready" || i.State == "degraded" }

// Working reports whether the instance has nothing to complain of.
func (i Instance) Working() bool { return i.State == "ready" }

// Plugin is a plugin that can be configured.
type Plugin struct {
	Kind, Name, Version, Summary string
	// Origin is built-in, or the path of the binary.
	Origin string
	// Documentation is the plugin's own, as plain text.
	Documentation string
	Capabilities  []string
	Settings      []Setting
	// Block is HCL to start from; empty if the plugin does not start.
	Block string
}

// Setting is one attribute of a config block. Name has the names of the blocks around it in front, with dots.
type Setting struct {
	Name, Type, Default, Doc string
	Enum                     []string
	Required, Secret         bool
	// Repeated reports whether it stands in a block that may be there several times.
	Repeated bool
}

// Health is what a check of an instance found.
type Health struct {
	State, Message string
	Took           time.Duration
}

// Providers is what the console needs to know of plugins. Errors are faults.
type Providers interface {
	// Instances pictures all instances in the order of plugin.hcl.
	Instances() []Instance
	// Logs are the last lines of the process of an instance.
	Logs(ref string) ([]string, error)
	// Check asks an instance how it is.
	Check(ctx context.Context, ref string) (Health, error)
	// SendTest sends a test message through a notification channel, to the recipient in its block.
	SendTest(ctx context.Context, ref, title, text string) (Health, error)
	// Restart ends the process of an instance and starts it again; one that was left out is tried again.
	Restart(ref string) error
	// Rejected returns why the last reload of the configuration was rejected, and when; "" if it was not.
	Rejected() (reason string, at time.Time)
	// Available are the plugins that can be configured.
	Available(ctx context.Context) ([]Plugin, error)
}
