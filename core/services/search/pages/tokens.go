package pages

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

const perPage = 50

// newToken is the id of the dialog that makes an access token.
const newToken = "new-token"

type tokensView struct {
	Query, Group, Enabled, Quota string
	List                         access.TokenPage
	Groups                       []access.TokenGroup
	Own                          bool
	// Form makes an access token; Open shows it at once.
	Form ui.Form
	Open bool
}

// pageNumber is the number of a page in an address; the first one goes without.
func pageNumber(n int) string {
	if n <= 1 {
		return ""
	}
	return strconv.Itoa(n)
}

// pageURL is that of a page of the list.
func (t tokensView) pageURL(base string, page int) string {
	return ui.Address(base+"/tokens", "q", t.Query, "group", t.Group, "enabled", t.Enabled, "quota", t.Quota, "page", pageNumber(page))
}

func (t tokensView) nextURL(base string) string {
	if int64(t.List.Page*t.List.PerPage) >= t.List.Total || t.Own {
		return ""
	}
	return t.pageURL(base, t.List.Page+1)
}

// countAll returns how many tokens there are without the filter.
func (t tokensView) countAll() (n int64) {
	for _, g := range t.Groups {
		n += g.TokenCount
	}
	return n
}

// tokenFilter returns what the list is confined to.
func (t tokensView) tokenFilter() access.TokenFilter {
	f := access.TokenFilter{Query: t.Query, Enabled: t.Enabled, QuotaState: t.Quota}
	if t.Group != "" {
		f.Group = &t.Group
	}
	return f
}

// tokenPages are the pages of access tokens.
type tokenPages struct{ pages }

func (p tokenPages) showTokens(c *gin.Context) { p.renderTokens(c, ui.Form{}) }

// renderTokens shows the list of tokens with the form that makes one.
func (p tokenPages) renderTokens(c *gin.Context, form ui.Form) {
	ctx := c.Request.Context()
	who := auth.From(ctx)
	t := tokensView{
		Form: form, Open: form.Refused() || ui.Opens(c, newToken),
		Query: c.Query("q"), Group: c.Query("group"), Enabled: c.Query("enabled"), Quota: c.Query("quota"), Own: !who.Admin(),
	}
	var err error
	if t.Own {
		t.List, err = p.service.TokensOf(ctx, who.User.ID)
	} else {
		if t.List, err = p.service.FindTokens(ctx, t.tokenFilter(), ui.PageNumber(c.Query("page")), perPage); err == nil {
			t.Groups, err = p.service.TokenGroups(ctx)
		}
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "search.tokens.title")
	p.kit.Render(c, v, form.Status(), tokensPage(v, p.pages, t))
}

// readNumber reads a field that may be empty.
func readNumber(c *gin.Context, field string) (*int64, error) {
	text := strings.TrimSpace(c.PostForm(field))
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, fault.New(fault.InvalidRequest, "The value must be a whole number of 0 or more, or empty.").With("field", field)
	}
	return &n, nil
}

func (p tokenPages) createToken(c *gin.Context) {
	text, err := p.service.CreateToken(c.Request.Context(), access.NewToken{Note: c.PostForm("note"), Group: c.PostForm("group")})
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderTokens(c, form)
		}
		return
	}
	p.showToken(c, text, "search.token.made")
}

// showToken answers with the page of a token and the token in full, shown once below a heading.
func (p tokenPages) showToken(c *gin.Context, text, heading string) {
	id := access.TokenID(text)
	p.kit.ShowOnce(c, p.base+"/tokens/"+id, ui.Secret{Of: id, Name: heading, Text: text})
}

type tokenView struct {
	access.AuthToken
	Window string
	Chart  *audit.Chart
	Recent []audit.RequestLog
	// Shown is the token in full, if this is the page after it was made or asked for.
	Shown ui.Secret
	// Owners are whom the token may be given to; nil for members, who give nothing away.
	Owners []auth.User
	// Form changes the settings.
	Form ui.Form
}

func (p tokenPages) showTokenPage(c *gin.Context) { p.renderToken(c, ui.Form{}) }

// renderToken shows a token with the form of its settings.
func (p tokenPages) renderToken(c *gin.Context, form ui.Form) {
	ctx := c.Request.Context()
	w, err := readWindow(c)
	t := tokenView{Window: w, Form: form}
	if err == nil {
		t.AuthToken, err = p.ownToken(ctx, c.Param("id"))
	}
	if err == nil {
		t.Chart, err = p.service.TokenChart(ctx, t.ID, w)
	}
	if err == nil {
		t.Recent, err = p.recentRequests(ctx, t.ID)
	}
	if err == nil && auth.From(ctx).Admin() {
		t.Owners, err = p.service.Owners(ctx)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	t.Shown = p.kit.TakeSecret(c, t.ID)
	v := p.newView(c, "")
	v.Title = v.T("search.token.title", "ID", t.ID)
	v.AddCharts()
	p.kit.Render(c, v, form.Status(), tokenPage(v, p.pages, t))
}

// recentRequests are the last requests of a token.
func (p tokenPages) recentRequests(ctx context.Context, id string) ([]audit.RequestLog, error) {
	list, err := p.service.Requests(ctx, audit.LogFilter{TokenIDs: []string{id}}, "", 15)
	return list.Items, err
}

func (p tokenPages) tokenLive(c *gin.Context) {
	id := c.Param("id")
	if _, err := p.ownToken(c.Request.Context(), id); err != nil {
		p.kit.Fail(c, err)
		return
	}
	sub := p.service.Live()
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(c.Request.Context(), sub.Events(),
		isRequestEnded(func(r audit.RequestLog) bool { return r.TokenID == id })), func(v *ui.View) (templ.Component, bool, error) {
		// The token may have been given to somebody else meanwhile.
		if _, err := p.ownToken(c.Request.Context(), id); err != nil {
			return nil, true, err
		}
		rows, err := p.recentRequests(c.Request.Context(), id)
		return requestTable(v, p.pages, requestRows{Items: rows, OneToken: true}), false, err
	})
}

func (p tokenPages) changeToken(c *gin.Context) {
	t, err := p.service.Token(c.Request.Context(), c.Param("id"))
	var change access.TokenChange
	if err == nil {
		change, err = readSettings(c, t)
	}
	if err == nil {
		err = p.service.AssignToken(c.Request.Context(), t.ID, change)
	}
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderToken(c, form)
		}
		return
	}
	p.kit.Done(c, p.base+"/tokens/"+t.ID, ui.Toast{Kind: "ok", TextID: "search.token.changed"})
}

// readSettings reads the form with the settings of a token.
func readSettings(c *gin.Context, t access.AuthToken) (access.TokenChange, error) {
	note, group := c.PostForm("note"), c.PostForm("group")
	owner, err := readLabel(c, "owner", 64)
	if err != nil {
		return access.TokenChange{}, err
	}
	change := access.TokenChange{Note: &note, Group: &group, OwnerID: &owner}
	for field, to := range map[string]**access.Override{
		"requests_minute": &change.RequestsMinute,
		"requests_hour":   &change.RequestsHour, "credits_hour": &change.CreditsHour, "credits_day": &change.CreditsDay,
		"credits_month": &change.CreditsMonth, "cache_ttl": &change.CacheTTL,
	} {
		n, err := readNumber(c, field)
		if err != nil {
			return change, err
		}
		*to = &access.Override{Value: n}
	}
	text := c.PostForm("expires")
	if text == day(t) {
		// The form shows the day alone: the time of day stays what it is.
		return change, nil
	}
	var at time.Time
	if text != "" {
		if at, err = time.Parse(time.DateOnly, text); err != nil {
			return change, fault.New(fault.InvalidRequest, "Write the expiry as a day, such as 2026-12-31.").With("field", "expires")
		}
	}
	change.ExpiresAt = &at
	return change, nil
}

func (p tokenPages) tokenAction(do func(context.Context, string) error, done string) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.Param("id")
		if err := do(c.Request.Context(), id); err != nil {
			p.kit.Fail(c, err)
			return
		}
		p.kit.Done(c, p.base+"/tokens/"+id, ui.Toast{Kind: "ok", TextID: done})
	}
}

func (p tokenPages) deleteToken(c *gin.Context) {
	id := c.Param("id")
	err := ui.CheckTypedName(c, id)
	if err == nil {
		err = p.service.DeleteToken(c.Request.Context(), id)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.base+"/tokens", ui.Toast{Kind: "ok", TextID: "search.token.deleted"})
}

func (p tokenPages) revealToken(c *gin.Context) {
	p.showSecret(c, p.service.TokenText, "search.token.revealed")
}

func (p tokenPages) rotateToken(c *gin.Context) {
	p.showSecret(c, p.service.RotateToken, "search.token.rotated")
}

func (p tokenPages) showSecret(c *gin.Context, get func(context.Context, string) (string, error), title string) {
	ctx := c.Request.Context()
	t, err := p.ownToken(ctx, c.Param("id"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	text, err := get(ctx, t.ID)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.showToken(c, text, title)
}
