package console

import (
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// lookEvery is how often a live part looks whether it has changed.
const lookEvery = 2 * time.Second

// homeJobs is how many jobs the home page shows.
const homeJobs = 5

func (c *Console) homeRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: ui.Home, Policy: httpd.APIKey, Handler: c.home},
		{Method: http.MethodGet, Path: "/system/live", Policy: httpd.APIKey, Handler: c.homeLive},
	}
}

// homeView is what the home page shows.
type homeView struct {
	Panel panel
	Cards []templ.Component
	// Jobs are the newest; administrators see them.
	Jobs []queue.Job
}

func (c *Console) home(gc *gin.Context) {
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

func (c *Console) homeView(gc *gin.Context, v *ui.View) (homeView, error) {
	ctx := gc.Request.Context()
	h := homeView{Panel: newPanel(c.cfg.Services, c.cfg.Providers.Instances(), c.start, v.Admin())}
	for _, s := range c.cfg.Sections {
		if s.Card == nil || !v.Principal.In(s.Service) {
			continue
		}
		card, err := s.Card(ctx, v)
		if err != nil {
			return h, err
		}
		if card != nil {
			h.Cards = append(h.Cards, card)
		}
	}
	if v.Admin() {
		var err error
		if h.Jobs, _, err = c.cfg.Queue.List(ctx, queue.Filter{}, "", homeJobs); err != nil {
			return h, err
		}
	}
	return h, nil
}

// start is the first page of a service that a caller may see, "" if there is none.
func (c *Console) start(service string, admin bool) string {
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
