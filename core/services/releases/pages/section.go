// Package pages holds the pages of the release feed: the feed with its tabs and focus pages, releases, briefs, notifications and
// settings. Each person sees what is theirs.
package pages

import (
	"context"
	"embed"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/markdown"
	"github.com/patchbay-dev/patchbay/core/services/releases/repolist"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
	"github.com/patchbay-dev/patchbay/core/services/releases/task"
)

//go:embed locales static
var files embed.FS

const (
	// formLimit is the largest body of a form, in bytes.
	formLimit = 64 << 10
	// lookEvery is how often the feed is made anew while it is looked at.
	lookEvery = 30 * time.Second
)

// pages are the handlers. They keep nothing between requests.
type pages struct {
	service  Service
	kit      *ui.Kit
	markdown *markdown.Renderer
	// base is the path of the service.
	base string
}

// The pages of a subject share what all pages have.
type (
	// settingsPages show and change what the caller has chosen, and the repositories that the caller follows.
	settingsPages struct{ pages }
	// signInPages begin and end sign-ins at the code host.
	signInPages struct{ pages }
	// adminPages are for administrators.
	adminPages struct{ pages }
	// readingPages show releases, briefs and notifications.
	readingPages struct{ pages }
)

// Section are the pages of a service that is mounted at base, a path.
func Section(s Service, base string) (ui.Section, error) {
	base = strings.TrimSuffix(base, "/")
	p := pages{service: s, base: base, markdown: markdown.NewRenderer(base)}
	return ui.NewSection(ui.Section{
		Service: service.ServiceName, Housekeeping: task.Housekeeping(), Home: p.homePart, SignIn: p.signInWay,
		Nav: []ui.NavItem{
			{TextID: "releases.nav.feed", Icon: ui.IconList, Href: p.base + feedPath, Key: "f"},
			{TextID: "releases.nav.repos", Icon: ui.IconBoxes, Href: p.base + reposPath, Key: "y"},
			{TextID: "releases.nav.settings", Icon: ui.IconSettings, Href: p.base + settingsPath, Key: "z"},
			{TextID: "releases.nav.hosts", Icon: ui.IconChart, Href: p.base + hostsPath, Admin: true},
		},
		Routes: p.pageRoutes,
	}, files)
}

// renderNotes returns a text about a release as its code host shows it.
func (p pages) renderNotes(address, fullName, text string) string {
	return p.markdown.RenderNotes(text, markdown.NewPage(address, fullName))
}

func (p pages) pageRoutes(kit *ui.Kit) []httpd.Route {
	p.kit = kit
	get, post, publicGet := ui.GetRoute(httpd.APIKey), ui.PostRoute(httpd.APIKey, formLimit), ui.GetRoute(httpd.Public)
	adminGet, adminPost, sessionPost := ui.GetRoute(httpd.Admin), ui.PostRoute(httpd.Admin, formLimit), ui.PostRoute(httpd.Session, formLimit)
	signIn, admins, reading, settings := &signInPages{p}, &adminPages{p}, &readingPages{p}, &settingsPages{p}
	importing := post(reposPath+"/import", settings.importRepos)
	// A form needs up to three bytes for one of its text.
	importing.BodyLimit = 4 * repolist.MaxSize
	routes := []httpd.Route{
		publicGet(signin.SignInPath, signIn.beginSignIn), publicGet(signin.SignInCallbackPath, signIn.finishSignIn),
		adminGet(publicReposPath, admins.publicRepos), adminPost(publicReposPath, admins.publishRepo),
		adminPost(publicReposPath+"/:owner/:repo/delete", admins.unpublishRepo),
		importing, adminGet(hostsPath, admins.showHosts), adminGet(modelsPath, admins.showModels),
		get("/", p.redirectToFeed), get("/live", p.feedLive), publicGet("/:owner/:repo/releases/tag/*tag", reading.releaseOrPublic),
		publicGet("/:owner/:repo/releases", reading.publicReleases),
		get(briefsPath, reading.showBriefs), get(briefsPath+"/:id", reading.showBrief), post(briefsPath, reading.writeBrief),
		get(inboxPath, reading.showInbox), post("/sync", reading.startSync), post("/read/:id", reading.setRead),
		get(reposPath, settings.showRepos), post(reposPath, settings.followRepo), post(reposPath+"/:owner/:repo/unfollow", settings.unfollowRepo),
		post(reposPath+"/:owner/:repo/filter", settings.setFilter),
		get(reactionsPath+"/:id/live", reading.reactionsLive), post(reactionsPath+"/:id", reading.toggleReaction),
		get(translationsPath+"/:id/:lane/live", reading.translationLive), post(translationsPath+"/:id/:lane", reading.startTranslation),
		get(settingsPath, settings.showSettings), post(settingsPath, settings.savePreferences),
		sessionPost(settingsPath+"/token", settings.saveToken), sessionPost(accountsPath+"/:id", settings.setAccountReads),
		sessionPost(accountsPath+"/:id/delete", settings.deleteAccount),
		sessionPost(feedsPath, settings.addFeed), sessionPost(feedsPath+"/:id/delete", settings.deleteFeed),
	}
	for _, path := range feedPaths() {
		routes = append(routes, get(path, p.showFeed))
	}
	return routes
}

// pageURL is the address of a page.
func (p pages) pageURL(parts ...string) templ.SafeURL {
	return templ.SafeURL(p.base + strings.Join(parts, ""))
}

// newView begins a page. section is the path of the page in the navigation.
func (p pages) newView(c *gin.Context, title, section string) *ui.View {
	v := p.kit.View(c, title)
	v.Path = p.base + section
	v.Styles, v.Scripts = append(v.Styles, "releases.css"), append(v.Scripts, "releases.js")
	return v
}

// homePart returns what the home page shows.
func (p pages) homePart(ctx context.Context, v *ui.View) (part ui.HomePart, err error) {
	status, err := p.service.StatusOf(ctx)
	if err != nil {
		return part, err
	}
	part.Steps = []ui.Step{{
		ID: "releases-repos", Title: v.T("releases.step"), Text: v.T("releases.step.text"), Href: p.base + reposPath,
		Action: v.T("releases.nav.repos"), Done: status.SeesRepos,
	}}
	if status.SeesRepos {
		part.Figures, err = p.unreadFigure(ctx, v, status.Unread)
	}
	return part, err
}

const (
	// unreadDays is how old unread releases may be that the home page counts, and maxUnread how many releases are looked at.
	unreadDays = 7
	maxUnread  = 50
)

// unreadFigure returns the unread releases of the last days, beside the unread notifications of the code hosts.
func (p pages) unreadFigure(ctx context.Context, v *ui.View, notifications int64) ([]ui.KeyFigure, error) {
	page, err := p.service.ListFeedAndReads(ctx, feed.Choice{Types: "releases", Limit: maxUnread})
	if err != nil {
		return nil, err
	}
	since, unread, recent := v.Now.AddDate(0, 0, -unreadDays).UnixMilli(), 0, 0
	for i := range page.Items {
		if page.Items[i].TS < since {
			continue
		}
		if recent++; !page.Items[i].Read {
			unread++
		}
	}
	figure := ui.KeyFigure{
		Name: v.T("releases.home.unread", "Days", unreadDays), Value: v.AtLeast(unread, recent == maxUnread && unread > 0),
		Remark: v.N("releases.home.notifications", int(notifications)), Href: p.base + feedPath,
	}
	return []ui.KeyFigure{figure}, nil
}

// finishAction answers an action and goes on to a page.
func (p pages) finishAction(c *gin.Context, to, toast string, err error) {
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, to, ui.Toast{Kind: "ok", TextID: toast})
}

// readWithStatus returns what read returns, and what the caller has.
func readWithStatus[T any](ctx context.Context, s Service, read func(context.Context) (T, error)) (out T, status service.Status, err error) {
	if out, err = read(ctx); err == nil {
		status, err = s.StatusOf(ctx)
	}
	return out, status, err
}
