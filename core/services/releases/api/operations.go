package api

import (
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// The groups of operations in the document.
const (
	tagRead   = "Read"
	tagSync   = "Sync, briefs and tasks"
	tagFollow = "Following"
	tagToken  = "Accounts at the code host"
	tagReact  = "Reactions"
	// tagSyndication has what feed readers read.
	tagSyndication = "Feeds for readers"
	// tagAccount has the name that core/auth/account gives it.
	tagAccount = "Own account"
)

// newOperation begins the declaration of an endpoint.
func newOperation(id, method, path, tag string, policy httpd.Policy, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: policy, Tag: tag, Summary: summary, Errors: errors}
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

const sseType = "text/event-stream"
