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

// providerPages choose and set up providers in plugin.hcl. They check and show what a form asks for; another form applies it.
type providerPages struct{ *base }

func (h *providerPages) listRoutes() []httpd.Route {
	if h.cfg.Configurator == nil {
		return nil
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: addPath, Policy: httpd.Admin, Handler: h.chooseProvider},
		{Method: http.MethodGet, Path: addPath + "/:kind/:plugin", Policy: httpd.Admin, Handler: h.addProvider},
		{Method: http.MethodGet, Path: usePath + ":service/:attribute", Policy: httpd.Admin, Handler: h.useAnother},
		{Method: http.MethodGet, Path: instancePath + ":ref/settings", Policy: httpd.Admin, Handler: h.instanceSettings},
		{Method: http.MethodPost, Path: proposePath, Policy: httpd.Admin, Audit: httpd.Unaudited, BodyLimit: formLimit, Handler: h.proposeChange},
		{Method: http.MethodGet, Path: changePath + "/:id", Policy: httpd.Admin, Handler: h.showChange},
		withConfirmation(httpd.Route{Method: http.MethodPost, Path: changePath + "/:id/apply", Policy: httpd.Admin, BodyLimit: formLimit,
			Handler: h.applyChange}),
	}
}

// chooseProvider shows the plugins that an instance can be made of.
func (h *providerPages) chooseProvider(gc *gin.Context) {
	choices, err := h.cfg.Configurator.Choices(gc.Request.Context())
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	if kind := gc.Query("kind"); kind != "" {
		choices = slices.DeleteFunc(slices.Clone(choices), func(p Choice) bool { return p.Kind != kind })
	}
	v := h.kit.View(gc, "provider.add")
	h.kit.Render(gc, v, http.StatusOK, choosePage(v, choices, h.cfg.Configurator.Writing()))
}

// findChoice returns the plugin of a kind, kind/name.
func (h *providerPages) findChoice(gc *gin.Context, name string) (Choice, error) {
	choices, err := h.cfg.Configurator.Choices(gc.Request.Context())
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
func (h *providerPages) findReference(name string) (Reference, error) {
	refs := h.cfg.Configurator.References()
	i := slices.IndexFunc(refs, func(r Reference) bool { return r.Service+"."+r.Attribute == name })
	if i < 0 {
		return Reference{}, fault.New(fault.NotFound, "There is no service with this reference.")
	}
	return refs[i], nil
}

// readDraft returns what was sent before and is meant to be corrected; the zero value if nothing was.
func (h *providerPages) readDraft(gc *gin.Context) Change {
	draft, err := h.cfg.Configurator.Change(callerID(gc), gc.Query("draft"))
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
func (h *providerPages) addProvider(gc *gin.Context) {
	choice, err := h.findChoice(gc, gc.Param("kind")+"/"+gc.Param("plugin"))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	draft := h.readDraft(gc)
	f := newProviderForm(choice, "", nil, draft)
	f.Writing = h.cfg.Configurator.Writing()
	f.addUses(h.cfg.Configurator.References(), gc.Query("for"), draft)
	if draft.ID == "" {
		f.Name = h.freeName(choice)
	}
	v := h.kit.View(gc, "")
	v.Title = v.T("provider.add.title", "Plugin", choice.Plugin)
	h.kit.Render(gc, v, http.StatusOK, providerPage(v, f))
}

// freeName returns a name that no instance of the kind has.
func (h *providerPages) freeName(choice Choice) string {
	name := choice.Plugin
	for n := 2; slices.ContainsFunc(h.cfg.Providers.Instances(),
		func(in Instance) bool { return in.Kind == choice.Kind && in.Name == name }); n++ {
		name = choice.Plugin + formatNumber(n)
	}
	return name
}

// instanceSettings shows the form of an instance that there is.
func (h *providerPages) instanceSettings(gc *gin.Context) {
	ref := gc.Param("ref")
	choice, current, err := h.cfg.Configurator.Settings(gc.Request.Context(), ref)
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	f := newProviderForm(choice, ref, current, h.readDraft(gc))
	f.Writing = h.cfg.Configurator.Writing()
	v := h.kit.View(gc, "")
	v.Title = v.T("provider.set.title", "Ref", ref)
	h.kit.Render(gc, v, http.StatusOK, providerPage(v, f))
}

// useAnother shows what a service could use in place of what it uses.
func (h *providerPages) useAnother(gc *gin.Context) {
	r, err := h.findReference(gc.Param("service") + "." + gc.Param("attribute"))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	choices, err := h.cfg.Configurator.Choices(gc.Request.Context())
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	choices = slices.DeleteFunc(slices.Clone(choices), func(p Choice) bool { return p.Kind != r.Kind })
	instances := slices.DeleteFunc(slices.Clone(h.cfg.Providers.Instances()), func(in Instance) bool { return in.Kind != r.Kind })
	v := h.kit.View(gc, "")
	v.Title = v.T("provider.use.title", "Service", v.Word(r.Service+".name", r.Service), "Kind", v.Word("kind."+r.Kind, r.Kind))
	h.kit.Render(gc, v, http.StatusOK, usePage(v, r, instances, choices, h.cfg.Configurator.Writing()))
}

// proposeChange has what a form asks for checked. The browser goes on to what would change, or back to the form.
func (h *providerPages) proposeChange(gc *gin.Context) {
	p, err := h.readProposal(gc)
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	change, err := h.cfg.Configurator.Propose(gc.Request.Context(), callerID(gc), p)
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	to := changePath + "/" + change.ID
	if back := formPath(change); change.Errors() && back != "" {
		to = back
	}
	h.kit.Redirect(gc, to)
}

// formPath returns the address of the form from which a change came, filled in; "" for one that came from a button.
func formPath(change Change) string {
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
func (h *providerPages) showChange(gc *gin.Context) {
	change, err := h.cfg.Configurator.Change(callerID(gc), gc.Param("id"))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	page := changeView{Change: change, Writing: h.cfg.Configurator.Writing(), CanConfirm: auth.From(gc.Request.Context()).Strong()}
	about := change.changedInstances()
	for _, in := range h.cfg.Providers.Instances() {
		if slices.Contains(about, in.Ref) {
			page.Instances = append(page.Instances, in)
		}
	}
	v := h.kit.View(gc, "change.title."+change.State)
	h.kit.Render(gc, v, http.StatusOK, changePage(v, page))
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
func (h *providerPages) applyChange(gc *gin.Context) {
	change, err := h.cfg.Configurator.Apply(gc.Request.Context(), callerID(gc), gc.Param("id"))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	httpd.NoteObject(gc.Request.Context(), change.About+": "+change.State)
	h.kit.Redirect(gc, changePath+"/"+change.ID)
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
