package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// composeHashes are the hashes that compose gives to the services of a stack. They are read when the first one is asked for, and
// again where that has failed.
type composeHashes struct {
	s      *Service
	stack  *stackRecord
	read   bool
	hashes map[string]string
	// version is that of compose; "" if it does not tell.
	version string
}

// hashCache keeps what compose has told of the services of stacks, for as long as none of their files changes.
type hashCache struct {
	// asking keeps changes of one stack from asking compose all at once.
	asking keyed
	mu     sync.Mutex
	kept   map[string]keptHashes
}

type keptHashes struct {
	signature string
	hashes    map[string]string
}

// lookUp returns the hashes of services, from the cache if neither the files nor the services nor compose have changed.
func (c *hashCache) lookUp(ctx context.Context, h *composeHashes, version string, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return map[string]string{}, nil
	}
	unlock, err := c.asking.lockKey(ctx, h.stack.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	signature, settled := h.signInputs(ctx, version, names)
	c.mu.Lock()
	kept := c.kept[h.stack.ID]
	c.mu.Unlock()
	if settled && kept.signature == signature {
		return kept.hashes, nil
	}
	hashes, err := h.askCompose(ctx, names)
	if err != nil {
		return nil, err
	}
	after, still := h.signInputs(ctx, version, names)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]keptHashes{}
	}
	delete(c.kept, h.stack.ID)
	if settled && still && after == signature {
		c.kept[h.stack.ID] = keptHashes{signature, hashes}
	}
	return hashes, nil
}

// signInputs returns a value that changes with what the hashes depend on. It is not settled while a file was changed just now.
func (h *composeHashes) signInputs(ctx context.Context, version string, names []string) (signature string, settled bool) {
	p, err := h.s.loadProject(ctx, h.stack)
	if err != nil {
		return "", false
	}
	parts := slices.Clone(p.Parts)
	for _, svc := range p.Services {
		parts = append(parts, svc.EnvFiles...)
	}
	signature, settled = filesSignature(h.s.composeSource(h.stack), parts)
	return fmt.Sprintf("%s %q %q", signature, version, slices.Sorted(slices.Values(names))), settled
}

func (s *Service) newHashes(st *stackRecord) *composeHashes { return &composeHashes{s: s, stack: st} }

// explainsAll reports whether compose would leave a container as it is, or cannot say so. It can where its version is the container's: hashes differ between
// versions. Where differs is set the second generation gives another hash when it is asked; the first one adds the image that the service's name stands for.
func (h *composeHashes) explainsAll(ctx context.Context, svc *serviceRecord, c *engine.Container, differs bool) (bool, error) {
	if err := h.readOnce(ctx); err != nil {
		return false, err
	}
	version := strings.TrimPrefix(c.Labels[labelComposeVersion], "v")
	hash := h.hashes[svc.Name]
	if h.version == "" || version != h.version || hash == "" || hash == c.Labels[labelConfigHash] {
		return true, nil
	}
	if !strings.HasPrefix(version, "1.") {
		return differs, nil
	}
	named, err := h.s.engine().Images(ctx, []string{svc.imageRef().String()})
	if err != nil {
		return false, err
	}
	return len(named) != 1 || named[0] == nil || named[0].ID != c.ImageID, nil
}

// hashDiffers reports whether the second generation gives a service another hash when it is asked than when it creates containers: it leaves env_file out,
// and has put no container in the place of a service whose namespace or volumes are shared.
func hashDiffers(e *compose.Expected) bool {
	shared := slices.ContainsFunc([]string{e.NetworkMode, e.PIDMode, e.IPCMode}, func(mode string) bool { return sharedMode(mode) == sharedNamespace })
	return e.HasEnvFiles || shared || len(e.VolumesFrom) > 0
}

// readOnce reads the version of compose and the hashes of the services whose containers it has made, until that has worked once. Nothing is compared
// where the engine has no compose.
func (h *composeHashes) readOnce(ctx context.Context) error {
	if h.read {
		return nil
	}
	info, err := h.s.engine().Info(ctx, h.s.settings().ComposeBin)
	if err != nil {
		return fmt.Errorf("read the version of compose: %w", err)
	}
	if info.Compose == nil {
		h.read = true
		return nil
	}
	version := strings.TrimPrefix(info.Compose.Version, "v")
	names, err := h.namesMadeBy(ctx, version)
	if err != nil {
		return err
	}
	hashes, err := h.s.hashes.lookUp(ctx, h, version, names)
	if err != nil {
		return err
	}
	h.read, h.version, h.hashes = true, version, hashes
	return nil
}

// namesMadeBy returns the services in the stack's files that have containers which a version of compose has made. Compose refuses to tell the hashes of
// others, and of those whose profile is not active: services with profiles are compared by their fields alone.
func (h *composeHashes) namesMadeBy(ctx context.Context, version string) (names []string, err error) {
	list, err := h.s.containersOf(ctx, h.stack.Project, "")
	if err != nil {
		return nil, err
	}
	p, err := h.s.loadProject(ctx, h.stack)
	if err != nil {
		return nil, filesUnreadable(h.stack, err)
	}
	for _, c := range list {
		name := c.Labels[labelService]
		named := p.Service(name)
		if named == nil || len(named.Profiles) > 0 || slices.Contains(names, name) {
			continue
		}
		if strings.TrimPrefix(c.Labels[labelComposeVersion], "v") == version {
			names = append(names, name)
		}
	}
	return names, nil
}

// askCompose returns the hashes that compose gives to services.
func (h *composeHashes) askCompose(ctx context.Context, names []string) (map[string]string, error) {
	if err := h.s.refuseFiles(h.stack); err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	res, err := h.s.engine().Compose(ctx, h.s.composeRequest(h.stack, composeCall{action: engine.ActionHash, services: names}), func(l engine.Line) error {
		if name, hash, ok := strings.Cut(strings.TrimSpace(l.Text), " "); ok && !l.Stderr && slices.Contains(names, name) {
			hashes[name] = hash
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask compose for the hashes of services: %w", err)
	}
	if res.ExitCode != 0 {
		return nil, fault.Wrap(errFiles, fault.Conflict, "The services of %s could not be compared with their files: compose ended with exit code %d.", h.stack.Project, res.ExitCode)
	}
	return hashes, nil
}
