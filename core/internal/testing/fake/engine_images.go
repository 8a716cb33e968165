package fake

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// engineImages are the images of the double, with their names.
type engineImages struct{ *engineState }

// AddImage puts an image into the engine. Its RepoTags and RepoDigests are its names.
func (e *engineImages) AddImage(img engine.Image) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.addImage(&img)
}

func (e *engineImages) addImage(img *engine.Image) {
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
func (e *engineImages) Publish(ref string, img engine.Image) {
	e.mu.Lock()
	defer e.mu.Unlock()
	img.RepoTags = nil
	e.remote[ref] = &img
	for _, d := range img.RepoDigests {
		e.remote[d] = &img
	}
}

// NameOf is the id of the image that a name stands for; empty if none.
func (e *engineImages) NameOf(ref string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.names[ref]
}

// Images implements client.Engine.
func (e *engineImages) Images(ctx context.Context, refs []string) ([]*engine.Image, error) {
	if err := e.beginCall(ctx, Call{Op: "images", Text: strings.Join(refs, " ")}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return lists.ConvertAll(refs, e.findImage), nil
}

// findImage returns an image by id or name, with its present names.
func (e *engineImages) findImage(ref string) *engine.Image {
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
func (e *engineImages) Tag(ctx context.Context, image, ref string) error {
	if err := e.beginCall(ctx, Call{Op: "tag", Text: image + " " + ref}); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	img := e.findImage(image)
	if img == nil {
		return fault.FromPlugin("engine.fake", errs.NotFound("NOT_FOUND", "there is no image %s", image))
	}
	e.names[ref] = img.ID
	return nil
}

// Pull implements client.Engine: the image appears under the name that was asked for. What was not published does not
// exist.
func (e *engineImages) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	if err := e.beginCall(ctx, Call{Op: "pull", Text: req.Ref}); err != nil {
		return nil, err
	}
	if err := req.Check(); err != nil {
		return nil, fault.FromPlugin("engine.fake", err)
	}
	e.mu.Lock()
	remote, reports := e.remote[req.Ref], slices.Clone(e.layers)
	e.mu.Unlock()
	if remote == nil {
		return nil, fault.FromPlugin("engine.fake",
			errs.New(errs.Upstream, codes.NotFound, "NOT_FOUND", "pull %s: manifest unknown", req.Ref))
	}
	for _, p := range append(reports, engine.PullProgress{CompletedLayers: 1, TotalLayers: 1,
		Status: "Status: Downloaded newer image for " + req.Ref}) {
		if err := send(p); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	img := *remote
	if !strings.Contains(req.Ref, "@") {
		img.RepoTags = []string{req.Ref}
	}
	e.addImage(&img)
	e.sendEvent(engine.Event{Type: "image", Action: "pull", ID: req.Ref, At: time.Now().UnixMilli()})
	return e.findImage(img.ID), nil
}

// ConfigureImage sets the defaults that an image gives to its containers.
func (e *engineImages) ConfigureImage(imageID string, config engine.ImageConfig) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if img := e.images[imageID]; img != nil {
		img.Config = &config
	}
}

// SetLayers sets what each later pull reports before it ends.
func (e *engineImages) SetLayers(reports ...engine.PullProgress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.layers = reports
}

// ScriptImage sets what Inspect says, call after call, of each container that is made from an image later; the last step
// stays.
func (e *engineImages) ScriptImage(imageID string, steps ...Step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.scripts[imageID] = steps
}

// SetJob makes the containers of an image end by themselves with a code as soon as they are started.
func (e *engineImages) SetJob(imageID string, code int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobs[imageID] = code
}

// Starts is how often compose has started containers of an image.
func (e *engineImages) Starts(imageID string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.starts[imageID]
}

// SetRun sets how commands of an image end, by its id. Without it they succeed without output.
func (e *engineImages) SetRun(imageID string, res engine.RunResult) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[imageID] = res
}

// Run implements client.Engine.
func (e *engineImages) Run(ctx context.Context, req engine.RunRequest) (*engine.RunResult, error) {
	if err := e.beginCall(ctx, Call{Op: "run", Text: req.Image + " " + strings.Join(req.Args, " ")}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	img := e.findImage(req.Image)
	if img == nil {
		return nil, fault.FromPlugin("engine.fake", errs.NotFound("NOT_FOUND", "there is no image %s", req.Image))
	}
	res := e.runs[img.ID]
	return &res, nil
}
