package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

// filesView is what the page of the compose files of a stack shows.
type filesView struct {
	Stack project.StackDetail
	Files []project.ComposeText
	// Drift is what the files say and no container has; DriftError says why that is not known.
	Drift      []drift.ServiceDrift
	DriftError string
}

func (p pages) composeFiles(c *gin.Context) {
	ctx := c.Request.Context()
	var f filesView
	var err error
	if f.Stack, err = p.service.Stack(ctx, c.Param("stackId")); err == nil {
		f.Files, err = p.service.ComposeTexts(ctx, f.Stack.ID)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.files.title")
	v.Path = p.base + "/stacks"
	var ids []string
	for _, s := range f.Stack.Services {
		if !s.Archived {
			ids = append(ids, s.ID)
		}
	}
	if f.Drift, err = p.service.Drift(ctx, ids); err != nil {
		f.DriftError = v.Fault(fault.As(err))
	}
	p.kit.Render(c, v, http.StatusOK, filesPage(v, p, f))
}

// waitingServices are the services of the stack whose new version may be applied.
func (f filesView) waitingServices() []updateRow {
	return waitingUpdates([]project.StackDetail{f.Stack})
}
