package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
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
type Engine struct {
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

// held is a container, with what Inspect is to say of it in turn.
type held struct {
	engine.Detail
	script []Step
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
	return &Engine{
		info:    engine.Info{Version: "28.0.0", APIVersion: "1.48", OS: "linux", Arch: "amd64"},
		compose: &engine.Compose{Version: "2.40.3", PullPolicy: true},
		images:  map[string]*engine.Image{}, names: map[string]string{}, remote: map[string]*engine.Image{}, scripts: map[string][]Step{},
		errors: map[string][]error{}, exits: map[string][]engine.ComposeResult{}, interruptions: map[string][]Leftover{},
		runs: map[string]engine.RunResult{}, stops: map[string][]stopInCompose{}, outage: newOutage(), holds: map[string]*hold{},
		contents: map[string][]byte{}, samples: map[string]engine.Sample{}, listeners: map[int]chan engine.Event{}, jobs: map[string]int{},
		starts: map[string]int{}, hashes: map[string]string{}, output: newOutput(),
	}
}

// AddImage puts an image into the engine. Its RepoTags and RepoDigests are its names.
func (e *Engine) AddImage(img engine.Image) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.addImage(&img)
}

func (e *Engine) addImage(img *engine.Image) {
	tags := img.RepoTags
	kept := *img
	kept.RepoTags = nil
	if e.images[img.ID] == nil {
		e.images[img.ID] = &kept
	}
	for _, t := range tags {
		e.names[t] = img.ID
	}
	for _, d := range img.RepoDigests {
		e.names[d] = img.ID
		if own := e.images[img.ID]; !slices.Contains(own.RepoDigests, d) {
			own.RepoDigests = append(own.RepoDigests, d)
		}
	}
}

// Publish sets what a pull of ref fetches, and of the image's RepoDigests too. RepoTags of img do not count.
func (e *Engine) Publish(ref string, img engine.Image) {
	e.mu.Lock()
	defer e.mu.Unlock()
	img.RepoTags = nil
	e.remote[ref] = &img
	for _, d := range img.RepoDigests {
		e.remote[d] = &img
	}
}

// AddContainer puts a container into the engine and returns its id, which is made up where c has none. Without a state it
// runs; without an ImageID it has the image that its reference names.
func (e *Engine) AddContainer(c engine.Container) (id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.createContainer(c).ID
}

func (e *Engine) createContainer(c engine.Container) *held {
	if c.ID == "" {
		e.next++
		c.ID = fmt.Sprintf("%064x", e.next)
	}
	if c.State == "" {
		c.State = "running"
	}
	if c.Status == "" {
		c.Status = "Up 1 second"
	}
	if c.ImageID == "" {
		c.ImageID = e.names[c.Image]
	}
	h := &held{Detail: engine.Detail{Container: c, RestartPolicy: "no", StartedAt: time.Now().UnixMilli()}, script: e.scripts[c.ImageID]}
	if c.State != "running" {
		h.script = nil
	}
	if c.State == "exited" {
		h.ExitCode = stoppedCode
	}
	e.containers = append(e.containers, h)
	return h
}

// RemoveContainer takes a container away, as a person would.
func (e *Engine) RemoveContainer(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.containers = slices.DeleteFunc(e.containers, func(h *held) bool { return h.ID == id })
}

// ContainersOf are the containers of a service, or of a project if service is empty.
func (e *Engine) ContainersOf(project, service string) (out []engine.Container) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.containersOf(project, service) {
		out = append(out, h.Container)
	}
	return out
}

// containersOf returns the containers of a service, or of a project if service is empty.
func (e *Engine) containersOf(project, service string) (out []*held) {
	for _, h := range e.containers {
		if h.Labels[LabelProject] == project && (service == "" || h.Labels[LabelService] == service) {
			out = append(out, h)
		}
	}
	return out
}

// NameOf is the id of the image that a name stands for; empty if none.
func (e *Engine) NameOf(ref string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.names[ref]
}

// Calls are the calls so far, in order.
func (e *Engine) Calls() []Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// CallsOf are the calls of some operations, as text.
func (e *Engine) CallsOf(ops ...string) (out []string) {
	for _, c := range e.Calls() {
		if slices.Contains(ops, c.Op) {
			out = append(out, c.String())
		}
	}
	return out
}

// Info implements client.Engine.
func (e *Engine) Info(ctx context.Context, composeBin string) (*engine.Info, error) {
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

// Containers implements client.Engine.
func (e *Engine) Containers(ctx context.Context, f engine.Filter) ([]engine.Container, error) {
	if err := e.beginCall(ctx, Call{Op: "containers"}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []engine.Container{}
	for _, h := range e.containers {
		if matchesFilter(&h.Container, f) {
			c := h.Container
			c.Labels, c.Mounts = maps.Clone(c.Labels), slices.Clone(c.Mounts)
			out = append(out, c)
		}
	}
	return out, nil
}

// matchesFilter reports whether a container is one that f asks for.
func matchesFilter(c *engine.Container, f engine.Filter) bool {
	for _, l := range f.Labels {
		name, value, exact := strings.Cut(l, "=")
		got, ok := c.Labels[name]
		if !ok || exact && got != value {
			return false
		}
	}
	return len(f.IDs) == 0 || slices.Contains(f.IDs, c.ID)
}

// Inspect implements client.Engine. Each call takes one step of the container's script; the last one stays.
func (e *Engine) Inspect(ctx context.Context, id string) (*engine.Detail, error) {
	if err := e.beginCall(ctx, Call{Op: "inspect", Text: id}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h, err := e.findContainer(id)
	if err != nil {
		return nil, err
	}
	if len(h.script) > 0 {
		h.script[0](&h.Detail)
		if len(h.script) > 1 {
			h.script = h.script[1:]
		}
	}
	out := h.Detail
	out.Labels, out.Mounts = maps.Clone(out.Labels), slices.Clone(out.Mounts)
	return &out, nil
}

func (e *Engine) findContainer(id string) (*held, error) {
	for _, h := range e.containers {
		if h.ID == id || h.Name == id {
			return h, nil
		}
	}
	return nil, fault.FromPlugin(errs.NotFound("NOT_FOUND", "there is no container %s", id))
}

// Images implements client.Engine.
func (e *Engine) Images(ctx context.Context, refs []string) ([]*engine.Image, error) {
	if err := e.beginCall(ctx, Call{Op: "images", Text: strings.Join(refs, " ")}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]*engine.Image, len(refs))
	for i, ref := range refs {
		out[i] = e.findImage(ref)
	}
	return out, nil
}

// findImage returns an image by id or name, with its present names.
func (e *Engine) findImage(ref string) *engine.Image {
	id := ref
	if named, ok := e.names[ref]; ok {
		id = named
	}
	img := e.images[id]
	if img == nil {
		return nil
	}
	out := *img
	for name, of := range e.names {
		if of == id && !strings.Contains(name, "@") {
			out.RepoTags = append(out.RepoTags, name)
		}
	}
	slices.Sort(out.RepoTags)
	return &out
}

// Tag implements client.Engine.
func (e *Engine) Tag(ctx context.Context, image, ref string) error {
	if err := e.beginCall(ctx, Call{Op: "tag", Text: image + " " + ref}); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	img := e.findImage(image)
	if img == nil {
		return fault.FromPlugin(errs.NotFound("NOT_FOUND", "there is no image %s", image))
	}
	e.names[ref] = img.ID
	return nil
}
