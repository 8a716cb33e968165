package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

// rollbackView is a rollback before it is asked for.
type rollbackView struct {
	project.ServiceDetail
	Stack  project.StackItem
	Target change.RollbackTarget
	// Drift is what recreating the service and its dependents would change besides their images.
	Drift      []drift.ServiceDrift
	Dependents []change.Dependent
}

// rollbackPages ask before a rollback, and start it.
type rollbackPages struct{ pages }

func (p rollbackPages) rollbackRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute(servicePath+"/rollback", p.confirmRollback),
		postRoute(servicePath+"/rollback", p.handleJob(func(c *gin.Context, id string) (string, error) {
			return p.service.Rollback(c.Request.Context(), id, c.PostForm("drift") != "")
		})),
	}
}

func (p rollbackPages) rollbackView(c *gin.Context) (out rollbackView, err error) {
	ctx := c.Request.Context()
	if out.ServiceDetail, out.Stack, err = p.knownService(c); err != nil {
		return out, err
	}
	if out.Target, err = p.service.RollbackTarget(ctx, out.ID); err != nil || !out.Target.Available {
		return out, err
	}
	if out.Drift, err = p.service.Drift(ctx, []string{out.ID}); err != nil {
		return out, err
	}
	dependents, err := p.service.Dependents(ctx, []string{out.ID})
	out.Dependents = dependents[out.ID]
	return out, err
}

func (p rollbackPages) confirmRollback(c *gin.Context) {
	r, err := p.rollbackView(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.rollback")
	v.Path = p.base + "/stacks"
	p.kit.Render(c, v, http.StatusOK, rollbackPage(v, p.pages, r))
}

// rollbackCommands are what a rollback runs, in words.
func (p pages) rollbackCommands(r rollbackView) []string {
	return []string{"tag " + shortDigest(r.Target.TargetDigest) + " " + r.Image.Ref, p.lifecycleCommand(r.Stack.Name, "up -d --no-deps", r.Name)}
}
