package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// apiPath is where the API is; pages are not below it.
const apiPath = "/api/"

// MountAt returns the routes of the API below a base URL.
func (s *API) MountAt(baseURL string) (httpd.Mount, error) {
	origin := s.cfg.Origin(baseURL)
	var routes []httpd.Route
	for _, r := range s.declareOperations(baseURL).Routes() {
		if r.Path == tagPath {
			r.Path = tagRoutedPath
		}
		if !strings.HasPrefix(r.Path, apiPath) {
			routes = append(routes, r)
			continue
		}
		r.Handler = allowOrigin(origin, r.Handler)
		routes = append(routes, r)
		if r.Method == http.MethodGet && !strings.HasSuffix(r.Path, "/events") {
			r.Method = http.MethodHead
			routes = append(routes, r)
		}
	}
	preflight := httpd.Route{Method: http.MethodOptions, Path: apiPath + "*path", Policy: httpd.Public,
		Handler: allowOrigin(origin, func(c *gin.Context) { c.Status(http.StatusNoContent) })}
	mount := httpd.Mount{Service: "releases", BaseURL: baseURL, Routes: append(routes, preflight)}
	mount.Errors = func(c *gin.Context, err error) {
		setOrigin(c, origin)
		httpd.WriteError(c, err)
	}
	return mount, nil
}

// allowOrigin returns a handler that tells browsers which origin may read its answers.
func allowOrigin(origin string, handle gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		setOrigin(c, origin)
		handle(c)
	}
}

// setOrigin tells a browser whether a page of another origin may read the answer. Only the header Authorization may identify the
// caller then, no cookie.
func setOrigin(c *gin.Context, origin string) {
	h := c.Writer.Header()
	h.Add("Vary", "Origin")
	if asked := strings.ToLower(c.GetHeader("Origin")); origin == "" || asked != origin {
		return
	}
	h.Set("Access-Control-Allow-Origin", c.GetHeader("Origin"))
	h.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
	if c.Request.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, X-Request-Id")
		h.Set("Access-Control-Max-Age", "600")
	}
}
