package api

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// The groups of operations in the document.
const (
	tagPublic    = "Public"
	tagMailboxes = "Mailboxes"
	tagMessages  = "Messages"
	tagDomains   = "Domains"
	// tagSignIn, tagAccount and tagUsers have the names that core/auth/account gives them.
	tagSignIn  = "Sign-in"
	tagAccount = "Own account"
	tagUsers   = "Users"
)

// newOperation begins the declaration of an endpoint.
func newOperation(id, method, path, tag string, policy httpd.Policy, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: policy, Tag: tag, Summary: summary, Errors: errors}
}

// messageOperation begins the declaration of an endpoint of messages.
func messageOperation(id, method, path, summary string, errors ...int) api.Operation {
	return newOperation(id, method, path, tagMessages, httpd.APIKey, summary, errors...)
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

func withStatus(o api.Operation, code int, also ...int) api.Operation {
	o.Status = code
	for _, status := range also {
		o.Also = map[int]any{status: nil}
	}
	return o
}

// callerFrom returns who acts on mailboxes.
func callerFrom(ctx context.Context) mailbox.Caller {
	p := auth.From(ctx)
	caller := mailbox.Caller{UserID: p.User.ID, Admin: p.Admin(), Via: mailbox.ViaWeb}
	if p.Via == auth.ViaKey {
		caller.Via = mailbox.ViaAPIKey
	}
	return caller
}
