// Package pages holds the pages of the search service: its figures, access tokens, upstream keys, requests, a playground
// and the guide for those who use it. Members see what is theirs.
package pages

import (
	"context"
	"embed"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

//go:embed locales static
var files embed.FS

// pages are the handlers. They keep nothing between requests.
type pages struct {
	service Service
	kit     *ui.Kit
	// base is the path of the service, url its whole address as clients on this machine know it.
	base, url string
	snippets  []snippet
}

// Section are the pages of a search service that is mounted at base, a path; url is its whole address.
func Section(s Service, base, url string) (ui.Section, error) {
	base = strings.TrimSuffix(base, "/")
	p := pages{service: s, base: base, url: strings.TrimSuffix(url, "/")}
	var err error
	if p.snippets, err = readSnippets(); err != nil {
		return ui.Section{}, err
	}
	return ui.NewSection(ui.Section{
		Service: "search", Housekeeping: search.Housekeeping(), Home: p.homePart,
		Nav: []ui.NavItem{
			{TextID: "search.nav.overview", Icon: ui.IconChart, Href: base + "/overview", Key: "o", Admin: true},
			{TextID: "search.nav.tokens", Icon: ui.IconToken, Href: base + "/tokens", Key: "t", Prefix: true},
			{TextID: "search.nav.keys", Icon: ui.IconKey, Href: base + "/keys", Key: "k", Admin: true, Prefix: true},
			{TextID: "search.nav.requests", Icon: ui.IconList, Href: base + "/requests", Key: "r", Prefix: true},
			{TextID: "search.nav.playground", Icon: ui.IconPlay, Href: base + "/playground", Key: "y"},
			{TextID: "search.nav.guide", Icon: ui.IconBook, Href: base + "/guide", Key: "i"},
		},
		Actions: []ui.NavItem{
			{TextID: "search.tokens.create", Href: base + "/tokens?open=" + newToken, Admin: true},
			{TextID: "search.keys.add", Href: base + "/keys?open=" + newKeys, Admin: true},
		},
		Find: p.findHits, FindIndexed: p.findIndexed, Counts: p.countPending,
		Routes: p.pageRoutes,
	}, files)
}

// mostIndexed is how many documents findIndexed asks for.
const mostIndexed = 20

// findIndexed finds documents in the indexes of the backends.
func (p pages) findIndexed(ctx context.Context, text string) (out []ui.IndexedDocument) {
	for _, d := range p.service.FindIndexed(ctx, text, mostIndexed) {
		out = append(out, ui.IndexedDocument(d))
	}
	return out
}

// formLimit is the largest body of a form: a thousand long keys fit in.
const formLimit = 1 << 20

func (p pages) pageRoutes(kit *ui.Kit) []httpd.Route {
	p.kit = kit
	get := func(path string, policy httpd.Policy, h gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodGet, Path: path, Policy: policy, Handler: h}
	}
	post := func(path string, policy httpd.Policy, h gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: path, Policy: policy, BodyLimit: formLimit, Handler: h}
	}
	tokens, requests := tokenPages{p}, requestPages{p}
	return []httpd.Route{
		get("/", httpd.APIKey, p.showStart),
		get("/overview", httpd.Admin, p.showOverview),
		get("/index", httpd.Admin, p.showIndex),
		get("/index/live", httpd.Admin, p.indexLive),
		post("/index/:ref/reindex", httpd.Admin, p.startReindex),
		get("/tokens", httpd.APIKey, tokens.showTokens),
		post("/tokens", httpd.Admin, tokens.createToken),
		get("/tokens/bulk", httpd.Admin, p.askBulk(p.bulkTokens)),
		post("/tokens/bulk", httpd.Admin, p.runBulk(p.bulkTokens)),
		get("/tokens/:id", httpd.APIKey, tokens.showTokenPage),
		get("/tokens/:id/live", httpd.APIKey, tokens.tokenLive),
		post("/tokens/:id/settings", httpd.Admin, tokens.changeToken),
		post("/tokens/:id/enable", httpd.Admin, tokens.tokenAction(func(ctx context.Context,
			id string) error {
			return p.service.SetTokenEnabled(ctx, id, true)
		}, "search.token.enabled")),
		post("/tokens/:id/disable", httpd.Admin,
			tokens.tokenAction(func(ctx context.Context, id string) error { return p.service.SetTokenEnabled(ctx, id, false) },
				"search.token.disabled")),
		post("/tokens/:id/delete", httpd.Admin, tokens.deleteToken),
		{Method: http.MethodPost, Path: "/tokens/:id/reveal", Policy: httpd.APIKey, Confirm: true, BodyLimit: formLimit,
			Handler: tokens.revealToken},
		post("/tokens/:id/rotate", httpd.APIKey, tokens.rotateToken),
		get("/keys", httpd.Admin, p.showKeys),
		post("/keys", httpd.Admin, p.addKeys),
		get("/keys/bulk", httpd.Admin, p.askBulk(p.bulkKeys)),
		post("/keys/bulk", httpd.Admin, p.runBulk(p.bulkKeys)),
		get("/keys/:id", httpd.Admin, p.showKey),
		{Method: http.MethodPost, Path: "/keys/:id/:action", Policy: httpd.Admin, Audit: "search.keys.change", BodyLimit: formLimit,
			Handler: p.changeKey},
		get("/requests", httpd.APIKey, requests.showRequests),
		get("/requests/live", httpd.APIKey, requests.requestsLive),
		get("/requests/:id", httpd.APIKey, requests.showRequest),
		get("/playground", httpd.APIKey, p.showPlayground),
		withoutAudit(post("/playground", httpd.APIKey, p.playCall)),
		get("/guide", httpd.APIKey, p.showGuide),
		withoutAudit(post("/guide/test", httpd.APIKey, p.testConnection)),
	}
}

// withoutAudit marks a route that sends a request, which the log of requests has.
func withoutAudit(r httpd.Route) httpd.Route { r.Audit = httpd.Unaudited; return r }

func (p pages) showStart(c *gin.Context) {
	if auth.From(c.Request.Context()).Admin() {
		p.kit.Redirect(c, p.base+"/overview")
		return
	}
	p.kit.Redirect(c, p.base+"/tokens")
}

func (p pages) pageURL(parts ...string) templ.SafeURL {
	return templ.SafeURL(p.base + strings.Join(parts, ""))
}

// ownToken reports whether the caller may see a token, and returns it. A foreign one does not exist for members.
func (p pages) ownToken(ctx context.Context, id string) (access.AuthToken, error) {
	who := auth.From(ctx)
	t, err := p.service.Token(ctx, id)
	if err != nil || who.Admin() {
		return t, err
	}
	if t.Owner.Of == nil || t.Owner.Of.UserID != who.User.ID {
		return access.AuthToken{}, fault.New(fault.NotFound, "There is no such access token.")
	}
	return t, nil
}

// visibleTokens are the tokens of the caller: all usable ones for an administrator, as far as they fit into a list to choose from.
func (p pages) visibleTokens(ctx context.Context) ([]access.AuthToken, error) {
	who := auth.From(ctx)
	if !who.Admin() {
		list, err := p.service.TokensOf(ctx, who.User.ID)
		return list.Items, err
	}
	list, err := p.service.FindTokens(ctx, access.TokenFilter{Enabled: "active"}, 1, 100)
	return list.Items, err
}

// newView begins a page.
func (p pages) newView(c *gin.Context, title string) *ui.View {
	v := p.kit.View(c, title)
	v.Styles = append(v.Styles, "search.css")
	return v
}
