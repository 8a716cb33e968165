package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// BodyLimit bounds the body of a request, in bytes.
	BodyLimit = 1 << 20
	// researchBodyLimit leaves room for the files of a research.
	researchBodyLimit = 12 << 20
)

// plainRoutes returns the routes that have plain handlers.
func (h *proxyHandlers) plainRoutes() []httpd.Route {
	post := func(path, op string, limit int64) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: "/api/proxy/" + path, Policy: httpd.AccessToken, BodyLimit: limit,
			Handler: h.HandlePost(op)}
	}
	return append(h.mcpRoutes(), []httpd.Route{
		post("search", sdk.OpSearch, BodyLimit),
		post("extract", sdk.OpExtract, BodyLimit),
		post("crawl", sdk.OpCrawl, BodyLimit),
		post("map", sdk.OpMap, BodyLimit),
		post("research", sdk.OpResearch, researchBodyLimit),
		{Method: http.MethodGet, Path: "/api/proxy/research/:request_id", Policy: httpd.AccessToken, Handler: h.handleResearchResult},
		{Method: http.MethodGet, Path: "/api/proxy/usage", Policy: httpd.AccessToken, Handler: h.handleUsage},
		{Method: http.MethodGet, Path: "/health", Policy: httpd.Public, Handler: func(c *gin.Context) { c.String(http.StatusOK, "ok") }},
	}...)
}
