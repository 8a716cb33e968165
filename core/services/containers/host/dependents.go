package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// DependentNames returns the services that share something with containers of provider, directly or through others,
// providers before their dependents. list are the project's containers: files may name one of them.
func DependentNames(p *compose.Project, list []engine.Container, provider string) (out []string) {
	providers := map[string][]string{}
	for _, svc := range p.Services {
		for _, from := range svc.SharesWith {
			name, isService := strings.CutPrefix(from, compose.SharesService)
			if !isService {
				name = serviceOfContainer(p, list, strings.TrimPrefix(from, compose.SharesContainer))
			}
			if name != "" && name != svc.Name {
				providers[svc.Name] = append(providers[svc.Name], name)
			}
		}
	}
	affected := map[string]bool{provider: true}
	for range p.Services {
		for name, from := range providers {
			affected[name] = affected[name] || slices.ContainsFunc(from, func(f string) bool { return affected[f] })
		}
	}
	placed := map[string]bool{provider: true}
	for range p.Services {
		for _, svc := range p.Services {
			waits := slices.ContainsFunc(providers[svc.Name], func(f string) bool { return affected[f] && !placed[f] })
			if affected[svc.Name] && !placed[svc.Name] && !waits {
				placed[svc.Name] = true
				out = append(out, svc.Name)
			}
		}
	}
	return out
}

// serviceOfContainer is the service of the container with a name or id; "" if it is none of the project's.
func serviceOfContainer(p *compose.Project, list []engine.Container, container string) string {
	for _, svc := range p.Services {
		if svc.ContainerName != "" && svc.ContainerName == container {
			return svc.Name
		}
	}
	for _, c := range list {
		if c.Name == container || c.ID == container {
			return c.Labels[LabelService]
		}
	}
	return ""
}

// DependentServices returns the services of a stack that are recreated with a service. Its error wraps ErrFiles if the
// stack's files cannot be read.
func (h *Host) DependentServices(ctx context.Context, st *record.Stack, provider string) ([]record.Service, error) {
	p, err := h.LoadProject(ctx, st)
	if err != nil {
		return nil, FilesUnreadable(st, err)
	}
	if !slices.ContainsFunc(p.Services, func(svc compose.Service) bool { return len(svc.SharesWith) > 0 }) {
		return nil, nil
	}
	list, err := h.ContainersOf(ctx, st.Project, "")
	if err != nil {
		return nil, err
	}
	services, err := h.cfg.Store.ListStackServices(ctx, st.ID)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	var out []record.Service
	for _, name := range DependentNames(p, list, provider) {
		i := slices.IndexFunc(services, func(svc record.Service) bool { return svc.Name == name })
		has := slices.ContainsFunc(list, func(c engine.Container) bool { return c.Labels[LabelService] == name })
		if i >= 0 && has {
			out = append(out, services[i])
		}
	}
	return out, nil
}
