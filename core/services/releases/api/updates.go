package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

func (h *readHandlers) declareUpdates(a *api.API) {
	text := &huma.Schema{Type: huma.TypeString}
	params := append([]*huma.Param{
		{Name: "token", In: "query", Description: "That of the answer before.", Schema: text},
		{Name: "include", In: "query", Description: "feed, briefs, notifications or inbox, which is the same; several with commas. Empty means all.", Schema: text},
	}, feedParams("feed_type")...)
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/dashboard/updates", Policy: httpd.APIKey, Handler: h.serveUpdates},
		huma.Operation{
			OperationID: "dashboard-updates", Tags: []string{tagRead}, Summary: "Whether lists have changed",
			Description: "The first call, and one whose parameters differ from those of the token, tells of no change.",
			Parameters:  params,
			Responses: map[string]*huma.Response{"200": {Description: "The changes.", Content: api.JSON(api.Schema[reading.UpdatesAnswer](a))},
				"400": a.ErrorResponse("A parameter is not valid")},
		})
}

func (h *readHandlers) serveUpdates(c *gin.Context) {
	out, err := h.reading.FindUpdates(c.Request.Context(), readFeedChoice(c, "feed_type"), c.Query("include"), c.Query("token"))
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out)
}
