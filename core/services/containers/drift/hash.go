package drift

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Hashes are the hashes that compose gives to the services of a stack. The version of compose is read when the first one is asked for, and
// again where that has failed.
type Hashes struct {
	c     *Comparer
	stack *record.Stack
	read  bool
	// version is that of compose; "" if it does not tell.
	version string
	// told is what compose has told last.
	told toldHashes
}

// NewHashes returns the hashes of a stack's services, which are read when they are needed.
func (c *Comparer) NewHashes(st *record.Stack) *Hashes {
	return &Hashes{c: c, stack: st}
}

// ExplainsAll reports whether compose would leave a container as it is, or cannot say so. It can where its version is the container's:
// hashes differ between versions. Where differs is set the second generation gives another hash when it is asked. The first one has the
// image that the service's name stands for in it, so that nothing is said where that is not the container's.
func (h *Hashes) ExplainsAll(ctx context.Context, svc *record.Service, c *engine.Container, differs bool) (bool, error) {
	if err := h.readVersion(ctx); err != nil {
		return false, err
	}
	version := strings.TrimPrefix(c.Labels[host.LabelComposeVersion], "v")
	if h.version == "" || version != h.version {
		return true, nil
	}
	imageID := ""
	if h.isFirstGeneration() {
		named, err := h.c.host.Engine().Images(ctx, []string{svc.ImageRef().String()})
		if err != nil {
			return false, err
		}
		if len(named) != 1 || named[0] == nil || named[0].ID != c.ImageID {
			return true, nil
		}
		imageID, differs = c.ImageID, false
	}
	hash, err := h.lookUp(ctx, svc.Name, imageID)
	return hash == "" || hash == c.Labels[host.LabelConfigHash] || differs, err
}

func (h *Hashes) isFirstGeneration() bool { return strings.HasPrefix(h.version, "1.") }

// readVersion reads the version of compose until that has worked once. Nothing is compared where the engine has no compose.
func (h *Hashes) readVersion(ctx context.Context) error {
	if h.read {
		return nil
	}
	info, err := h.c.host.Engine().Info(ctx, h.c.host.ComposeRequest(h.stack, host.ComposeCall{}).Bin)
	if err != nil {
		return fmt.Errorf("read the version of compose: %w", err)
	}
	if h.read = true; info.Compose != nil {
		h.version = strings.TrimPrefix(info.Compose.Version, "v")
	}
	return nil
}

// lookUp returns the hash of a service, "" if compose does not tell it. Compose is asked, for all services of the stack at once, unless
// it has told the hash before and no file has changed since.
func (h *Hashes) lookUp(ctx context.Context, name, imageID string) (string, error) {
	if hash, told := h.told.findHash(name, imageID); told {
		return hash, nil
	}
	cache := &h.c.hashes
	unlock, err := cache.asking.LockKey(ctx, h.stack.ID)
	if err != nil {
		return "", err
	}
	defer unlock()
	signature, settled := h.signFiles(ctx)
	cache.mu.Lock()
	kept := cache.kept[h.stack.ID]
	cache.mu.Unlock()
	if hash, told := kept.findHash(name, imageID); told && settled && kept.signature == signature {
		return hash, nil
	}
	names, err := h.namesMadeBy(ctx, h.version)
	if err != nil || !slices.Contains(names, name) {
		return "", err
	}
	before, err := h.namedImages(ctx, names)
	if err != nil {
		return "", err
	}
	hashes, err := h.askCompose(ctx, names)
	if err != nil {
		return "", err
	}
	after, err := h.namedImages(ctx, names)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(hashes, func(name, _ string) bool { return before[name] != after[name] })
	h.told = toldHashes{signature, hashes, after}
	again, still := h.signFiles(ctx)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if cache.kept == nil {
		cache.kept = map[string]toldHashes{}
	}
	delete(cache.kept, h.stack.ID)
	if settled && still && again == signature {
		cache.kept[h.stack.ID] = h.told
	}
	return hashes[name], nil
}

// signFiles returns a value that changes with the files and the version of compose that the hashes depend on. It is not settled while a
// file was changed just now.
func (h *Hashes) signFiles(ctx context.Context) (signature string, settled bool) {
	p, err := compose.Load(ctx, h.c.host.ComposeSource(h.stack))
	if err != nil {
		return "", false
	}
	parts := slices.Clone(p.Parts)
	for _, svc := range p.Services {
		parts = append(parts, svc.EnvFiles...)
	}
	signature, settled = project.FilesSignature(h.c.host.ComposeSource(h.stack), parts)
	return signature + " " + h.version, settled
}

// namedImages returns the ids of the images that the names of services stand for; none with the second generation, which does not hash
// them.
func (h *Hashes) namedImages(ctx context.Context, names []string) (map[string]string, error) {
	out := map[string]string{}
	if !h.isFirstGeneration() {
		return out, nil
	}
	p, err := compose.Load(ctx, h.c.host.ComposeSource(h.stack))
	if err != nil {
		return nil, host.FilesUnreadable(h.stack, err)
	}
	var refs, of []string
	for _, name := range names {
		if svc := p.Service(name); svc != nil && svc.Ref.Path != "" {
			refs, of = append(refs, svc.Ref.String()), append(of, name)
		}
	}
	found, err := h.c.host.Engine().Images(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i, img := range found {
		if img != nil {
			out[of[i]] = img.ID
		}
	}
	return out, nil
}

// hashDiffers reports whether the second generation gives a service another hash when it is asked than when it creates containers. It
// leaves env_file out, and has put no container in the place of a service whose namespace or volumes are shared.
func hashDiffers(e *compose.Expected) bool {
	shared := slices.ContainsFunc([]string{e.NetworkMode, e.PIDMode, e.IPCMode},
		func(mode string) bool { return sharedMode(mode) == sharedNamespace })
	return e.HasEnvFiles || shared || len(e.VolumesFrom) > 0
}

// namesMadeBy returns the services in the stack's files that have containers which a version of compose has made. Compose refuses to tell
// the hashes of others, and of those whose profile is not active: services with profiles are compared by their fields alone.
func (h *Hashes) namesMadeBy(ctx context.Context, version string) (names []string, err error) {
	list, err := h.c.host.ContainersOf(ctx, h.stack.Project, "")
	if err != nil {
		return nil, err
	}
	p, err := compose.Load(ctx, h.c.host.ComposeSource(h.stack))
	if err != nil {
		return nil, host.FilesUnreadable(h.stack, err)
	}
	for _, c := range list {
		name := c.Labels[host.LabelService]
		named := p.Service(name)
		if named == nil || len(named.Profiles) > 0 || slices.Contains(names, name) {
			continue
		}
		if strings.TrimPrefix(c.Labels[host.LabelComposeVersion], "v") == version {
			names = append(names, name)
		}
	}
	return names, nil
}

// askCompose returns the hashes that compose gives to services.
func (h *Hashes) askCompose(ctx context.Context, names []string) (map[string]string, error) {
	if err := h.c.host.RefuseFiles(h.stack); err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	res, err := h.c.host.Engine().Compose(ctx, h.c.host.ComposeRequest(h.stack, host.ComposeCall{Action: engine.ActionHash, Services: names}),
		func(l engine.Line) error {
			if name, hash, ok := strings.Cut(strings.TrimSpace(l.Text), " "); ok && !l.Stderr && slices.Contains(names, name) {
				hashes[name] = hash
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("ask compose for the hashes of services: %w", err)
	}
	if res.ExitCode != 0 {
		return nil, fault.Wrap(host.ErrFiles, fault.Conflict,
			"The services of %s could not be compared with their files: compose ended with exit code %d.", h.stack.Project, res.ExitCode)
	}
	return hashes, nil
}
