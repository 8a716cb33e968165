package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Labels by which the double knows to which project and service a container belongs, as with a real engine.
const (
	LabelProject = engine.LabelProject
	LabelService = engine.LabelService
)

// Engine is a double of client.Engine: an engine in memory with containers, images, names and the contents of mounts. It
// is safe for concurrent use.
//
// Operations have the names of their methods in lower case: info, containers, inspect, images, stats, events, pull, tag,
// compose, run, archive, restore, logs. Where a function of this type takes an operation, one action of compose can be named too,
// such as "compose recreate".
type Engine struct{ engineContainers }

// engineState is what the double has in memory, with how calls are recorded, delayed and refused.
type engineState struct {
	mu         sync.Mutex
	info       engine.Info
	compose    *engine.Compose
	containers []*held
	images     map[string]*engine.Image
	names      map[string]string
	remote     map[string]*engine.Image
	layers     []engine.PullProgress
	scripts    map[string][]Step
	errors     map[string][]error
	exits      map[string][]engine.ComposeResult
	// interruptions are what the next commands of an action leave instead of doing their work.
	interruptions map[string][]Leftover
	// stops are where the engine stops during the next commands of an action.
	stops  map[string][]stopInCompose
	outage outage
	// jobs are the exit codes of images whose containers end by themselves; starts is how often containers were started, by image.
	jobs   map[string]int
	starts map[string]int
	// hashes are those of the configurations of services.
	hashes map[string]string
	// runs are how commands of images end, by the image's id.
	runs      map[string]engine.RunResult
	holds     map[string]*hold
	contents  map[string][]byte
	samples   map[string]engine.Sample
	listeners map[int]chan engine.Event
	output    *output
	calls     []Call
	next      int
}

var _ client.Engine = (*Engine)(nil)

// Call is one call that was made, also one that failed.
type Call struct {
	// Op is the operation, Text what it was about, such as "host/app:1" or "recreate project web".
	Op, Text string
	// Compose is the request of a compose command.
	Compose *engine.ComposeRequest
}

// String is the call in one line.
func (c Call) String() string { return strings.TrimSpace(c.Op + " " + c.Text) }

// NewEngine makes an engine without containers and images, for linux/amd64, with a compose command of the second
// generation.
func NewEngine() *Engine {
	return &Engine{engineContainers{engineImages{&engineState{
		info:    engine.Info{Version: "28.0.0", APIVersion: "1.48", OS: "linux", Arch: "amd64", ID: "fake"},
		compose: &engine.Compose{Version: "2.40.3", PullPolicy: true},
		images:  map[string]*engine.Image{}, names: map[string]string{}, remote: map[string]*engine.Image{}, scripts: map[string][]Step{},
		errors: map[string][]error{}, exits: map[string][]engine.ComposeResult{}, interruptions: map[string][]Leftover{},
		runs: map[string]engine.RunResult{}, stops: map[string][]stopInCompose{}, outage: newOutage(), holds: map[string]*hold{},
		contents: map[string][]byte{}, samples: map[string]engine.Sample{}, listeners: map[int]chan engine.Event{}, jobs: map[string]int{},
		starts: map[string]int{}, hashes: map[string]string{}, output: newOutput(),
	}}}}
}

// Calls are the calls so far, in order.
func (e *engineState) Calls() []Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// CallsOf are the calls of some operations, as text.
func (e *engineState) CallsOf(ops ...string) (out []string) {
	for _, c := range e.Calls() {
		if slices.Contains(ops, c.Op) {
			out = append(out, c.String())
		}
	}
	return out
}

// Info implements client.Engine.
func (e *engineState) Info(ctx context.Context, composeBin string) (*engine.Info, error) {
	if err := e.beginCall(ctx, Call{Op: "info", Text: composeBin}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.info
	switch {
	case composeBin == "":
	case e.compose == nil:
		out.ComposeError = fmt.Sprintf("the compose command %q cannot be used", composeBin)
	default:
		c := *e.compose
		out.Compose = &c
	}
	return &out, nil
}
