package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
)

// DomainName is a mail domain that members may use.
type DomainName struct {
	Name string `json:"name" example:"example.com"`
}

// activeLister finds the mail domains in use.
type activeLister interface {
	ListActive(ctx context.Context) ([]domain.Domain, error)
}

// nameHandlers answers whether mail domains are in use.
type nameHandlers struct{ domains activeLister }

// nameAPI declares the endpoints of domain names.
func (h *nameHandlers) nameAPI(a *api.API) {
	api.Register(a, newOperation("domain-name", http.MethodGet, "/api/domain-names/{name}", tagDomains, httpd.APIKey,
		"Look up a domain name", http.StatusNotFound), h.getName)
}

// namePath is a domain name in the path of a request.
type namePath struct {
	Name string `path:"name" maxLength:"253" doc:"In lower case."`
}

// getName returns a mail domain in use.
func (h *nameHandlers) getName(ctx context.Context, in *namePath) (*api.Out[DomainName], error) {
	active, err := h.domains.ListActive(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(active, func(d domain.Domain) bool { return d.Name == in.Name }) {
		return nil, fault.New(fault.NotFound, "No mail domain in use has this name.")
	}
	return api.AnswerWith(DomainName{in.Name}, nil)
}
