package search

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	bodyLimit = 1 << 20
	// researchBodyLimit leaves room for the files of a research.
	researchBodyLimit = 12 << 20
)

// Mount is the service below its base URL.
func (s *Service) Mount() (httpd.Mount, error) { return s.MountAt(s.BaseURL()) }

// MountAt is Mount for another base URL than the one in use.
func (s *Service) MountAt(base string) (httpd.Mount, error) {
	return httpd.Mount{Service: "search", BaseURL: base, Routes: s.newAPI(base).Routes(), Errors: s.writeError}, nil
}

// plainRoutes returns the routes that have plain handlers.
func (s *Service) plainRoutes() []httpd.Route {
	post := func(path, op string, limit int64) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: "/api/proxy/" + path, Policy: httpd.AccessToken, BodyLimit: limit, Handler: s.handlePost(op)}
	}
	return append(s.mcpRoutes(), []httpd.Route{
		post("search", sdk.OpSearch, bodyLimit),
		post("extract", sdk.OpExtract, bodyLimit),
		post("crawl", sdk.OpCrawl, bodyLimit),
		post("map", sdk.OpMap, bodyLimit),
		post("research", sdk.OpResearch, researchBodyLimit),
		{Method: http.MethodGet, Path: "/api/proxy/research/:request_id", Policy: httpd.AccessToken, Handler: s.handleResearchResult},
		{Method: http.MethodGet, Path: "/api/proxy/usage", Policy: httpd.AccessToken, Handler: s.handleUsage},
		{Method: http.MethodGet, Path: "/health", Policy: httpd.Public, Handler: func(c *gin.Context) { c.String(http.StatusOK, "ok") }},
	}...)
}
