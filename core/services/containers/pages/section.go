// Package pages holds the pages of the containers service: stacks and their services, the queue of jobs, discovery,
// package webhooks, notifications, the deploy check and the settings.
package pages

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
)

//go:embed locales static
var files embed.FS

const (
	// lookEvery is how often a live part is made anew when nothing wakes it.
	lookEvery = 5 * time.Second
	// formLimit is the largest body of a form, in bytes: two thousand targets fit in.
	formLimit = 1 << 20
)

// pages are the handlers. They keep nothing between requests.
type pages struct {
	service Service
	inbox   Inbox
	notices Notices
	usage   Usage
	hooks   Hooks
	bus     *event.Bus
	kit     *ui.Kit
	// base is the path of the service, without a slash at its end.
	base string
}

// Section returns the pages.
func Section(cfg Config) (ui.Section, error) {
	texts, err := fs.Sub(files, "locales")
	if err != nil {
		return ui.Section{}, err
	}
	static, err := fs.Sub(files, "static")
	if err != nil {
		return ui.Section{}, err
	}
	p := pages{service: cfg.Service, inbox: cfg.Inbox, notices: cfg.Notices, usage: cfg.Usage, hooks: cfg.Hooks, bus: cfg.Bus,
		base: strings.TrimSuffix(cfg.Base, "/")}
	return ui.Section{
		Service: "containers", Texts: texts, Static: static, Home: p.homePart,
		Nav: []ui.NavItem{
			{TextID: "containers.nav.stacks", Icon: ui.IconBoxes, Href: p.base + "/stacks", Key: "s", Admin: true, Prefix: true},
			{TextID: "containers.nav.discovery", Icon: ui.IconFind, Href: p.base + "/discovery", Key: "d", Admin: true},
			{TextID: "containers.nav.webhooks", Icon: ui.IconHook, Href: p.base + "/host-packages", Key: "w", Admin: true, Prefix: true},
			{TextID: "containers.nav.notifications", Icon: ui.IconBell, Href: p.base + notifyPath, Key: "n", Admin: true, Prefix: true},
			{TextID: "containers.nav.deploy", Icon: ui.IconCheck, Href: p.base + "/deploy-check", Key: "c", Admin: true},
			{TextID: "containers.nav.settings", Icon: ui.IconSettings, Href: p.base + "/settings", Key: "e", Admin: true},
		},
		Find: p.findHits, Counts: p.countPending, Housekeeping: service.Housekeeping(), JobTargets: p.jobTargets,
		Routes: func(kit *ui.Kit) []httpd.Route {
			p := p
			p.kit = kit
			return p.pageRoutes()
		},
	}, nil
}

func getRoute(path string, h gin.HandlerFunc) httpd.Route {
	return httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.Forward, Handler: h}
}

func postRoute(path string, h gin.HandlerFunc) httpd.Route {
	return httpd.Route{Method: http.MethodPost, Path: path, Policy: httpd.Forward, BodyLimit: formLimit, Handler: h}
}

func (p pages) pageRoutes() []httpd.Route {
	var out []httpd.Route
	if p.base != "" {
		// At the root the core leads to the home page.
		out = append(out, getRoute("/", func(c *gin.Context) { p.kit.Redirect(c, p.base+"/stacks") }))
	}
	for _, part := range [][]httpd.Route{p.stackRoutes(), p.serviceRoutes(), p.outputRoutes(), p.queueRoutes(), p.discoveryRoutes(),
		p.deployRoutes(), p.settingsRoutes(), p.hookRoutes(), p.notifyRoutes()} {
		out = append(out, part...)
	}
	return out
}

// pageURL is the address of a page.
func (p pages) pageURL(parts ...string) templ.SafeURL {
	return templ.SafeURL(p.base + strings.Join(parts, ""))
}

func (p pages) serviceURL(stackID, serviceID string) string {
	return p.base + "/services/" + stackID + "/" + serviceID
}

// newView begins a page.
func (p pages) newView(c *gin.Context, title string) *ui.View {
	v := p.kit.View(c, title)
	v.Styles = append(v.Styles, "containers.css")
	return v
}

// serveLive keeps a part of a page current: it is made anew at each event of the queue, and every so often.
func (p pages) serveLive(c *gin.Context, part ui.Part) {
	sub := p.bus.Subscribe("job/")
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(c.Request.Context(), sub.Events(), nil), part)
}

// answerJob answers an action that makes a job: the browser goes on to the job, also where another one is in the way.
func (p pages) answerJob(c *gin.Context, id string, err error) {
	var f *fault.Error
	if errors.As(err, &f) {
		if other, ok := f.Ext["existingJobId"].(string); ok && other != "" {
			p.kit.Done(c, p.base+"/queue/"+other, ui.Toast{Kind: "info", TextID: "containers.busy"})
			return
		}
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Redirect(c, p.base+"/queue/"+id)
}

// finishAction answers an action that is over at once.
func (p pages) finishAction(c *gin.Context, to, toast string, err error, args ...string) {
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.base+to, ui.Toast{Kind: "ok", TextID: toast, Args: args})
}

// returnPath is the page of ours that a form asks to go on to, without the base.
func returnPath(c *gin.Context, other string) string {
	to := c.PostForm("back")
	if !strings.HasPrefix(to, "/") || ui.LocalPath(to) != to {
		return other
	}
	return to
}

// openJobs are the jobs that wait or run, the newest first.
func (p pages) openJobs(ctx context.Context) ([]service.Job, error) {
	jobs, _, err := p.service.ListJobs(ctx, service.JobFilter{Status: []string{"running", "queued"}, Limit: 50})
	return jobs, err
}
