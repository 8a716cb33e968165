package host

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// ErrFiles tells that a project's files are not what they were when a change was asked for: compose is not run on them.
var ErrFiles = errors.New("the compose files have changed")

// FilesUnreadable returns the fault for a stack whose compose files cannot be read because of err.
func FilesUnreadable(st *record.Stack, err error) error {
	return fault.Wrap(errors.Join(ErrFiles, err), fault.Conflict, "The compose files of %s cannot be read: %v", st.Project, err)
}

// ComposeSource returns the files of a stack and the folders from which they may be read.
func (h *Host) ComposeSource(st *record.Stack) compose.Source {
	return compose.Source{Project: st.Project, WorkingDir: st.WorkingDir, Files: st.Files, EnvFiles: st.EnvFiles, Roots: h.ReadableRoots()}
}

// ReadableRoots returns the folders from which the files of every project may be read.
func (h *Host) ReadableRoots() []string {
	roots := slices.Clone(h.cfg.Settings().StackRoots)
	if path := h.OverridePath(); path != "" {
		roots = append(roots, path)
	}
	return roots
}

// OverridePath is where the supervisor writes the file that names this instance's image.
func (h *Host) OverridePath() string {
	path := h.cfg.Settings().StatePath
	if path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "self-upgrade.override.yml")
}

// LoadProject reads the compose files of a stack.
func (h *Host) LoadProject(ctx context.Context, st *record.Stack) (*compose.Project, error) {
	return compose.Load(ctx, h.ComposeSource(st))
}

// RefuseFiles refuses files that may not be read: compose quotes what it cannot understand.
func (h *Host) RefuseFiles(st *record.Stack) error {
	if err := compose.CheckFiles(h.ComposeSource(st)); err != nil {
		return fault.Wrap(errors.Join(ErrFiles, err), fault.Conflict, "The compose files of %s cannot be used: %v", st.Project, err)
	}
	return nil
}

// SameImage reports whether the project's files still give the service the image that was asked for.
func (h *Host) SameImage(ctx context.Context, st *record.Stack, svc *record.Service) error {
	p, err := h.LoadProject(ctx, st)
	if err != nil {
		return FilesUnreadable(st, err)
	}
	for _, found := range p.Services {
		if found.Name != svc.Name {
			continue
		}
		if r, err := image.Parse(found.Image); err == nil && r.String() == svc.ImageRef().String() {
			return nil
		}
		return fault.Wrap(ErrFiles, fault.Conflict, "The compose files of %s now name a different image for %s: %s.", st.Project, svc.Name,
			found.Image)
	}
	return fault.Wrap(ErrFiles, fault.Conflict, "The compose files of %s do not define the service %s anymore.", st.Project, svc.Name)
}

// ReplicasInFiles is the number of containers that the files give to a service; 0 where they cannot be read.
func (h *Host) ReplicasInFiles(ctx context.Context, st *record.Stack, name string) int {
	p, err := h.LoadProject(ctx, st)
	if err != nil {
		return 0
	}
	if svc := p.Service(name); svc != nil {
		return svc.Replicas
	}
	return 0
}
