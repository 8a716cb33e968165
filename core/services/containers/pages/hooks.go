package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

const (
	hooksPath = "/host-packages"
	// deliveriesShown is how many of the newest deliveries the page shows.
	deliveriesShown = 30
)

// hookPages are the pages of package webhooks.
type hookPages struct{ pages }

func (p hookPages) hookRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute(hooksPath, func(c *gin.Context) { p.renderHooks(c, pageForm{}) }), getRoute(hooksPath+"/live", p.hooksLive), getRoute(hooksPath+"/inbox", p.inboxLive),
		postRoute(hooksPath+"/settings", p.saveHooks),
		postRoute(hooksPath+"/targets", p.addTarget),
		postRoute(hooksPath+"/targets/remove", func(c *gin.Context) {
			input := c.PostForm("input")
			p.finishAction(c, hooksPath, "containers.hooks.target.removed", p.hooks.RemoveTarget(c.Request.Context(), input), "Input", input)
		}),
		postRoute(hooksPath+"/repos/select", func(c *gin.Context) {
			_, err := p.hooks.SelectRepo(c.Request.Context(), c.PostForm("repo"), c.PostForm("selected") != "")
			p.finishAction(c, returnPath(c, hooksPath), "containers.hooks.selected", err, "Repo", c.PostForm("repo"))
		}),
		postRoute(hooksPath+"/repos/bulk", func(c *gin.Context) {
			n, err := p.hooks.BulkSelect(c.Request.Context(), readHookFilter(c.PostForm).repoFilter(), c.PostForm("to") == "selected", false)
			p.finishAction(c, returnPath(c, hooksPath), "containers.hooks.selected.many", err, "N", strconv.Itoa(n))
		}),
		postRoute(hooksPath+"/repos/delete", func(c *gin.Context) {
			id, err := p.hooks.DeleteRepo(c.Request.Context(), c.PostForm("repo"))
			p.answerJob(c, id, err)
		}),
		postRoute(hooksPath+"/sync", p.syncHooks),
		getRoute(hooksPath+"/conflict", p.hookConflict), postRoute(hooksPath+"/conflict", p.resolveConflict),
	}
}

// hookFilter is what the page is confined to, as in its address.
type hookFilter struct {
	Query, Selected, Decision string
	Page                      int
}

func readHookFilter(value func(string) string) hookFilter {
	f := hookFilter{Query: strings.TrimSpace(value("q")), Selected: value("selected"), Decision: value("decision")}
	f.Page = ui.PageNumber(value("page"))
	return f
}

func (f hookFilter) pageURL(path string, page int) string {
	number := ""
	if page > 1 {
		number = strconv.Itoa(page)
	}
	return ui.Address(path, "q", f.Query, "selected", f.Selected, "decision", f.Decision, "page", number)
}

func (f hookFilter) repoFilter() webhook.RepoFilter {
	out := webhook.RepoFilter{Query: f.Query, Selected: f.Selected}
	if out.Selected == "" {
		out.Selected = "all"
	}
	return out
}

// hooksView is what the page of package webhooks shows.
type hooksView struct {
	Filter   hookFilter
	Settings webhook.HookSettings
	Sum      webhook.HookOverview
	Repos    webhook.RepoPage
	Inbox    webhook.DeliveryPage
	// Callback is what the callback URL probably is, while none is set.
	Callback string
	pageForm
	// Open reports whether the dialog that adds a target is shown at once.
	Open bool
}

// countAttention is how many webhooks are not as they should be.
func (h hooksView) countAttention() int {
	return h.Sum.Summary.Missing + h.Sum.Summary.Conflict + h.Sum.Summary.Error
}

func (p hookPages) hooksView(ctx context.Context, f hookFilter) (out hooksView, err error) {
	out.Filter = f
	if out.Settings, err = p.hooks.HookSettings(ctx); err != nil {
		return out, err
	}
	if out.Sum, err = p.hooks.HookOverview(ctx); err != nil {
		return out, err
	}
	if out.Repos, err = p.hooks.TrackedRepos(ctx, f.repoFilter(), f.Page, jobsShown); err != nil {
		return out, err
	}
	if out.Callback = out.Settings.CallbackURL; out.Callback == "" {
		if base := p.notices.PublicPages(ctx); strings.HasPrefix(base, "https://") {
			out.Callback = base + "api/webhooks/host-packages"
		}
	}
	out.Inbox, err = p.inbox.Deliveries(ctx, webhook.DeliveryFilter{Decision: f.Decision}, 1, deliveriesShown)
	return out, err
}

// renderHooks shows the package webhooks with a form that was refused.
func (p hookPages) renderHooks(c *gin.Context, refused pageForm) {
	h, err := p.hooksView(c.Request.Context(), readHookFilter(c.Query))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	h.pageForm, h.Open = refused, refused.name == targetForm || ui.Opens(c, newTarget)
	v := p.newView(c, "containers.hooks.title")
	p.kit.Render(c, v, refused.form.Status(), hooksPage(v, p.pages, h))
}

func (p hookPages) hooksLive(c *gin.Context) {
	f := readHookFilter(c.Query)
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		h, err := p.hooksView(c.Request.Context(), f)
		return repoParts(v, p.pages, h), false, err
	})
}

// inboxLive is made anew at each delivery.
func (p hookPages) inboxLive(c *gin.Context) {
	ctx, f := c.Request.Context(), readHookFilter(c.Query)
	sub := p.inbox.LiveDeliveries()
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(ctx, sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		list, err := p.inbox.Deliveries(ctx, webhook.DeliveryFilter{Decision: f.Decision}, 1, deliveriesShown)
		return inboxParts(v, p.pages, hooksView{Filter: f, Inbox: list}), false, err
	})
}

func (p hookPages) saveHooks(c *gin.Context) {
	err := p.hooks.ChangeHookSettings(c.Request.Context(), webhook.HookChange{
		Enabled: c.PostForm("enabled") != "", CallbackURL: c.PostForm("callback"), PAT: c.PostForm("pat"),
	})
	p.doneHooks(c, hookForm, "containers.hooks.saved", err)
}

func (p hookPages) addTarget(c *gin.Context) {
	t, n, err := p.hooks.AddTarget(c.Request.Context(), c.PostForm("input"))
	p.doneHooks(c, targetForm, "containers.hooks.target.added", err, "Input", t.Input, "N", strconv.Itoa(n))
}

// doneHooks answers a form of the page of package webhooks, which shows what is wrong with it.
func (p hookPages) doneHooks(c *gin.Context, name, toast string, err error, args ...string) {
	if err == nil {
		p.finishAction(c, hooksPath, toast, nil, args...)
		return
	}
	if form, ok := p.kit.ReadForm(c, err); ok {
		p.renderHooks(c, pageForm{name, form})
	}
}

// syncHooks has one webhook, or all, brought in line.
func (p hookPages) syncHooks(c *gin.Context) {
	ctx, repo := c.Request.Context(), c.PostForm("repo")
	var job webhook.SyncJob
	var err error
	if repo != "" {
		job, err = p.hooks.SyncRepoHook(ctx, repo)
	} else {
		job, err = p.hooks.SyncAllHooks(ctx)
	}
	p.answerJob(c, job.JobID, err)
}

// hookConflict asks the code host which webhooks of a repository are there more than once.
func (p hookPages) hookConflict(c *gin.Context) {
	repo := c.Query("repo")
	list, err := p.hooks.SyncHooks(c.Request.Context(), webhook.SyncRequest{DryRun: true, Repos: []string{repo}})
	if err == nil && len(list) != 1 {
		err = fault.New(fault.NotFound, "The repository is not tracked.")
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.hooks.conflict")
	p.kit.Render(c, v, http.StatusOK, conflictPage(v, p.pages, list[0]))
}

// resolveConflict keeps one webhook and deletes the others that the person saw.
func (p hookPages) resolveConflict(c *gin.Context) {
	repo, keep := c.PostForm("repo"), c.PostForm("keep")
	if err := ui.CheckTypedName(c, repo); err != nil {
		p.kit.Fail(c, err)
		return
	}
	gone := slices.DeleteFunc(c.PostFormArray("hook"), func(id string) bool { return id == keep })
	list, err := p.hooks.SyncHooks(c.Request.Context(), webhook.SyncRequest{
		Repos: []string{repo}, Conflicts: []webhook.ConflictChoice{{Repo: repo, Keep: keep, Delete: gone}},
	})
	if err == nil && len(list) == 1 && list[0].Action == "error" {
		err = fault.New(fault.Conflict, "The webhooks could not be changed: %s", list[0].Message)
	}
	p.finishAction(c, hooksPath, "containers.hooks.resolved", err, "Repo", repo)
}

// hookResult is the summary of a job about webhooks, whatever it did with them.
type hookResult struct {
	Op                                                                   string
	Total, Created, Updated, Noop, Removed, OK, Missing, Conflict, Error int
	Skipped                                                              string `json:"skippedReason"`
	Repos                                                                []struct{ Repo, Action, Status, Message, Error string }
}

// reasonText is why a delivery was not acted on, in words.
func reasonText(v *ui.View, why string) string { return v.Word("containers.hooks.reason."+why, why) }

// choiceText is the text of a choice of repositories.
func choiceText(selected string) string {
	if selected == "" {
		return "all"
	}
	return selected
}

// bulkFields are the fields that select all repositories of the filter, or none of them.
func bulkFields(h hooksView, to string) []string {
	return []string{"q", h.Filter.Query, "selected", h.Filter.Selected, "to", to, "back", h.Filter.pageURL(hooksPath, 1)}
}

// ownerOnly is who a delivery is from that names no repository.
func ownerOnly(d webhook.HookDelivery) string {
	if d.FullName != "" {
		return ""
	}
	return d.Owner
}
