package console

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
)

const (
	// maxFindText is the largest length of a text to find things by, in bytes.
	maxFindText = 100
	// hitsShown and hitsOffered are how many hits the page and the dialog show.
	hitsShown   = 50
	hitsOffered = 12
	// countsFor is how long the counts of the navigation are used again.
	countsFor = 5 * time.Second
	// maxCounted is how many jobs are counted at most.
	maxCounted = 100
)

func (c *Console) findRoutes() []httpd.Route {
	return []httpd.Route{{Method: http.MethodGet, Path: ui.FindPath, Policy: httpd.APIKey, Scoped: true, Handler: c.showHits}}
}

// showHits answers with the page of hits, or with the options of the dialog.
func (c *Console) showHits(gc *gin.Context) {
	v := c.kit.View(gc, "find.title")
	text := strings.TrimSpace(gc.Query("q"))
	if len(text) > maxFindText {
		text = strings.ToValidUTF8(text[:maxFindText], "")
	}
	hits, err := c.findHits(gc.Request.Context(), v, text)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	if gc.Query("part") == "options" {
		c.kit.Render(gc, v, http.StatusOK, ui.FindOptions(v, hits[:min(len(hits), hitsOffered)]))
		return
	}
	c.kit.Render(gc, v, http.StatusOK, ui.FindPage(v, text, hits[:min(len(hits), hitsShown)]))
}

// findHits returns what a text finds, the best first.
func (c *Console) findHits(ctx context.Context, v *ui.View, text string) ([]ui.Hit, error) {
	out := pageHits(v, text)
	finders := []ui.Finder{c.findUsers, c.findInstances}
	for _, s := range c.cfg.Sections {
		if !v.Principal.In(s.Service) {
			continue
		}
		for _, a := range s.Actions {
			out = append(out, actionHits(v, a, text)...)
		}
		if s.Find != nil {
			finders = append(finders, s.Find)
		}
	}
	if v.Principal.Administers() {
		out = append(out, actionHits(v, ui.NavItem{TextID: "users.create", Href: usersPath + "?open=" + newUser, Admin: true}, text)...)
	}
	if text != "" {
		for _, find := range finders {
			more, err := find(ctx, v, text)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	ui.RankHits(out, text)
	return out, nil
}

// pageHits are the pages of the navigation.
func pageHits(v *ui.View, text string) (out []ui.Hit) {
	for _, g := range v.Nav {
		group := ""
		if g.TextID != "" {
			group = v.T(g.TextID)
		}
		for _, item := range g.Items {
			if title := v.T(item.TextID); ui.Matches(text, title, group) {
				out = append(out, ui.Hit{Kind: v.T("find.page"), Title: title, Detail: group, Href: item.Href})
			}
		}
	}
	if title := v.T("nav.account"); len(v.Principal.Scopes) == 0 && ui.Matches(text, title) {
		out = append(out, ui.Hit{Kind: v.T("find.page"), Title: title, Href: accountPath})
	}
	return out
}

// actionHits returns an action, if the caller may use it and the text fits.
func actionHits(v *ui.View, a ui.NavItem, text string) []ui.Hit {
	title := v.T(a.TextID)
	if a.Admin && !v.Admin() || !ui.Matches(text, title) {
		return nil
	}
	return []ui.Hit{{Kind: v.T("find.action"), Title: title, Href: a.Href}}
}

func (c *Console) findUsers(ctx context.Context, v *ui.View, text string) (out []ui.Hit, err error) {
	if !v.Principal.Administers() {
		return nil, nil
	}
	users, err := c.cfg.Users.List(ctx)
	for _, u := range users {
		if ui.Matches(text, u.Name, u.Email) {
			out = append(out, ui.Hit{Kind: v.T("find.user"), Title: u.Name, Detail: u.Email, Href: usersPath + "#user-" + u.ID})
		}
	}
	return out, err
}

func (c *Console) findInstances(_ context.Context, v *ui.View, text string) (out []ui.Hit, err error) {
	if !v.Principal.Administers() {
		return nil, nil
	}
	for _, in := range c.cfg.Providers.Instances() {
		if ui.Matches(text, in.Ref, in.Plugin) {
			out = append(out, ui.Hit{Kind: v.T("find.instance"), Title: in.Ref, Detail: in.Plugin, Href: instancePath + in.Ref})
		}
	}
	return out, nil
}

// navCounts are the counts of the navigation, made anew every so often.
type navCounts struct {
	mu     sync.Mutex
	until  time.Time
	counts map[string]int
}

// countPending returns what waits for an administrator on the pages of the navigation, by their addresses; nothing for others. A service
// that cannot say has no counts.
func (c *Console) countPending(ctx context.Context, v *ui.View) map[string]int {
	if !v.Admin() {
		return nil
	}
	c.navCounts.mu.Lock()
	defer c.navCounts.mu.Unlock()
	if v.Now.Before(c.navCounts.until) {
		return c.navCounts.counts
	}
	out := map[string]int{}
	for _, s := range c.cfg.Sections {
		if s.Counts == nil {
			continue
		}
		more, err := s.Counts(ctx)
		if err != nil {
			continue
		}
		for href, n := range more {
			out[href] = n
		}
	}
	for _, in := range c.cfg.Providers.Instances() {
		if !in.Working() {
			out[pluginsPath]++
		}
	}
	if jobs, _, err := c.cfg.Queue.List(ctx, queue.Filter{States: []queue.State{queue.Running}}, "", maxCounted); err == nil {
		out[jobsPath] = len(jobs)
	}
	c.navCounts.counts, c.navCounts.until = out, v.Now.Add(countsFor)
	return out
}
