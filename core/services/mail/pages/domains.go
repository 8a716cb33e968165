package pages

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
)

const (
	domainsPath = "/domains"
	// newDomain is the id of the dialog that adds a domain.
	newDomain = "new-domain"
)

// domainsView is what the page of domains shows.
type domainsView struct {
	Domains []api.Domain
	// Failures tell, by the id of a domain, of mailboxes that could not be destroyed.
	Failures map[string]api.CleanupFailure
	// Zones are those of the DNS provider that are not used for mail.
	Zones []api.CatalogItem
	// Limited reports whether the provider limits requests; Failure says why it did not answer.
	Limited bool
	Failure string
	// Form adds a domain; Open shows it at once.
	Form ui.Form
	Open bool
}

func (p pages) showDomains(c *gin.Context) { p.renderDomains(c, ui.Form{}) }

// renderDomains shows the domains with the form that adds one.
func (p pages) renderDomains(c *gin.Context, form ui.Form) {
	ctx := c.Request.Context()
	v := p.newView(c, "mail.nav.domains")
	v.Path = p.base + domainsPath
	d := domainsView{Form: form, Open: form.Refused() || ui.Opens(c, newDomain)}
	var err error
	if d.Domains, err = p.service.Domains(ctx); err != nil {
		p.kit.Fail(c, err)
		return
	}
	if d.Failures, err = p.service.CleanupFailures(ctx); err != nil {
		p.kit.Fail(c, err)
		return
	}
	items, sync, err := p.service.Catalog(ctx)
	if err != nil {
		d.Failure = v.Fault(fault.As(err))
	}
	d.Limited = sync.Status == "rate_limited"
	for _, item := range items {
		if item.Domain.Of == nil && item.ZoneID != nil {
			d.Zones = append(d.Zones, item)
		}
	}
	p.kit.Render(c, v, form.Status(), domainsPage(v, p, d))
}

func (p pages) bindDomain(c *gin.Context) {
	_, err := p.service.BindDomain(c.Request.Context(), strings.TrimSpace(c.PostForm("mailDomain")))
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderDomains(c, form)
		}
		return
	}
	p.doneDomain(c, "mail.domain.added", nil)
}

func (p pages) enableDomain(c *gin.Context) {
	_, err := p.service.EnableDomain(c.Request.Context(), c.PostForm("mailDomain"), c.PostForm("zoneId"))
	p.doneDomain(c, "mail.domain.added", err)
}

func (p pages) setCatchAll(c *gin.Context) {
	ctx := c.Request.Context()
	if c.PostForm("on") == "" {
		_, err := p.service.DisableCatchAll(ctx, c.Param("id"))
		p.doneDomain(c, "mail.catch_all.is_off", err)
		return
	}
	_, err := p.service.EnableCatchAll(ctx, c.Param("id"), strings.TrimSpace(c.PostForm("pattern")))
	p.doneDomain(c, "mail.catch_all.is_on", err)
}

func (p pages) retryDomain(c *gin.Context) {
	_, err := p.service.RetryDomain(c.Request.Context(), c.Param("id"))
	p.doneDomain(c, "mail.domain.checked", err)
}

func (p pages) disableDomain(c *gin.Context) {
	_, err := p.service.DisableDomain(c.Request.Context(), c.Param("id"))
	p.doneDomain(c, "mail.domain.is_disabled", err)
}

// deleteDomain asks for the name of the domain, so that nobody deletes a zone by a slip.
func (p pages) deleteDomain(c *gin.Context) {
	ctx := c.Request.Context()
	list, err := p.service.Domains(ctx)
	for _, d := range list {
		if d.ID == c.Param("id") {
			err = ui.CheckTypedName(c, d.MailDomain)
		}
	}
	if err == nil {
		err = p.service.DeleteDomain(ctx, c.Param("id"))
	}
	p.doneDomain(c, "mail.domain.deleted", err)
}

// doneDomain answers an action and goes back to the domains.
func (p pages) doneDomain(c *gin.Context, toast string, err error) {
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.base+domainsPath, ui.Toast{Kind: "ok", TextID: toast})
}

// stateTone returns the colour of the state of a domain or of a record.
func stateTone(state string) string {
	switch state {
	case "active", "visible", "on":
		return "ok"
	case "provisioning_error", "missing", "different":
		return "warn"
	}
	return ""
}
