package pages

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

// findHits returns the stacks and services that a text finds. The pages are for administrators.
func (p pages) findHits(ctx context.Context, v *ui.View, text string) (out []ui.Hit, err error) {
	if !v.Admin() {
		return nil, nil
	}
	all, err := p.service.Overview(ctx, project.ArchivedExclude)
	for _, st := range all {
		if ui.Matches(text, st.Name) {
			out = append(out, ui.Hit{Kind: v.T("containers.stack"), Title: st.Name, Href: p.base + "/stacks/" + st.ID})
		}
		for _, s := range st.Services {
			if ui.Matches(text, st.Name, s.Name, s.Image.Ref) {
				out = append(out, ui.Hit{Kind: v.T("containers.service"), Title: st.Name + " / " + s.Name, Detail: s.Image.Ref,
					Href: p.serviceURL(st.ID, s.ID)})
			}
		}
	}
	return out, err
}

// countPending returns how many updates wait.
func (p pages) countPending(ctx context.Context) (map[string]int, error) {
	all, err := p.service.Overview(ctx, project.ArchivedExclude)
	if err != nil {
		return nil, err
	}
	return map[string]int{p.base + "/stacks": sumUp(all).Updates}, nil
}
