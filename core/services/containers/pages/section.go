// Package pages holds the pages of the containers service: stacks and their services, the queue of jobs, discovery,
// package webhooks, notifications, the deploy check and the settings.
package pages

import (
	"embed"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
)

//go:embed locales static
var files embed.FS

// Section returns the pages.
func Section(cfg Config) (ui.Section, error) {
	p := pages{service: cfg.Service, inbox: cfg.Inbox, notices: cfg.Notices, usage: cfg.Usage, hooks: cfg.Hooks, bus: cfg.Bus,
		base: strings.TrimSuffix(cfg.Base, "/")}
	return ui.NewSection(ui.Section{
		Service: "containers", Home: homePages{p}.homePart,
		Nav: []ui.NavItem{
			{TextID: "containers.nav.stacks", Icon: ui.IconBoxes, Href: p.base + "/stacks", Key: "s", Admin: true, Prefix: true},
			{TextID: "containers.nav.discovery", Icon: ui.IconFind, Href: p.base + "/discovery", Key: "d", Admin: true},
			{TextID: "containers.nav.webhooks", Icon: ui.IconHook, Href: p.base + "/host-packages", Key: "w", Admin: true, Prefix: true},
			{TextID: "containers.nav.notifications", Icon: ui.IconBell, Href: p.base + notifyPath, Key: "n", Admin: true, Prefix: true},
			{TextID: "containers.nav.deploy", Icon: ui.IconCheck, Href: p.base + "/deploy-check", Key: "c", Admin: true},
			{TextID: "containers.nav.settings", Icon: ui.IconSettings, Href: p.base + "/settings", Key: "e", Admin: true},
		},
		Find: homePages{p}.findHits, Counts: homePages{p}.countPending, Housekeeping: service.Housekeeping(),
		JobTargets: queuePages{p}.jobTargets,
		Routes:     p.pageRoutes,
	}, files)
}

// pageRoutes returns the routes of all pages.
func (p pages) pageRoutes(kit *ui.Kit) []httpd.Route {
	p.kit = kit
	var out []httpd.Route
	if p.base != "" {
		// At the root the core leads to the home page.
		out = append(out, getRoute("/", func(c *gin.Context) { p.kit.Redirect(c, p.base+"/stacks") }))
	}
	return slices.Concat(out, stackPages{p}.stackRoutes(), updatePages{p}.updateRoutes(), servicePages{p}.serviceRoutes(),
		outputPages{p}.outputRoutes(),
		[]httpd.Route{getRoute("/queue", queuePages{p}.redirectQueue)},
		rollbackPages{p}.rollbackRoutes(), jobPages{p}.jobRoutes(), discoveryPages{p}.discoveryRoutes(), deployPages{p}.deployRoutes(),
		settingsPages{p}.settingsRoutes(),
		hookPages{p}.hookRoutes(), notifyPages{p}.notifyRoutes())
}
