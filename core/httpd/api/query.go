package api

import (
	"maps"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// AnyQuery in the metadata of a documented operation lets it take query parameters that it does not document.
const AnyQuery = "patchbay.any_query"

// maxQueryName is how much of an unknown parameter's name is repeated, in bytes.
const maxQueryName = 100

// checkQuery returns the handler of a route behind a check of the names in the query.
func (a *API) checkQuery(r httpd.Route) gin.HandlerFunc {
	op := a.findOperation(r.Method, openAPIPath(r.Path))
	if op == nil || op.Metadata[AnyQuery] != nil {
		return r.Handler
	}
	known := a.queryNames(op)
	return func(c *gin.Context) {
		if c.Request.URL.RawQuery != "" {
			if err := a.unknownQuery(c.Request.URL, known); err != nil {
				a.cfg.Errors(c, err)
				return
			}
		}
		r.Handler(c)
	}
}

// queryNames are the query parameters that an operation documents, those that carry credentials included.
func (a *API) queryNames(op *huma.Operation) map[string]bool {
	known := map[string]bool{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			known[p.Name] = true
		}
	}
	for _, alternative := range op.Security {
		for name := range alternative {
			if s := a.huma.OpenAPI().Components.SecuritySchemes[name]; s != nil && s.In == "query" {
				known[s.Name] = true
			}
		}
	}
	return known
}

// unknownQuery returns an error that names the first parameter, in the order of the alphabet, that is not known.
func (a *API) unknownQuery(u *url.URL, known map[string]bool) error {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault.New(a.cfg.Invalid, "The query string cannot be parsed.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			shown := texts.Limit(name, maxQueryName)
			return fault.New(a.cfg.Invalid, "Unknown query parameter %q.", shown).With("field", shown)
		}
	}
	return nil
}
