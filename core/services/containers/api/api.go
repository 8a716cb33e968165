// Package api declares the endpoints of the containers service and answers them.
package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// handlers answers the requests.
type handlers struct {
	cfg config
	stackHandlers
	workHandlers
	settingHandlers
	hookHandlers
}

// declareStream declares a stream of events.
func (h *handlers) declareStream(a *api.API, id, path, tag, summary, text string, stream func(*gin.Context) error) {
	handler := func(c *gin.Context) {
		if err := stream(c); err != nil {
			httpd.WriteError(c, err)
		}
	}
	a.Document(httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.Forward, Handler: handler}, huma.Operation{
		OperationID: id, Tags: []string{tag}, Summary: summary,
		Description: text + " A comment comes every 15 s. To go on after a cut, send the id of the last event as the header Last-Event-ID or as afterId; the larger counts.",
		Parameters: []*huma.Param{{Name: "afterId", In: "query", Description: "Go on after this event.",
			Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}}},
		Responses: map[string]*huma.Response{"200": {Description: "The stream.",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}},
	})
}

// VersionInfo is the version in effect.
type VersionInfo struct {
	Version string `json:"version" example:"1.4.0"`
}

func (h *handlers) getVersion(context.Context, *struct{}) (*api.Out[VersionInfo], error) {
	return api.AnswerWith(VersionInfo{h.cfg.version}, nil)
}
