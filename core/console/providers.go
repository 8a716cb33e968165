package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

const (
	addPath    = pluginsPath + "/add"
	usePath    = pluginsPath + "/use/"
	changePath = pluginsPath + "/changes"
	// proposePath takes the forms that ask for a change.
	proposePath = pluginsPath + "/propose"
)

// providerRoutes are the pages that change plugin.hcl. What a form asks for is checked, shown, and applied by another form.
func (c *Console) providerRoutes() []httpd.Route {
	if c.cfg.Configurator == nil {
		return nil
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: addPath, Policy: httpd.Admin, Handler: c.chooseProvider},
		{Method: http.MethodGet, Path: addPath + "/:kind/:plugin", Policy: httpd.Admin, Handler: c.addProvider},
		{Method: http.MethodGet, Path: usePath + ":service/:attribute", Policy: httpd.Admin, Handler: c.useAnother},
		{Method: http.MethodGet, Path: instancePath + ":ref/settings", Policy: httpd.Admin, Handler: c.instanceSettings},
		{Method: http.MethodPost, Path: proposePath, Policy: httpd.Admin, Audit: httpd.Unaudited, BodyLimit: formLimit, Handler: c.proposeChange},
		{Method: http.MethodGet, Path: changePath + "/:id", Policy: httpd.Admin, Handler: c.showChange},
		withConfirmation(httpd.Route{Method: http.MethodPost, Path: changePath + "/:id/apply", Policy: httpd.Admin, BodyLimit: formLimit,
			Handler: c.applyChange}),
	}
}

// listReferences returns what services name; nil if nothing can be changed here.
func (c *Console) listReferences() []Reference {
	if c.cfg.Configurator == nil {
		return nil
	}
	return c.cfg.Configurator.References()
}

// chooseProvider shows the plugins that an instance can be made of.
func (c *Console) chooseProvider(gc *gin.Context) {
	choices, err := c.cfg.Configurator.Choices(gc.Request.Context())
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	if kind := gc.Query("kind"); kind != "" {
		choices = slices.DeleteFunc(slices.Clone(choices), func(p Choice) bool { return p.Kind != kind })
	}
	v := c.kit.View(gc, "provider.add")
	c.kit.Render(gc, v, http.StatusOK, choosePage(v, choices, c.cfg.Configurator.Writing()))
}

// findChoice returns the plugin of a kind, kind/name.
func (c *Console) findChoice(gc *gin.Context, name string) (Choice, error) {
	choices, err := c.cfg.Configurator.Choices(gc.Request.Context())
	if err != nil {
		return Choice{}, err
	}
	i := slices.IndexFunc(choices, func(p Choice) bool { return p.Kind+"/"+p.Plugin == name })
	if i < 0 {
		return Choice{}, fault.New(fault.NotFound, "There is no plugin with this name.")
	}
	return choices[i], nil
}

// findReference returns an attribute of a service, service.attribute.
func (c *Console) findReference(name string) (Reference, error) {
	refs := c.cfg.Configurator.References()
	i := slices.IndexFunc(refs, func(r Reference) bool { return r.Service+"."+r.Attribute == name })
	if i < 0 {
		return Reference{}, fault.New(fault.NotFound, "There is no service with this reference.")
	}
	return refs[i], nil
}

// draftOf returns what was sent before and is meant to be corrected; the zero value if nothing was.
func (c *Console) draftOf(gc *gin.Context) Change {
	draft, err := c.cfg.Configurator.Change(callerID(gc), gc.Query("draft"))
	if err != nil {
		return Change{}
	}
	return draft
}

// callerID tells callers apart, for what is kept for each of them.
func callerID(gc *gin.Context) string {
	p := auth.From(gc.Request.Context())
	return string(p.Via) + " " + p.User.ID + " " + p.User.Name
}

// addProvider shows the form of a new instance.
func (c *Console) addProvider(gc *gin.Context) {
	choice, err := c.findChoice(gc, gc.Param("kind")+"/"+gc.Param("plugin"))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	draft := c.draftOf(gc)
	f := newProviderForm(choice, "", nil, draft)
	f.Writing = c.cfg.Configurator.Writing()
	f.addUses(c.cfg.Configurator.References(), gc.Query("for"), draft)
	if draft.ID == "" {
		f.Name = c.freeName(choice)
	}
	v := c.kit.View(gc, "")
	v.Title = v.T("provider.add.title", "Plugin", choice.Plugin)
	c.kit.Render(gc, v, http.StatusOK, providerPage(v, f))
}

// freeName returns a name that no instance of the kind has.
func (c *Console) freeName(choice Choice) string {
	name := choice.Plugin
	for n := 2; slices.ContainsFunc(c.cfg.Providers.Instances(),
		func(in Instance) bool { return in.Kind == choice.Kind && in.Name == name }); n++ {
		name = choice.Plugin + formatNumber(n)
	}
	return name
}

// instanceSettings shows the form of an instance that there is.
func (c *Console) instanceSettings(gc *gin.Context) {
	ref := gc.Param("ref")
	choice, current, err := c.cfg.Configurator.Settings(gc.Request.Context(), ref)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	f := newProviderForm(choice, ref, current, c.draftOf(gc))
	f.Writing = c.cfg.Configurator.Writing()
	v := c.kit.View(gc, "")
	v.Title = v.T("provider.set.title", "Ref", ref)
	c.kit.Render(gc, v, http.StatusOK, providerPage(v, f))
}

// useAnother shows what a service could use in place of what it uses.
func (c *Console) useAnother(gc *gin.Context) {
	r, err := c.findReference(gc.Param("service") + "." + gc.Param("attribute"))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	choices, err := c.cfg.Configurator.Choices(gc.Request.Context())
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	choices = slices.DeleteFunc(slices.Clone(choices), func(p Choice) bool { return p.Kind != r.Kind })
	instances := slices.DeleteFunc(slices.Clone(c.cfg.Providers.Instances()), func(in Instance) bool { return in.Kind != r.Kind })
	v := c.kit.View(gc, "")
	v.Title = v.T("provider.use.title", "Service", v.Word(r.Service+".name", r.Service), "Kind", v.Word("kind."+r.Kind, r.Kind))
	c.kit.Render(gc, v, http.StatusOK, usePage(v, r, instances, choices, c.cfg.Configurator.Writing()))
}

// proposeChange has what a form asks for checked. The browser goes on to what would change, or back to the form.
func (c *Console) proposeChange(gc *gin.Context) {
	p, err := c.readProposal(gc)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	change, err := c.cfg.Configurator.Propose(gc.Request.Context(), callerID(gc), p)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	to := changePath + "/" + change.ID
	if back := formOf(change); change.Errors() && back != "" {
		to = back
	}
	c.kit.Redirect(gc, to)
}

// formOf returns the address of the form from which a change came, filled in; "" for one that came from a button.
func formOf(change Change) string {
	query := "?" + url.Values{"draft": {change.ID}}.Encode()
	switch p := change.Proposal; {
	case p.Add != "":
		return addPath + "/" + p.Add + query
	case p.Set != "":
		return instancePath + p.Set + "/settings" + query
	}
	return ""
}

// changeView is what the page of a change shows.
type changeView struct {
	Change
	Writing Writing
	// Instances are those that the change is about, as they are now.
	Instances []Instance
	// CanConfirm reports whether the caller can be asked for a passkey; Refusal tells why not.
	CanConfirm bool
}

// showChange shows what would change, or what came of it.
func (c *Console) showChange(gc *gin.Context) {
	change, err := c.cfg.Configurator.Change(callerID(gc), gc.Param("id"))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	page := changeView{Change: change, Writing: c.cfg.Configurator.Writing(), CanConfirm: auth.From(gc.Request.Context()).Strong()}
	about := change.changedInstances()
	for _, in := range c.cfg.Providers.Instances() {
		if slices.Contains(about, in.Ref) {
			page.Instances = append(page.Instances, in)
		}
	}
	v := c.kit.View(gc, "change.title."+change.State)
	c.kit.Render(gc, v, http.StatusOK, changePage(v, page))
}

// changedInstances returns the instances that a change is about.
func (c Change) changedInstances() (refs []string) {
	if kind, _, ok := strings.Cut(c.Proposal.Add, "/"); ok {
		refs = append(refs, kind+"."+c.Proposal.Name)
	}
	if c.Proposal.Set != "" {
		refs = append(refs, c.Proposal.Set)
	}
	for _, u := range c.Proposal.Uses {
		refs = append(refs, u.Refs...)
	}
	return refs
}

// applyChange puts a change into use. What came of it is on the page of the change.
func (c *Console) applyChange(gc *gin.Context) {
	change, err := c.cfg.Configurator.Apply(gc.Request.Context(), callerID(gc), gc.Param("id"))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	httpd.NoteObject(gc.Request.Context(), change.About+": "+change.State)
	c.kit.Redirect(gc, changePath+"/"+change.ID)
}

// diffLines returns the lines of a difference with the class of each.
func diffLines(text string) (lines [][2]string) {
	for line := range strings.Lines(text) {
		class := ""
		switch line[0] {
		case '+':
			class = "a"
		case '-':
			class = "d"
		case '@':
			class = "h"
		}
		lines = append(lines, [2]string{class, line})
	}
	return lines
}

// addedLines returns what a difference adds, to be copied.
func addedLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if added, ok := strings.CutPrefix(line, "+"); ok {
			b.WriteString(added)
		} else if line[0] == '@' && b.Len() > 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// applyCommands are the commands that put a file into use that was edited by hand.
func applyCommands(path string) string {
	return "patchbay config check -config " + path + "\nsystemctl reload patchbay   # or: kill -HUP PID"
}
