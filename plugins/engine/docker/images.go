package docker

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	// listFrom is from how many image ids on one list of all images costs less than a request for each.
	listFrom = 4
	// maxKnownImages bounds the images whose fixed part is remembered.
	maxKnownImages = 2000
)

// knownImages remembers images by id. All but their tags and digests is fixed by the id.
type knownImages struct {
	mu   sync.Mutex
	byID map[string]*engine.Image
}

func (k *knownImages) findImage(id string) *engine.Image {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byID[id]
}

func (k *knownImages) keepImage(img *engine.Image) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= maxKnownImages {
		k.byID = map[string]*engine.Image{}
	}
	k.byID[img.ID] = img
}

// Images implements engine.Reader. Many ids that were read before cost one request together.
func (d *docker) Images(ctx context.Context, refs []string) ([]*engine.Image, error) {
	// Many containers share few images.
	unique := slices.Compact(slices.Sorted(slices.Values(refs)))
	found := make([]*engine.Image, len(unique))
	if err := d.fillFromList(ctx, unique, found); err != nil {
		return nil, err
	}
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, ref := range unique {
		if found[i] != nil {
			continue
		}
		g.Go(func() (err error) {
			found[i], err = d.findImage(run, ref)
			if err != nil && errs.From(err).Reason == reasonNotFound {
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]*engine.Image, len(refs))
	for i, ref := range refs {
		at, _ := slices.BinarySearch(unique, ref)
		out[i] = found[at]
	}
	return out, nil
}

// fillFromList finds the images that were read before, with the tags and digests that they have now.
func (d *docker) fillFromList(ctx context.Context, ids []string, found []*engine.Image) error {
	known := make([]*engine.Image, len(ids))
	n := 0
	for i, id := range ids {
		if known[i] = d.images.findImage(id); known[i] != nil {
			n++
		}
	}
	if n < listFrom {
		return nil
	}
	var all []image.Summary
	err := d.callEngine(ctx, "list the images", func(api *client.Client) (err error) {
		all, err = api.ImageList(ctx, image.ListOptions{})
		return err
	})
	if err != nil {
		return err
	}
	for _, now := range all {
		i, ok := slices.BinarySearch(ids, now.ID)
		if !ok || known[i] == nil {
			continue
		}
		img := *known[i]
		img.RepoTags, img.RepoDigests = withoutNone(now.RepoTags), withoutNone(now.RepoDigests)
		found[i] = &img
	}
	return nil
}

// withoutNone drops the "<none>" with which the list names what has no name.
func withoutNone(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "<none>") })
}

func (d *docker) findImage(ctx context.Context, ref string) (*engine.Image, error) {
	var in image.InspectResponse
	err := d.callEngine(ctx, "read the image "+ref, func(api *client.Client) (err error) {
		in, err = api.ImageInspect(ctx, ref)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &engine.Image{
		ID: in.ID, RepoTags: in.RepoTags, RepoDigests: in.RepoDigests, OS: in.Os, Arch: in.Architecture, Variant: in.Variant,
		SizeBytes: in.Size, CreatedAt: unixTime(in.Created),
	}
	if in.Config != nil {
		out.Labels = in.Config.Labels
		out.Config = &engine.ImageConfig{
			Env: in.Config.Env, Command: in.Config.Cmd, Entrypoint: in.Config.Entrypoint, User: in.Config.User, WorkingDir: in.Config.WorkingDir,
			Settings: imageSettings(in.Config.Healthcheck, in.Config.StopSignal, slices.Collect(maps.Keys(in.Config.ExposedPorts))),
		}
	}
	d.images.keepImage(out)
	return out, nil
}
