// Package pages holds the pages of the mail service: mailboxes with their messages, a reader, and examples for programs.
// Members see what is theirs.
package pages

import (
	"context"
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
)

//go:embed locales static
var files embed.FS

const (
	// formLimit is the largest body of a form, in bytes.
	formLimit = 64 << 10
	// lookEvery is how often the lists are made anew when no mail comes.
	lookEvery = 20 * time.Second
)

// pages are the handlers. They keep nothing between requests.
type pages struct {
	service Service
	kit     *ui.Kit
	// base is the path of the service, url its whole address as clients on this machine know it.
	base, url string
}

// Section are the pages of a mail service that is mounted at base, a path; url is its whole address.
func Section(s Service, base, url string) (ui.Section, error) {
	p := pages{service: s, base: strings.TrimSuffix(base, "/"), url: strings.TrimSuffix(url, "/")}
	return ui.NewSection(ui.Section{
		Service: service.ServiceName, Housekeeping: service.Housekeeping(), Find: p.findHits, Home: p.homePart,
		Nav: []ui.NavItem{
			{TextID: "mail.nav.inbox", Icon: ui.IconEnvelope, Href: p.base + inboxPath, Key: "m"},
			{TextID: "mail.nav.domains", Icon: ui.IconGlobe, Href: p.base + domainsPath, Key: "h", Admin: true},
			{TextID: "mail.nav.deploy", Icon: ui.IconCheck, Href: p.base + deployPath, Key: "k", Admin: true},
			{TextID: "mail.nav.docs", Icon: ui.IconBook, Href: p.base + docsPath, Key: "b"},
		},
		Actions: []ui.NavItem{{TextID: "mail.mailbox.new", Href: p.base + inboxPath + "?open=" + newMailbox}},
		Routes:  p.pageRoutes,
	}, files)
}

func (p pages) pageRoutes(kit *ui.Kit) []httpd.Route {
	p.kit = kit
	get, post := ui.GetRoute(httpd.APIKey), ui.PostRoute(httpd.APIKey, formLimit)
	adminGet, adminPost := ui.GetRoute(httpd.Admin), ui.PostRoute(httpd.Admin, formLimit)
	return []httpd.Route{
		get("/", func(c *gin.Context) { p.kit.Redirect(c, p.base+inboxPath) }),
		get(inboxPath, p.showInbox), get(inboxPath+"/live", p.inboxLive),
		post("/mailboxes", p.createMailbox), post("/mailboxes/:id/extend", p.extendMailbox), post("/mailboxes/:id/tags", p.setTags),
		post("/mailboxes/:id/delete", p.deleteMailbox),
		post("/messages/:id/unread", p.markUnread), post("/messages/:id/delete", p.deleteMessage),
		get(docsPath, p.showDocs),
		adminGet(deployPath, p.deployCheck), {Method: http.MethodPost, Path: deployPath, Policy: httpd.Admin, BodyLimit: formLimit,
			Audit: httpd.Unaudited, Handler: p.checkDeployment},
		adminGet(domainsPath, p.showDomains), adminPost(domainsPath, p.bindDomain), adminPost(domainsPath+"/enable", p.enableDomain),
		adminPost(domainsPath+"/:id/catch-all", p.setCatchAll), adminPost(domainsPath+"/:id/retry", p.retryDomain),
		adminPost(domainsPath+"/:id/disable", p.disableDomain), adminPost(domainsPath+"/:id/delete", p.deleteDomain),
	}
}

// pageURL is the address of a page.
func (p pages) pageURL(parts ...string) templ.SafeURL {
	return templ.SafeURL(p.base + strings.Join(parts, ""))
}

// newView begins a page.
func (p pages) newView(c *gin.Context, title string) *ui.View {
	v := p.kit.View(c, title)
	v.Styles = append(v.Styles, "mail.css")
	return v
}

// mailboxesFound is how many mailboxes a text finds at most.
const mailboxesFound = 10

// findHits returns the mailboxes that a text finds.
func (p pages) findHits(ctx context.Context, v *ui.View, text string) (out []ui.Hit, err error) {
	list, err := p.service.Mailboxes(ctx, nil, text, mailboxesFound, "")
	for _, m := range list.Items {
		out = append(out, ui.Hit{Kind: v.T("mail.mailbox"), Title: m.Address, Detail: strings.Join(m.Tags, ", "),
			Href: p.inboxURL(place{Mailbox: m.ID})})
	}
	return out, err
}

// homePart returns what the home page shows.
func (p pages) homePart(ctx context.Context, v *ui.View) (part ui.HomePart, err error) {
	list, err := p.service.Mailboxes(ctx, []string{"active"}, "", 1, "")
	if err != nil {
		return part, err
	}
	for _, down := range p.downListeners(v) {
		part.Attention = append(part.Attention, ui.Attention{Tone: "bad", Title: v.T("mail.smtp.down", "Address", down.Address),
			Text: downText(v, down), Href: p.base + inboxPath})
	}
	part.Steps = []ui.Step{{
		ID: "mail-mailbox", Title: v.T("mail.step"), Text: v.T("mail.step.text"), Href: p.base + inboxPath + "?open=" + newMailbox,
		Action: v.T("mail.mailbox.new"), Done: len(list.Items) > 0,
	}}
	if len(list.Items) > 0 {
		part.Figures, err = p.unreadFigure(ctx, v)
	}
	return part, err
}

const (
	// unreadDays is how old unread mail may be that the home page counts, and maxUnread how much of it is counted.
	unreadDays = 7
	maxUnread  = 100
)

// unreadFigure returns the unread mail of the last days, with how many messages have a verification code.
func (p pages) unreadFigure(ctx context.Context, v *ui.View) ([]ui.KeyFigure, error) {
	search := "is:unread after:" + v.Now.UTC().AddDate(0, 0, -unreadDays).Format(time.DateOnly)
	unread, err := p.service.Messages(ctx, api.MessageChoice{}, search, maxUnread, "")
	if err != nil {
		return nil, err
	}
	codes := 0
	for _, m := range unread.Items {
		if m.Verification.Of != nil {
			codes++
		}
	}
	figure := ui.KeyFigure{
		Name: v.T("mail.home.unread", "Days", unreadDays), Value: v.AtLeast(len(unread.Items), unread.Next != ""),
		Remark: v.N("mail.home.codes", codes), Href: p.base + inboxPath,
	}
	return []ui.KeyFigure{figure}, nil
}
