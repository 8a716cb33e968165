package pages

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// servicePages are the pages of a service.
type servicePages struct{ pages }

func (p servicePages) serviceRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute(servicePath, func(c *gin.Context) { p.renderService(c, pageForm{}) }), getRoute(servicePath+"/live", p.serviceLive),
		postRoute(servicePath+"/action", p.handleJob(func(c *gin.Context, id string) (string, error) {
			return p.service.ServiceAction(c.Request.Context(), id, c.PostForm("action"))
		})),
		postRoute(servicePath+"/restore-backup", p.handleJob(p.restoreBackup)),
		postRoute(servicePath+"/settings", p.changeForm(serviceForm, "containers.service.saved", p.saveService)),
		postRoute(servicePath+"/ignores", p.changeForm(ignoreForm, "containers.ignore.added", p.addIgnore)),
		postRoute(servicePath+"/ignore-version", p.handleChange("containers.ignore.added", p.ignoreVersion)),
		postRoute(servicePath+"/ignores/delete", p.handleChange("containers.ignore.deleted", func(c *gin.Context, _ string) error {
			_, err := p.service.DeleteIgnoreRule(c.Request.Context(), c.PostForm("rule"))
			return err
		})),
		postRoute(servicePath+"/inference", p.handleChange("containers.inference.asked", func(c *gin.Context, id string) error {
			_, _, err := p.service.RefreshInference(c.Request.Context(), id, c.PostForm("digest"))
			return err
		})),
		postRoute(servicePath+"/archive", p.handleChange("containers.service.archived", func(c *gin.Context, id string) error {
			return p.service.ArchiveService(c.Request.Context(), id)
		})),
		postRoute(servicePath+"/restore", p.handleChange("containers.service.restored", func(c *gin.Context, id string) error {
			return p.service.RestoreService(c.Request.Context(), id)
		})),
	}
}

// serviceView is what the page of a service shows.
type serviceView struct {
	project.ServiceDetail
	Stack     project.StackItem
	Lifecycle lifecycle.ServiceLifecycle
	Rollback  change.RollbackTarget
	Rules     []candidate.IgnoreRule
	Backups   []backup.Backup
	History   []change.Change
	Jobs      []service.Job
	// Window is the stretch of time of the charts; Monitored whether there is anything to draw.
	Window    string
	Monitored bool
	Usage     *usage.ResourceUsage
	// Samples are drawn; only the whole page has them.
	Samples []usage.Sample
	pageForm
	// Open reports whether the dialog that adds an ignore rule is shown at once.
	Open bool
}

func (s serviceView) pageURL(p pages) string { return p.serviceURL(s.StackID, s.ID) }

// lifecycleButtons are the buttons to start and stop it.
func (s serviceView) lifecycleButtons(p pages) lifecycleView {
	l := lifecycleView{
		URL: s.pageURL(p) + "/action", Project: s.Stack.Name, Service: s.Name, Name: s.Stack.Name + " / " + s.Name, State: s.Lifecycle.State,
		Unavailable: textOrEmpty(s.Lifecycle.UnavailableReason),
	}
	if s.Lifecycle.ActiveJob.Of != nil {
		l.Jobs = []work.ActiveJob{*s.Lifecycle.ActiveJob.Of}
	}
	return l
}

func (p servicePages) serviceView(c *gin.Context) (out serviceView, err error) {
	ctx := c.Request.Context()
	if out.Window = c.DefaultQuery("window", "1h"); !slices.Contains(chartWindows(), out.Window) {
		return out, fault.New(fault.InvalidArgument, "The window must be 3m, 1h, 24h or 7d.").With("field", "window")
	}
	if out.ServiceDetail, out.Stack, err = p.knownService(c); err != nil {
		return out, err
	}
	if out.Lifecycle, err = p.service.ServiceLifecycle(ctx, out.ID); err != nil {
		return out, err
	}
	if out.Rollback, err = p.service.RollbackTarget(ctx, out.ID); err != nil {
		// The engine does not answer: everything else is known.
		out.Rollback = change.RollbackTarget{UnavailableReason: "engine"}
	}
	if out.Rules, err = p.service.IgnoreRules(ctx, out.ID); err != nil {
		return out, err
	}
	return out, p.readDetails(ctx, &out)
}

// readDetails reads what happened to a service.
func (p servicePages) readDetails(ctx context.Context, s *serviceView) (err error) {
	if s.Backups, err = p.service.ListBackups(ctx, s.ID); err != nil {
		return err
	}
	if s.History, err = p.service.History(ctx, s.ID); err != nil {
		return err
	}
	if s.Jobs, _, err = p.service.ListJobs(ctx, service.JobFilter{ServiceID: s.ID, Limit: 10}); err != nil {
		return err
	}
	list, err := p.usage.Overview(ctx)
	s.Monitored = list.Enabled
	for i, u := range list.Services {
		if u.ServiceID == s.ID {
			s.Usage = &list.Services[i]
		}
	}
	return err
}

// renderService shows a service with a form that was refused.
func (p servicePages) renderService(c *gin.Context, refused pageForm) {
	s, err := p.serviceView(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	s.pageForm, s.Open = refused, refused.name == ignoreForm || ui.Opens(c, newIgnore)
	v := p.newView(c, "")
	v.Title, v.Path = s.Name, p.base+"/stacks"
	if s.Monitored {
		history, err := p.usage.History(c.Request.Context(), s.ID, s.Window)
		if err != nil {
			p.kit.Fail(c, err)
			return
		}
		s.Samples = history.Samples
	}
	v.AddCharts("usage.js")
	p.kit.Render(c, v, refused.form.Status(), servicePage(v, p.pages, s))
}

func (p servicePages) serviceLive(c *gin.Context) {
	if _, _, err := p.knownService(c); err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		s, err := p.serviceView(c)
		return serviceParts(v, p.pages, s), false, err
	})
}

// restoreBackup asks for the name of the service, so that nobody replaces data by a slip.
func (p servicePages) restoreBackup(c *gin.Context, id string) (string, error) {
	ctx := c.Request.Context()
	d, _, err := p.service.Service(ctx, id)
	if err != nil {
		return "", err
	}
	if err := ui.CheckTypedName(c, d.Name); err != nil {
		return "", err
	}
	list, err := p.service.ListBackups(ctx, id)
	if err != nil {
		return "", err
	}
	backupID := c.PostForm("backup")
	if !slices.ContainsFunc(list, func(b backup.Backup) bool { return b.ID == backupID }) {
		return "", fault.New(fault.NotFound, "There is no such backup of this service.")
	}
	return p.service.Restore(ctx, backupID)
}

// readNumber reads a whole number of a form; an empty field has no value.
func readNumber(c *gin.Context, field string) (api.OptionalNumber, error) {
	out := api.OptionalNumber{Set: true}
	value := strings.TrimSpace(c.PostForm(field))
	if value == "" {
		return out, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return out, fault.New(fault.InvalidArgument, "%s must be a whole number.", field).With("field", field)
	}
	out.Value = &n
	return out, nil
}

func (p servicePages) saveService(c *gin.Context, id string) error {
	change := project.ServiceChange{AutoRollback: new(c.PostForm("auto_rollback") != ""),
		RepoURL: api.OptionalText{Set: true, Text: c.PostForm("repo_url")}}
	var err error
	if change.HealthTimeout, err = readNumber(c, "healthTimeoutSeconds"); err != nil {
		return err
	}
	if change.MinAge, err = readNumber(c, "minimumAgeSeconds"); err != nil {
		return err
	}
	d, _, err := p.service.Service(c.Request.Context(), id)
	if err != nil {
		return err
	}
	// Choices for mounts that the project does not have at the moment stay as they are.
	change.BackupTargets = &d.Settings.BackupTargets
	for i, m := range d.Mounts {
		choice := record.BackupChoice(c.PostForm("mount." + formatNumber(i)))
		if choice == "" || c.PostForm("mount."+formatNumber(i)+".name") != m.Name {
			continue
		}
		choices := change.BackupTargets.VolumeNames
		if m.Kind == compose.BindMount {
			choices = change.BackupTargets.BindPaths
		}
		choices[m.Name] = choice
	}
	return p.service.ChangeService(c.Request.Context(), id, change)
}

func (p servicePages) addIgnore(c *gin.Context, id string) error {
	_, err := p.service.AddIgnoreRule(c.Request.Context(), candidate.IgnoreRule{
		Enabled: true, Scope: candidate.IgnoreScope{Type: work.ScopeService, ServiceID: id},
		Match: candidate.RuleMatch{Kind: c.PostForm("kind"), Value: strings.TrimSpace(c.PostForm("value"))},
		Note:  strings.TrimSpace(c.PostForm("note")),
	})
	return err
}

// matchKinds are the ways in which an ignore rule matches.
func matchKinds() []string { return []string{"exact", "prefix", "regex", "semver", "digest"} }

// restorableBackups are the backups that can be restored.
func (s serviceView) restorableBackups() (out []backup.Backup) {
	for _, b := range s.Backups {
		if b.Restorable {
			out = append(out, b)
		}
	}
	return out
}

// rowStatus is what there is to do with a service: up to date only counts once it was checked.
func rowStatus(s serviceView) string {
	if s.Candidate == nil && s.CheckedAt.IsZero() {
		return "unchecked"
	}
	return serviceStatus(s.ServiceDetail)
}

// inferenceText tells why no tags are known that stand for what runs.
func inferenceText(v *ui.View, s serviceView) string {
	if s.Inference == nil || s.Inference.Status == "ready" {
		return v.T("containers.tags.none")
	}
	return v.T("containers.tags.pending")
}

// changeForm returns a handler of a form on the page of a service. The page shows what is wrong with it.
func (p servicePages) changeForm(name, toast string, do func(c *gin.Context, id string) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		d, _, err := p.knownService(c)
		if err != nil {
			p.kit.Fail(c, err)
			return
		}
		if err := do(c, d.ID); err != nil {
			if form, ok := p.kit.ReadForm(c, err); ok {
				p.renderService(c, pageForm{name, form})
			}
			return
		}
		p.kit.Done(c, p.serviceURL(d.StackID, d.ID), ui.Toast{Kind: "ok", TextID: toast})
	}
}

// ignoreVersion adds a rule that keeps back one version of a service, known by its digest. The note names the version.
func (p servicePages) ignoreVersion(c *gin.Context, id string) error {
	_, err := p.service.AddIgnoreRule(c.Request.Context(), candidate.IgnoreRule{
		Enabled: true, Scope: candidate.IgnoreScope{Type: work.ScopeService, ServiceID: id},
		Match: candidate.RuleMatch{Kind: "digest", Value: c.PostForm("digest")}, Note: c.PostForm("version"),
	})
	return err
}

// chartWindows are the stretches of time that charts show.
func chartWindows() []string { return []string{"3m", "1h", "24h", "7d"} }
