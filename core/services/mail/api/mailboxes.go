package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// mailboxHandlers answers what is asked about mailboxes.
type mailboxHandlers struct {
	boxes mailboxes
	users *auth.Users
	now   func() time.Time
}

func (h *mailboxHandlers) mailboxAPI(a *api.API) {
	const (
		get, post          = http.MethodGet, http.MethodPost
		notFound, conflict = http.StatusNotFound, http.StatusConflict
	)
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagMailboxes, httpd.APIKey, summary, errors...)
	}
	api.Register(a, withText(op("mailboxes", get, "/api/mailboxes", "List mailboxes"),
		"The newest first. Without status, all but destroyed ones."), h.listMailboxes)
	api.Register(a, withText(withStatus(op("mailbox-create", post, "/api/mailboxes", "Create a mailbox", conflict), http.StatusCreated),
		"What is left out is chosen at random; without expiresInMinutes the mailbox lives for an hour, with null for ever. For an address that is taken the code is mailbox_exists, with the mailbox if the caller may see it."), h.createMailbox)
	api.Register(a, withText(withStatus(op("mailbox-ensure", post, "/api/mailboxes/ensure", "Make a mailbox, unless there is one", conflict),
		http.StatusCreated, http.StatusOK),
		"201 for a mailbox that was made, 200 for one that there is. That one is never shortened: it lives until the later of both ends, an expired one begins anew, and one of the catch-all becomes registered. Other members than these are refused."), h.ensureMailbox)
	api.Register(a, withText(op("mailbox-resolve", get, "/api/mailboxes/resolve", "The mailbox with an address", notFound),
		"Active and expired ones."), h.resolveMailbox)
	api.Register(a, op("mailbox", get, "/api/mailboxes/{id}", "One mailbox, in any state", notFound), h.getMailbox)
	api.Register(a, op("mailbox-tags", http.MethodPatch, "/api/mailboxes/{id}/tags", "Replace the tags of a mailbox", notFound, conflict),
		h.setTags)
	api.Register(a, withText(op("mailbox-delete", http.MethodDelete, "/api/mailboxes/{id}", "Destroy a mailbox", notFound, conflict,
		http.StatusBadGateway),
		"Its messages are deleted and its address is free again. It may be repeated. What fails, such as the DNS provider, is tried again until it works."), h.deleteMailbox)
}

// Mailbox is a mailbox in answers.
type Mailbox struct {
	ID              string                 `json:"id" example:"mbx_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	UserID          string                 `json:"userId" doc:"Its owner." example:"usr_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	LocalPart       string                 `json:"localPart" example:"calm-otter42"`
	Subdomain       string                 `json:"subdomain" doc:"The labels before the mail domain; empty for an address of the domain itself." example:"ops.alpha"`
	MailDomain      string                 `json:"mailDomain" example:"example.com"`
	RootDomain      string                 `json:"rootDomain" deprecated:"true" doc:"Another name of mailDomain." example:"example.com"`
	Address         string                 `json:"address" example:"calm-otter42@ops.alpha.example.com"`
	Source          mailbox.Source         `json:"source" enum:"registered,catch_all"`
	Status          mailbox.Status         `json:"status" enum:"active,expired,destroying,destroyed"`
	CreatedAt       api.Time               `json:"createdAt"`
	LastReceivedAt  *api.Time              `json:"lastReceivedAt" nullable:"true"`
	ExpiresAt       *api.Time              `json:"expiresAt" nullable:"true" doc:"Null for a mailbox that does not expire."`
	DestroyedAt     *api.Time              `json:"destroyedAt" nullable:"true"`
	RoutingRuleID   *string                `json:"routingRuleId" doc:"The provider's rule for this address; null where it needs none."`
	CreatedVia      mailbox.Via            `json:"createdVia" enum:"web,api_key,system,unknown"`
	CreatedByAPIKey api.Optional[KeyBrief] `json:"createdByApiKey" doc:"The API key that made it; null for a mailbox that none has made."`
	Tags            []string               `json:"tags" nullable:"false"`
}

// KeyBrief names an API key.
type KeyBrief struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Prefix string `json:"prefix" doc:"The first 12 characters."`
}

// formatMailbox returns a mailbox for answers.
func (h *mailboxHandlers) formatMailbox(m mailbox.Mailbox) Mailbox {
	out := Mailbox{
		ID: m.ID, UserID: m.OwnerID, LocalPart: m.LocalPart, Subdomain: m.Subdomain, MailDomain: m.MailDomain, RootDomain: m.MailDomain,
		Address: m.Address,
		Source:  m.Source, Status: m.StatusAt(h.now()), CreatedAt: api.TimeOfMillis(m.CreatedAt), ExpiresAt: api.OptionalTime(m.ExpiresAt),
		DestroyedAt: api.OptionalTime(m.DestroyedAt), CreatedVia: m.CreatedVia, Tags: append([]string{}, m.Tags...),
	}
	if m.Status != mailbox.Destroying {
		out.LastReceivedAt = api.OptionalTime(m.ReceivedAt)
	}
	out.RoutingRuleID = optionalText(m.RuleID)
	if m.KeyID != "" {
		out.CreatedByAPIKey.Of = &KeyBrief{m.KeyID, m.KeyName, m.KeyPrefix}
	}
	return out
}

// Minutes is a lifetime in a request: absent, null or a number.
type Minutes struct {
	isNull bool
	value  int
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Minutes) UnmarshalJSON(raw []byte) error {
	if m.isNull = bytes.Equal(raw, []byte("null")); m.isNull {
		return nil
	}
	return json.Unmarshal(raw, &m.value)
}

// Schema implements huma.SchemaProvider.
func (Minutes) Schema(huma.Registry) *huma.Schema {
	least, most := float64(mailbox.MinMinutes), float64(mailbox.MaxMinutes)
	return &huma.Schema{Type: huma.TypeInteger, Nullable: true, Minimum: &least, Maximum: &most,
		Description: "From 60 to 525600; null for a mailbox that does not expire. Left out: 60."}
}

func (m Minutes) lifetime() mailbox.Lifetime {
	return mailbox.Lifetime{Minutes: m.value, Forever: m.isNull}
}

// MailboxPath names a mailbox.
type MailboxPath struct {
	ID string `path:"id" maxLength:"64" doc:"Id of the mailbox."`
}

type (
	mailboxQuery struct {
		Scope  string   `query:"scope" enum:"default,workspace" doc:"workspace: only mailboxes that are active or being destroyed."`
		Status []string `query:"status,explode" maxItems:"8" doc:"active, expired, destroying or destroyed; it may be given several times."`
		Tag    []string `query:"tag,explode" maxItems:"16" doc:"May be given several times: only mailboxes with all of them."`
		Query  string   `query:"q" maxLength:"100" doc:"Looked for in addresses."`
		Limit  int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
		Cursor string   `query:"cursor" maxLength:"2048" doc:"nextCursor of the page before."`
	}
	mailboxListBody struct {
		Mailboxes  []Mailbox `json:"mailboxes" nullable:"false"`
		NextCursor *string   `json:"nextCursor" doc:"Null on the last page."`
	}
	mailboxInput struct {
		Body *MailboxBody
	}
)

// MailboxBody describes a mailbox to make.
type MailboxBody struct {
	LocalPart  string   `json:"localPart,omitempty" maxLength:"64" example:"calm-otter42"`
	Subdomain  string   `json:"subdomain,omitempty" maxLength:"190" example:"ops.alpha"`
	MailDomain string   `json:"mailDomain,omitempty" maxLength:"253" example:"example.com"`
	RootDomain string   `json:"rootDomain,omitempty" maxLength:"253" deprecated:"true" doc:"Another name of mailDomain."`
	Expires    Minutes  `json:"expiresInMinutes,omitempty"`
	Tags       []string `json:"tags,omitempty" maxItems:"64"`
}

// sameDomain returns the domain that a request names in one of two members, or in both.
func sameDomain(mailDomain, rootDomain string) (string, error) {
	if mailDomain != "" && rootDomain != "" && mailDomain != rootDomain {
		return "", fault.New(fault.InvalidArgument, "mailDomain and rootDomain name different domains: leave one out.").With("field",
			"rootDomain")
	}
	if mailDomain == "" {
		return rootDomain, nil
	}
	return mailDomain, nil
}

// creatorFrom is callerFrom with the API key that was shown.
func (h *mailboxHandlers) creatorFrom(ctx context.Context) (mailbox.Caller, error) {
	caller := callerFrom(ctx)
	if caller.Via != mailbox.ViaAPIKey {
		return caller, nil
	}
	key, err := h.users.Keys.Find(ctx, auth.From(ctx).KeyID)
	caller.KeyID, caller.KeyName, caller.KeyPrefix = key.ID, key.Name, key.Prefix
	return caller, err
}

func (h *mailboxHandlers) createMailbox(ctx context.Context, in *mailboxInput) (*api.Out[Mailbox], error) {
	caller, err := h.creatorFrom(ctx)
	if err != nil {
		return nil, err
	}
	var b MailboxBody
	if in.Body != nil {
		b = *in.Body
	}
	name, err := sameDomain(b.MailDomain, b.RootDomain)
	if err != nil {
		return nil, err
	}
	box, err := h.boxes.Create(ctx, caller,
		mailbox.NewMailbox{LocalPart: b.LocalPart, Subdomain: b.Subdomain, MailDomain: name, Lifetime: b.Expires.lifetime(), Tags: b.Tags})
	return h.writeMailbox(ctx, box, err)
}

// writeMailbox returns the answer with a mailbox, or the error with the mailbox that is in the way.
func (h *mailboxHandlers) writeMailbox(ctx context.Context, box mailbox.Mailbox, err error) (*api.Out[Mailbox], error) {
	var taken *mailbox.ExistsError
	if errors.As(err, &taken) {
		return nil, fault.As(err).With("mailbox", h.formatMailbox(taken.Mailbox))
	}
	if err != nil {
		return nil, err
	}
	httpd.NoteObject(ctx, box.ID)
	return api.AnswerWith(h.formatMailbox(box), nil)
}

func (h *mailboxHandlers) getMailbox(ctx context.Context, in *MailboxPath) (*api.Out[Mailbox], error) {
	box, err := h.boxes.Get(ctx, callerFrom(ctx), in.ID)
	return h.writeMailbox(ctx, box, err)
}

func (h *mailboxHandlers) listMailboxes(ctx context.Context, in *mailboxQuery) (*api.Out[mailboxListBody], error) {
	f := mailbox.Filter{Tags: in.Tag, Text: in.Query}
	for _, status := range in.Status {
		f.Statuses = append(f.Statuses, mailbox.Status(status))
	}
	if in.Scope == "workspace" && len(f.Statuses) == 0 {
		f.Statuses = mailbox.Workspace()
	}
	page, next, err := h.boxes.List(ctx, callerFrom(ctx), f, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &api.Out[mailboxListBody]{Body: mailboxListBody{Mailboxes: lists.ConvertAll(page, h.formatMailbox)}}
	if next != "" {
		out.Body.NextCursor = &next
	}
	return out, nil
}
