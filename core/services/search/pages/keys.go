package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

type keysView struct {
	Group, State string
	List         keys.KeyPage
	// Needed reports whether a backend needs keys at all.
	Needed bool
	// Form adds keys; Open shows it at once.
	Form ui.Form
	Open bool
}

// newKeys is the id of the dialog that adds keys.
const newKeys = "new-keys"

func (k keysView) pageURL(base string, page int) string {
	return ui.Address(base+"/keys", "group", k.Group, "status", k.State, "page", pageNumber(page))
}

func (k keysView) nextURL(base string) string {
	if int64(k.List.Page*k.List.PerPage) >= k.List.Total {
		return ""
	}
	return k.pageURL(base, k.List.Page+1)
}

// keyFilter returns what the list is confined to.
func (k keysView) keyFilter() (f keys.KeyFilter) {
	if k.Group != "" {
		f.Groups = []string{k.Group}
	}
	if k.State != "" {
		f.States = []string{k.State}
	}
	return f
}

// filterValues returns the filter of the list of keys as in its address.
func (k keysView) filterValues() url.Values { return ui.Query("group", k.Group, "status", k.State) }

func (p pages) showKeys(c *gin.Context) { p.renderKeys(c, ui.Form{}) }

// renderKeys shows the list of keys with the form that adds some.
func (p pages) renderKeys(c *gin.Context, form ui.Form) {
	k := keysView{Group: c.Query("group"), State: c.Query("status"), Needed: p.service.NeedsKeys(), Form: form, Open: form.Refused() ||
		ui.Opens(c, newKeys)}
	var err error
	if k.List, err = p.service.FindKeys(c.Request.Context(), k.keyFilter(), ui.PageNumber(c.Query("page")), perPage); err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "search.keys.title")
	v.Scripts = append(v.Scripts, "keys.js")
	p.kit.Render(c, v, form.Status(), keysPage(v, p, k))
}

// readLabel reads a field that is one line of text of at most limit bytes.
func readLabel(c *gin.Context, field string, limit int) (string, error) {
	text := strings.TrimSpace(c.PostForm(field))
	switch {
	case len(text) > limit:
		return "", fault.New(fault.InvalidRequest, "The %s has more than %d bytes.", field, limit).With("field", field)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", fault.New(fault.InvalidRequest, "The %s contains a control character or is not valid UTF-8.", field).With("field", field)
	}
	return text, nil
}

// readKeys returns the keys of the form, one a line, and their group.
func readKeys(c *gin.Context) (values []string, group string, err error) {
	for line := range strings.Lines(c.PostForm("keys")) {
		if v := strings.TrimSpace(line); v != "" {
			values = append(values, v)
		}
	}
	switch {
	case len(values) == 0:
		return nil, "", fault.New(fault.InvalidRequest, "The request contains no key.").With("field", "keys")
	case len(values) > access.MaxBatch:
		return nil, "", fault.New(fault.InvalidRequest, "A request can have at most %d keys.", access.MaxBatch).With("field", "keys")
	}
	group, err = readLabel(c, "group", 80)
	return values, group, err
}

// addKeys adds the keys of the form.
func (p pages) addKeys(c *gin.Context) {
	values, group, err := readKeys(c)
	var added []keys.AddedKey
	if err == nil {
		added, err = p.service.AddKeys(c.Request.Context(), group, values)
	}
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderKeys(c, form)
		}
		return
	}
	counts := map[string]int{}
	for _, a := range added {
		counts[a.Status]++
	}
	kind := "ok"
	if counts["invalid"] > 0 {
		kind = "bad"
	}
	p.kit.Done(c, p.base+"/keys", ui.Toast{Kind: kind, TextID: "search.keys.added", Args: []string{
		"Created", strconv.Itoa(counts["created"] + counts["restored"]), "Existed", strconv.Itoa(counts["exists"]), "Failed",
		strconv.Itoa(counts["invalid"]),
	}})
}

type keyView struct {
	keys.APIKey
	Window  string
	Chart   *audit.Chart
	History keys.KeyChanges
}

func (p pages) showKey(c *gin.Context) {
	ctx := c.Request.Context()
	w, err := readWindow(c)
	k := keyView{Window: w}
	if err == nil {
		k.APIKey, err = p.service.Key(ctx, c.Param("id"))
	}
	if err == nil {
		k.Chart, err = p.service.KeyChart(ctx, k.ID, w)
	}
	if err == nil {
		k.History, err = p.service.KeyHistory(ctx, k.ID, c.Query("cursor"), 25)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "")
	v.Title = v.T("search.key.title", "ID", k.ID)
	v.AddCharts()
	v.Scripts = append(v.Scripts, "keys.js")
	p.kit.Render(c, v, http.StatusOK, keyPage(v, p, k))
}

// keyAction returns the button that does something with a key, with its question where it has one.
func keyAction(v *ui.View, p pages, id, action string) ui.Action {
	a := ui.Action{URL: p.base + "/keys/" + id + "/" + action, Label: v.T("search.key.do." + action), Class: "btn"}
	switch action {
	case "quarantine":
		a.Question = v.T("search.key.quarantine.confirm", "ID", id)
	case "delete":
		a.Class, a.Question, a.TypedName = "btn bad", v.T("search.key.delete.confirm", "ID", id), id
	}
	return a
}

func (p pages) changeKey(c *gin.Context) {
	ctx, id, action := c.Request.Context(), c.Param("id"), c.Param("action")
	reason, err := readLabel(c, "reason", 200)
	if err == nil && action == "delete" {
		err = ui.CheckTypedName(c, id)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	do := map[string]func(context.Context) error{
		"enable":     func(ctx context.Context) error { return p.service.SetKeyEnabled(ctx, id, true) },
		"disable":    func(ctx context.Context) error { return p.service.SetKeyEnabled(ctx, id, false) },
		"quarantine": func(ctx context.Context) error { return p.service.QuarantineKey(ctx, id, reason) },
		"release":    func(ctx context.Context) error { return p.service.ReleaseKey(ctx, id) },
		"sync":       func(ctx context.Context) error { return p.service.SyncKey(ctx, id) },
		"delete":     func(ctx context.Context) error { return p.service.DeleteKey(ctx, id) },
	}[action]
	if do == nil {
		p.kit.Fail(c, fault.New(fault.NotFound, "There is nothing at this address."))
		return
	}
	if err := do(ctx); err != nil {
		p.kit.Fail(c, err)
		return
	}
	to := p.base + "/keys/" + id
	if action == "delete" {
		to = p.base + "/keys"
	}
	p.kit.Done(c, to, ui.Toast{Kind: "ok", TextID: "search.key.done." + action})
}
