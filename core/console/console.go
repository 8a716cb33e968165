package console

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// Config is what the console needs.
type Config struct {
	Users     *auth.Users
	Access    auth.Access
	Queue     *queue.Queue
	Bus       *event.Bus
	Providers Providers
	// Nodes are the cores of the database; nil leaves their page out.
	Nodes Nodes
	// Configurator changes plugin.hcl; nil leaves its pages out.
	Configurator Configurator
	// Services are the services that are switched on.
	Services []Service
	Sections []ui.Section
	Version  string
	// Warnings returns the ids of texts that every page shows at present; nil for none.
	Warnings func() []string
	// Secrets holds what is shown once, also while a reload makes the console anew; nil means an own one.
	Secrets *ui.Secrets
	// Current reports whether these are the pages in use: live parts of others end. Nil means they always are.
	Current func() bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Console is the pages. Between requests it keeps the counts of the navigation alone, and may be made anew at a reload.
type Console struct {
	*base
	account   *accountPages
	users     *userPages
	jobs      *jobPages
	plugins   *pluginPages
	nodes     *nodePages
	providers *providerPages
	signIn    *signInPages
	docs      *docsPages

	assets *ui.Assets
	texts  *ui.Texts

	navCounts navCounts
}

// New makes the pages of the core and of the sections.
func New(cfg Config) (*Console, error) {
	if cfg.Users == nil || cfg.Queue == nil || cfg.Bus == nil || cfg.Providers == nil {
		return nil, errors.New("the console needs users, a queue, a bus and providers")
	}
	texts, static := []fs.FS{ui.OwnTexts()}, []fs.FS{}
	for _, s := range cfg.Sections {
		if s.Texts != nil {
			texts = append(texts, s.Texts)
		}
		if s.Static != nil {
			static = append(static, s.Static)
		}
	}
	b := &base{cfg: cfg}
	c := &Console{base: b, account: &accountPages{b}, users: &userPages{b}, jobs: &jobPages{b}, plugins: &pluginPages{b}, nodes: &nodePages{b},
		providers: &providerPages{b}, signIn: &signInPages{b}, docs: &docsPages{b}}
	var err error
	if c.texts, err = ui.NewTexts(texts...); err != nil {
		return nil, fmt.Errorf("make the console: %w", err)
	}
	if c.assets, err = ui.NewAssets(static...); err != nil {
		return nil, fmt.Errorf("make the console: %w", err)
	}
	c.kit = ui.NewKit(ui.Config{
		Texts: c.texts, Assets: c.assets, Nav: c.navGroups(), Counts: c.countPending, Now: cfg.Now, Warnings: cfg.Warnings,
		Troubles: c.serviceTroubles, Secrets: cfg.Secrets, Current: cfg.Current, Secure: cfg.Access.Secure,
		Recognise: func(r *http.Request) *auth.Principal {
			p, err := cfg.Users.Recognise(cfg.Access, r)
			if err != nil {
				return nil
			}
			return p
		},
		SignIn: c.signIn.signInPage, Help: findHelp,
	})
	return c, nil
}

// navGroups is the whole navigation: home, the services, the system.
func (c *Console) navGroups() []ui.NavGroup {
	out := []ui.NavGroup{{Items: []ui.NavItem{{TextID: "nav.home", Icon: ui.IconHome, Href: ui.Home, Key: "h"}}}}
	for _, s := range c.cfg.Sections {
		if len(s.Nav) > 0 {
			out = append(out, ui.NavGroup{Service: s.Service, TextID: s.Service + ".name", Items: s.Nav})
		}
	}
	system := []ui.NavItem{
		{TextID: "nav.plugins", Icon: ui.IconPlug, Href: "/system/plugins", Key: "p", Admin: true, Prefix: true},
		{TextID: "nav.jobs", Icon: ui.IconJobs, Href: "/system/jobs", Key: "j", Admin: true, Prefix: true},
	}
	if c.cfg.Nodes != nil {
		system = append(system, ui.NavItem{TextID: "nav.nodes", Icon: ui.IconNodes, Href: nodesPath, Key: "a", Admin: true})
	}
	return append(out, ui.NavGroup{TextID: "nav.system", Items: append(system,
		ui.NavItem{TextID: "nav.users", Icon: ui.IconUsers, Href: "/system/users", Key: "u", Admin: true, Prefix: true},
		ui.NavItem{TextID: "nav.audit", Icon: ui.IconAudit, Href: "/system/audit", Key: "l", Admin: true},
	)})
}

// Routes are the pages of the core, for its mount.
func (c *Console) Routes() []httpd.Route {
	return slices.Concat([]httpd.Route{c.assets.Route()}, c.signIn.listRoutes(), c.assets.InstallRoutes(), c.homeRoutes(), c.plugins.listRoutes(),
		c.providers.listRoutes(), c.jobs.listRoutes(), c.findRoutes(), c.account.listRoutes(), c.users.listRoutes(),
		c.nodes.listRoutes(), c.docs.listRoutes())
}

// SectionRoutes are the pages of a service, for its mount; nil if it has none.
func (c *Console) SectionRoutes(service string) []httpd.Route {
	for _, s := range c.cfg.Sections {
		if s.Service == service && s.Routes != nil {
			routes := s.Routes(c.kit)
			for i := range routes {
				routes[i].Handler = ui.OfService(service, routes[i].Handler)
			}
			return routes
		}
	}
	return nil
}

// serviceTroubles returns the instances that a service uses and that do not work at present.
func (c *Console) serviceTroubles(service string) (out []ui.Trouble) {
	for _, s := range c.cfg.Services {
		if s.Name != service {
			continue
		}
		for _, in := range c.cfg.Providers.Instances() {
			uses := slices.ContainsFunc(s.Uses, func(u Use) bool { return u.Ref == in.Ref })
			if uses && !in.Working() && ui.Tone(in.State) != "info" {
				out = append(out, ui.Trouble{Ref: in.Ref, State: in.State, Message: in.Message, Since: in.Since, Href: instancePath + in.Ref})
			}
		}
	}
	return out
}

// Errors answers browsers with pages and leaves the rest to next; nil means httpd.WriteError.
func (c *Console) Errors(next httpd.ErrorWriter) httpd.ErrorWriter {
	if next == nil {
		next = httpd.WriteError
	}
	return func(gc *gin.Context, err error) {
		if !ui.WantsPage(gc.Request) || gc.Writer.Written() {
			next(gc, err)
			return
		}
		c.kit.Fail(gc, err)
	}
}
