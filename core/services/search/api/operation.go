package api

import (
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// The groups of operations in the document.
const (
	tagProxy  = "Search"
	tagMCP    = "MCP"
	tagUser   = "Own account"
	tagPublic = "Public"
	tagTokens = "Access tokens"
	tagKeys   = "Upstream keys"
	tagLogs   = "Requests"
	tagCharts = "Figures"
)

// adminOperation returns the declaration of an endpoint for administrators.
func adminOperation(id, method, path, tag, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: httpd.Admin, Tag: tag, Summary: summary, Errors: errors}
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

func withStatus(o api.Operation, code int) api.Operation { o.Status = code; return o }

func withPolicy(o api.Operation, p httpd.Policy) api.Operation { o.Policy = p; return o }

// requireConfirmation returns an operation that needs a passkey check of the last ten minutes.
func requireConfirmation(o api.Operation) api.Operation {
	o.Confirm, o.Description = true, "Needs a sign-in with a passkey, and a passkey check of the last ten minutes."
	return o
}

// auditReveal returns an operation that is audited although it only reads, since it shows a whole token.
func auditReveal(o api.Operation) api.Operation { o.Audit = "search.tokens.show"; return o }

// asExport returns an operation whose answer is a file of requests.
func asExport(o api.Operation) api.Operation {
	o.Description = "All that the filters choose, the newest first. A connection that is cut means that the file is not whole."
	o.Files = map[string]any{"text/csv": "", "application/x-ndjson": audit.RequestLog{}}
	return o
}

const notFound = http.StatusNotFound
