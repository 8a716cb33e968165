package containers

import (
	"context"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// composeHashes are the hashes that compose gives to the services of a stack. They are read when the first one is asked for.
type composeHashes struct {
	s      *Service
	stack  *stackRecord
	read   bool
	hashes map[string]string
	// version is that of compose; "" if it does not tell, or gave no hashes.
	version string
}

func (s *Service) newHashes(st *stackRecord) *composeHashes { return &composeHashes{s: s, stack: st} }

// explainsAll reports whether compose would leave a container as it is, or cannot say so. It can where its version is the container's: hashes differ between
// versions. Where differs is set the second generation gives another hash when it is asked; the first one adds the image that the service's name stands for.
func (h *composeHashes) explainsAll(ctx context.Context, svc *serviceRecord, c *engine.Container, differs bool) bool {
	h.readOnce(ctx)
	version := strings.TrimPrefix(c.Labels[labelComposeVersion], "v")
	hash := h.hashes[svc.Name]
	if h.version == "" || version != h.version || hash == "" || hash == c.Labels[labelConfigHash] {
		return true
	}
	if !strings.HasPrefix(version, "1.") {
		return differs
	}
	named, err := h.s.engine().Images(ctx, []string{svc.imageRef().String()})
	return err != nil || len(named) != 1 || named[0] == nil || named[0].ID != c.ImageID
}

// hashDiffers reports whether the second generation gives a service another hash when it is asked than when it creates containers: it leaves env_file out,
// and has put no container in the place of a service whose namespace or volumes are shared.
func hashDiffers(e *compose.Expected) bool {
	shared := slices.ContainsFunc([]string{e.NetworkMode, e.PIDMode, e.IPCMode}, func(mode string) bool { return sharedMode(mode) == sharedNamespace })
	return e.HasEnvFiles || shared || len(e.VolumesFrom) > 0
}

// readOnce reads the version of compose and the hashes of the services that have containers. Without them nothing is compared.
func (h *composeHashes) readOnce(ctx context.Context) {
	if h.read {
		return
	}
	h.read, h.hashes = true, map[string]string{}
	info, err := h.s.engine().Info(ctx, h.s.settings().ComposeBin)
	if err != nil || info.Compose == nil {
		return
	}
	list, err := h.s.containersOf(ctx, h.stack.Project, "")
	if err != nil || h.s.refuseFiles(h.stack) != nil {
		return
	}
	var names []string
	for _, c := range list {
		if name := c.Labels[labelService]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	res, err := h.s.engine().Compose(ctx, h.s.composeRequest(h.stack, composeCall{action: engine.ActionHash, services: names}), func(l engine.Line) error {
		if name, hash, ok := strings.Cut(strings.TrimSpace(l.Text), " "); ok && !l.Stderr && slices.Contains(names, name) {
			h.hashes[name] = hash
		}
		return nil
	})
	if err == nil && res.ExitCode == 0 {
		h.version = strings.TrimPrefix(info.Compose.Version, "v")
	}
}
