package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// lookEvery is how often a live part looks whether it has changed.
const lookEvery = 2 * time.Second

// openJobs is how many running and waiting jobs the home page shows.
const openJobs = 5

// stepsCookie keeps the steps of the checklist that a browser does not want to see, joined with dots.
const stepsCookie = "patchbay_steps"

func (c *Console) homeRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: ui.Home, Policy: httpd.APIKey, Scoped: true, Handler: c.showHome},
		{Method: http.MethodGet, Path: "/system/live", Policy: httpd.APIKey, Scoped: true, Handler: c.homeLive},
		{Method: http.MethodPost, Path: "/system/steps/skip", Policy: httpd.APIKey, Scoped: true, BodyLimit: formLimit, Audit: httpd.Unaudited,
			Handler: c.skipStep},
	}
}

// homeView is what the home page shows.
type homeView struct {
	Panel panel
	ui.HomePart
	Cards []templ.Component
	// Jobs are those that run and wait, the newest first; administrators see them. More tells that there are others.
	Jobs []queue.Job
	More bool
	// Done counts the steps that are done or skipped; the checklist is shown while others are left.
	Done int
}

// countReady counts the instances that serve.
func (h homeView) countReady() int { return len(h.Panel.Rows) - h.Panel.Down }

func (c *Console) showHome(gc *gin.Context) {
	v := c.kit.View(gc, "nav.home")
	h, err := c.homeView(gc, v)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	c.kit.Render(gc, v, http.StatusOK, homePage(v, h))
}

func (c *Console) homeLive(gc *gin.Context) {
	c.kit.Stream(gc, lookEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		h, err := c.homeView(gc, v)
		return homeLive(v, h), false, err
	})
}

// homeView gathers what the services and the core itself have to show to the caller.
func (c *Console) homeView(gc *gin.Context, v *ui.View) (homeView, error) {
	ctx := gc.Request.Context()
	h := homeView{}
	if len(v.Principal.Scopes) == 0 {
		h.Panel = newPanel(c.cfg.Services, c.cfg.Providers.Instances(), c.startPage, v.Admin())
	}
	if v.Principal.Administers() {
		h.Attention = c.ownAttention(v, h.Panel)
		h.Steps = append(h.Steps, ui.Step{
			ID: "administrator", Title: v.T("home.step.administrator"), Text: v.T("home.step.administrator.text"), Href: accountPath,
			Action: v.T("home.step.begin"),
			Done:   v.Principal.HasAccount(),
		})
		jobs, _, err := c.cfg.Queue.List(ctx, queue.Filter{States: []queue.State{queue.Running, queue.Queued}}, "", openJobs+1)
		if err != nil {
			return h, err
		}
		h.More, h.Jobs = len(jobs) > openJobs, jobs[:min(len(jobs), openJobs)]
	}
	for _, s := range c.cfg.Sections {
		if s.Home == nil || !v.Principal.In(s.Service) {
			continue
		}
		part, err := s.Home(ctx, v)
		if err != nil {
			return h, err
		}
		h.Attention, h.Figures, h.Steps = append(h.Attention, part.Attention...), append(h.Figures, part.Figures...),
			append(h.Steps, part.Steps...)
		if part.Card != nil {
			h.Cards = append(h.Cards, part.Card)
		}
	}
	skipped := skippedSteps(gc)
	for i := range h.Steps {
		h.Steps[i].Done = h.Steps[i].Done || slices.Contains(skipped, h.Steps[i].ID)
		if h.Steps[i].Done {
			h.Done++
		}
	}
	return h, nil
}

// ownAttention returns what the core itself has to say: a configuration that was rejected, and instances that do not serve.
func (c *Console) ownAttention(v *ui.View, p panel) (out []ui.Attention) {
	if reason, at := c.cfg.Providers.Rejected(); reason != "" {
		out = append(out, ui.Attention{
			Tone: "bad", Title: v.T("home.rejected", "When", v.Ago(at)), Text: reason, Href: pluginsPath, Action: v.T("home.see"),
		})
	}
	for _, r := range p.Rows {
		tone := ui.Tone(r.State)
		if r.Working() || tone == "info" {
			// What is starting needs nobody.
			continue
		}
		text := r.Message
		if r.Restarts > 0 {
			text = strings.TrimSpace(text + " " + v.N("home.restarts", r.Restarts))
		}
		out = append(out, ui.Attention{
			Tone: tone, Title: v.T("home.instance", "Ref", r.Ref, "State", v.State(r.State)), Text: text, Href: r.Href, Action: v.T("home.see"),
		})
	}
	return out
}

// skippedSteps returns the steps that the browser does not want to see.
func skippedSteps(gc *gin.Context) []string {
	ck, err := gc.Request.Cookie(stepsCookie)
	if err != nil {
		return nil
	}
	return strings.Split(ck.Value, ".")
}

// skipStep takes a step off the checklist of this browser.
func (c *Console) skipStep(gc *gin.Context) {
	id := gc.PostForm("step")
	if len(id) > 0 && len(id) <= maxStepID && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }) {
		steps := append(slices.DeleteFunc(skippedSteps(gc), func(s string) bool { return s == id || s == "" }), id)
		c.kit.Remember(gc, stepsCookie, strings.Join(steps[max(0, len(steps)-maxSteps):], "."))
	}
	c.kit.Redirect(gc, ui.Home)
}

// maxStepID bounds the id of a step in bytes, maxSteps the number of those that a cookie keeps.
const (
	maxStepID = 40
	maxSteps  = 30
)

// startPage is the first page of a service that a caller may see, "" if there is none.
func (c *Console) startPage(service string, admin bool) string {
	for _, s := range c.cfg.Sections {
		if s.Service != service {
			continue
		}
		for _, item := range s.Nav {
			if admin || !item.Admin {
				return item.Href
			}
		}
	}
	return ""
}
