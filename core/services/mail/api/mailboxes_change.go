package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// EnsureBody names a mailbox: by its address, or by its parts.
type EnsureBody struct {
	_          struct{} `additionalProperties:"false"`
	Address    string   `json:"address,omitempty" maxLength:"320" example:"calm-otter42@example.com"`
	LocalPart  string   `json:"localPart,omitempty" maxLength:"64" doc:"Instead of address."`
	Subdomain  string   `json:"subdomain,omitempty" maxLength:"190"`
	MailDomain string   `json:"mailDomain,omitempty" maxLength:"253"`
	RootDomain string   `json:"rootDomain,omitempty" maxLength:"253" deprecated:"true" doc:"Another name of mailDomain."`
	Expires    Minutes  `json:"expiresInMinutes,omitempty"`
	Tags       []string `json:"tags,omitempty" maxItems:"64" doc:"For a mailbox that is made."`
}

type (
	ensuredOutput struct {
		Status int
		Body   Mailbox
	}
	resolveQuery struct {
		Address string `query:"address" required:"true" maxLength:"320"`
	}
	tagsInput struct {
		MailboxPath
		Body struct {
			Tags []string `json:"tags" maxItems:"64" nullable:"false" example:"signup"`
		}
	}
)

// newMailbox returns what a request to ensure a mailbox asks for.
func (b EnsureBody) newMailbox() (mailbox.NewMailbox, error) {
	name, err := sameDomain(b.MailDomain, b.RootDomain)
	if err != nil {
		return mailbox.NewMailbox{}, err
	}
	switch {
	case b.Address != "" && (b.LocalPart != "" || b.Subdomain != "" || name != ""):
		return mailbox.NewMailbox{}, fault.New(fault.InvalidArgument,
			"Give either address, or localPart with subdomain and mailDomain.").With("field", "address")
	case b.Address == "" && b.LocalPart == "":
		return mailbox.NewMailbox{}, fault.New(fault.InvalidArgument, "Either address or localPart is required.").With("field", "address")
	case b.Address == "" && name == "":
		return mailbox.NewMailbox{}, fault.New(fault.InvalidArgument, "mailDomain is required with localPart.").With("field", "mailDomain")
	}
	return mailbox.NewMailbox{Address: b.Address, LocalPart: b.LocalPart, Subdomain: b.Subdomain, MailDomain: name,
		Lifetime: b.Expires.lifetime(), Tags: b.Tags}, nil
}

func (h *mailboxHandlers) ensureMailbox(ctx context.Context, in *struct{ Body EnsureBody }) (*ensuredOutput, error) {
	wanted, err := in.Body.newMailbox()
	if err != nil {
		return nil, err
	}
	caller, err := h.creatorFrom(ctx)
	if err != nil {
		return nil, err
	}
	box, created, err := h.boxes.Ensure(ctx, caller, wanted)
	answer, err := h.writeMailbox(ctx, box, err)
	if err != nil {
		return nil, err
	}
	out := &ensuredOutput{Status: http.StatusOK, Body: answer.Body}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (h *mailboxHandlers) resolveMailbox(ctx context.Context, in *resolveQuery) (*api.Out[Mailbox], error) {
	box, err := h.boxes.Resolve(ctx, callerFrom(ctx), in.Address)
	return h.writeMailbox(ctx, box, err)
}

func (h *mailboxHandlers) setTags(ctx context.Context, in *tagsInput) (*api.Out[Mailbox], error) {
	box, err := h.boxes.SetTags(ctx, callerFrom(ctx), in.ID, in.Body.Tags)
	return h.writeMailbox(ctx, box, err)
}

func (h *mailboxHandlers) deleteMailbox(ctx context.Context, in *MailboxPath) (*api.Out[Mailbox], error) {
	box, err := h.boxes.Destroy(ctx, callerFrom(ctx), in.ID)
	return h.writeMailbox(ctx, box, err)
}
