package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	hashes := map[string]string{}
	if len(names) > 0 {
		if hashes, err = h.askCompose(ctx, names); err != nil {
			return err
		}
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
