package console

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

const nodesPath = "/system/nodes"

// Nodes are the cores that use the database.
type Nodes interface {
	// List returns them by their ids.
	List(ctx context.Context) ([]cluster.Node, error)
	// SetDrain asks one to take no new work, or to take it again.
	SetDrain(ctx context.Context, id string, drain bool) error
	// Self is the id of the node that answers.
	Self() string
}

// nodePages are those of the nodes.
type nodePages struct{ *base }

func (h *nodePages) listRoutes() []httpd.Route {
	if h.cfg.Nodes == nil {
		return nil
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: nodesPath, Policy: httpd.Admin, Handler: h.showNodeList},
		{Method: http.MethodPost, Path: nodesPath + "/:id/drain", Policy: httpd.Admin, BodyLimit: formLimit, Handler: h.drainNode},
		{Method: http.MethodPost, Path: nodesPath + "/:id/resume", Policy: httpd.Admin, BodyLimit: formLimit, Handler: h.resumeNode},
	}
}

// nodesView is what the page of nodes shows.
type nodesView struct {
	Nodes []cluster.Node
	// Self is the id of the node that answers.
	Self string
	// Failure is why a form was refused.
	Failure string
}

func (h *nodePages) showNodeList(gc *gin.Context) { h.showNodes(gc, http.StatusOK, "") }

func (h *nodePages) showNodes(gc *gin.Context, status int, failure string) {
	nodes, err := h.cfg.Nodes.List(gc.Request.Context())
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	v := h.kit.View(gc, "nodes.title")
	h.kit.Render(gc, v, status, nodesPage(v, nodesView{nodes, h.cfg.Nodes.Self(), failure}))
}

func (h *nodePages) drainNode(gc *gin.Context) { h.setDrain(gc, true, "nodes.drained") }

func (h *nodePages) resumeNode(gc *gin.Context) { h.setDrain(gc, false, "nodes.resumed") }

// setDrain asks the node of the route to take no new work, or to take it again, and answers with the text doneID.
func (h *nodePages) setDrain(gc *gin.Context, drain bool, doneID string) {
	id := gc.Param("id")
	err := h.cfg.Nodes.SetDrain(gc.Request.Context(), id, drain)
	if e := fault.As(err); e != nil {
		if fault.StatusOf(e) >= http.StatusInternalServerError {
			h.kit.Fail(gc, err)
			return
		}
		h.showNodes(gc, fault.StatusOf(e), h.kit.View(gc, "").Fault(e))
		return
	}
	h.kit.Done(gc, nodesPath, ui.Toast{Kind: "ok", TextID: doneID, Args: []string{"Name", id}})
}
