package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// Meta is what a client needs to know before it makes a mailbox.
type Meta struct {
	Domains               []string     `json:"domains" nullable:"false" doc:"The active mail domains, sorted." example:"mail.localhost"`
	DomainBinding         bool         `json:"domainBindingEnabled" doc:"Whether the DNS provider can make zones."`
	DomainLifecycle       bool         `json:"domainLifecycleEnabled" doc:"Whether there is a DNS provider."`
	CatchAllManagement    bool         `json:"catchAllManagementEnabled" doc:"Whether domains may have a catch-all."`
	CatchAllEnablement    bool         `json:"catchAllEnablementEnabled" doc:"Whether one can be switched on now."`
	UnlimitedTTL          bool         `json:"supportsUnlimitedMailboxTtl" doc:"Whether expiresInMinutes may be null."`
	DefaultTTL            int          `json:"defaultMailboxTtlMinutes" example:"60"`
	MinTTL                int          `json:"minMailboxTtlMinutes" example:"60"`
	MaxTTL                int          `json:"maxMailboxTtlMinutes" example:"525600"`
	AddressRules          AddressRules `json:"addressRules"`
	PasskeyAuthEnabled    bool         `json:"passkeyAuthEnabled" doc:"Whether passkeys work at the address by which the caller has come."`
	PasskeyTrustedOrigins []string     `json:"passkeyTrustedOrigins" nullable:"false"`
}

// AddressRules say what addresses may be like.
type AddressRules struct {
	Format           string   `json:"format" example:"localPart@[subdomain.]rootDomain"`
	LocalPartPattern string   `json:"localPartPattern"`
	SubdomainPattern string   `json:"subdomainPattern"`
	TagPattern       string   `json:"tagPattern"`
	Examples         []string `json:"examples" nullable:"false"`
}

// metaHandlers answers what clients need to know.
type metaHandlers struct {
	domains  domainReader
	connect  func() domain.Connection
	settings func() Settings
}

func (h *metaHandlers) metaAPI(a *api.API) {
	api.Register(a, newOperation("meta", http.MethodGet, "/api/meta", tagPublic, httpd.Public, "What a client needs to know"), h.getMeta)
}

// metaInput lets the handler see the request.
type metaInput struct{ gin *gin.Context }

// Resolve implements huma.Resolver.
func (r *metaInput) Resolve(ctx huma.Context) []error {
	r.gin = humagin.Unwrap(ctx)
	return nil
}

func (h *metaHandlers) getMeta(ctx context.Context, in *metaInput) (*api.Out[Meta], error) {
	active, err := h.domains.ListActive(ctx)
	if err != nil {
		return nil, err
	}
	passkeys := h.settings().Access.Passkeys(in.gin.Request)
	out := Meta{
		Domains: make([]string, len(active)), UnlimitedTTL: true, DefaultTTL: mailbox.DefaultMinutes, MinTTL: mailbox.MinMinutes,
		MaxTTL: mailbox.MaxMinutes,
		AddressRules: AddressRules{
			Format: "localPart@[subdomain.]rootDomain", LocalPartPattern: address.LocalPattern, SubdomainPattern: address.HostPattern,
			TagPattern: mailbox.TagPattern, Examples: []string{},
		},
		PasskeyAuthEnabled: passkeys.Available, PasskeyTrustedOrigins: []string{},
	}
	if passkeys.Available && passkeys.URL != "" {
		out.PasskeyTrustedOrigins = append(out.PasskeyTrustedOrigins, passkeys.URL)
	}
	out.CatchAllManagement, out.CatchAllEnablement = true, len(active) > 0
	if provider := h.connect().DNS; provider != nil {
		can, err := provider.Describe()
		out.DomainLifecycle, out.DomainBinding = err == nil, err == nil && can.CreateZones
	}
	for i, d := range active {
		out.Domains[i] = d.Name
		if i < 2 {
			out.AddressRules.Examples = append(out.AddressRules.Examples, "ada.lovelace@"+d.Name, "hello@ops.alpha."+d.Name)
		}
	}
	return api.AnswerWith(out, nil)
}
