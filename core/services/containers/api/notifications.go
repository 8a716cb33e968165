package api

import (
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
)

// notifyAPI declares the endpoints of notifications, and the schemas of the service's payloads.
func (h *handlers) notifyAPI(a *api.API) {
	h.cfg.channels.Register(a, tagNotify)
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/schemas/:name", Policy: httpd.Public, Handler: h.handleSchema}, huma.Operation{
		OperationID: "notification-schema", Tags: []string{tagNotify}, Summary: "The JSON Schema of a payload",
		Parameters: []*huma.Param{{Name: "name", In: "path", Required: true,
			Description: "The payload's member schema; .schema.json may follow.", Example: news.SchemaJob,
			Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The schema.", Content: map[string]*huma.MediaType{"application/schema+json": {Schema: &huma.Schema{Type: huma.TypeObject}}}},
			"404": a.ErrorResponse("There is no such schema."),
		},
	})
}

const schemaSuffix = ".schema.json"

func (h *handlers) handleSchema(c *gin.Context) {
	raw, err := fs.ReadFile(news.Schemas(), strings.TrimSuffix(c.Param("name"), schemaSuffix)+schemaSuffix)
	if err != nil {
		httpd.WriteError(c, fault.New(fault.NotFound, "There is no such schema."))
		return
	}
	c.Header("Cache-Control", "public, max-age=3600")
	c.Data(http.StatusOK, "application/schema+json", raw)
}
