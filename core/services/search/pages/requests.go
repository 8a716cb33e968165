package pages

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

const (
	requestsShown = 50
	// lookEvery is how often a live part is made anew when nothing wakes it.
	lookEvery = 10 * time.Second
)

// requestFilter is what the list is confined to, as in its address.
type requestFilter struct{ Token, Operation, Result, Key, RequestID, Cursor string }

func readRequestFilter(c *gin.Context) requestFilter {
	return requestFilter{c.Query("token"), c.Query("operation"), c.Query("result"), c.Query("key"), c.Query("request_id"), c.Query("cursor")}
}

func (f requestFilter) pageURL(path, cursor string) string {
	return ui.Address(path, "token", f.Token, "operation", f.Operation, "result", f.Result, "key", f.Key, "request_id", f.RequestID, "cursor",
		cursor)
}

// exportURL is the address of a file of all that the list is confined to, in the words of the API.
func (f requestFilter) exportURL(path, format string) string {
	return ui.Address(path, "format", format, "auth_token_id", f.Token, "operation", f.Operation, "result", f.Result, "key_id", f.Key,
		"request_id", f.RequestID)
}

// exportPath is where a viewer gets the file: members that of their own tokens.
func exportPath(v *ui.View, p pages) string {
	if v.Admin() {
		return p.base + "/api/logs/export"
	}
	return p.base + "/api/user/logs/export"
}

func (f requestFilter) logFilter() audit.LogFilter {
	l := audit.LogFilter{KeyID: f.Key, RequestID: f.RequestID}
	for _, x := range []struct {
		value string
		to    *[]string
	}{{f.Token, &l.TokenIDs}, {f.Operation, &l.Operations}, {f.Result, &l.Outcomes}} {
		if x.value != "" {
			*x.to = []string{x.value}
		}
	}
	return l
}

// matchesRequest reports whether a request that has just ended belongs into the list.
func (f requestFilter) matchesRequest(r audit.RequestLog) bool {
	is := func(wanted, have string) bool { return wanted == "" || wanted == have }
	return is(f.Token, r.TokenID) && is(f.Operation, r.Operation) && is(f.Result, r.ResultStatus) && is(f.Key, r.KeyID) &&
		is(f.RequestID, r.RequestID)
}

type requestsView struct {
	Filter requestFilter
	List   audit.LogPage
	// Notes are those of the tokens, by their ids.
	Notes   map[string]string
	Catalog audit.LogCatalog
}

// requestRows is a list of requests.
type requestRows struct {
	Items []audit.RequestLog
	// Notes are those of the tokens, by their ids.
	Notes map[string]string
	// OneToken reports whether all belong to one token, which is left out then.
	OneToken bool
	// Filter is that of the list.
	Filter ui.Filter
}

func (r requestsView) listRows(v *ui.View, p pages) requestRows {
	return requestRows{Items: r.List.Items, Notes: r.Notes, Filter: r.filterForm(v, p)}
}

// maxRowError bounds the error of a request in a list, in bytes.
const maxRowError = 120

// reachedLimit is a limit that is used up in words: its name, what is used and what is allowed.
func reachedLimit(v *ui.View, l audit.ReachedLimit) string {
	return v.T("search.limit.reached", "Name", limitName(v, l), "Used", v.Num(l.Used), "Limit", v.Num(l.Limit))
}

// limitName is the name of a limit.
func limitName(v *ui.View, l audit.ReachedLimit) string {
	if l.Scope == "requests" && l.Window == "hour" {
		return v.T("search.quota.requests")
	}
	return v.T("search.quota." + l.Window)
}

// requestPages are the pages of the log of requests.
type requestPages struct{ pages }

// requestsView reads the list. Members see the requests of their own tokens.
func (p requestPages) requestsView(ctx context.Context, f requestFilter) (requestsView, error) {
	out := requestsView{Filter: f, Catalog: p.service.LogCatalog()}
	who := auth.From(ctx)
	l := f.logFilter()
	if !who.Admin() {
		l.KeyID = ""
		own, err := p.service.TokensOf(ctx, who.User.ID)
		if err != nil {
			return out, err
		}
		ids := make([]string, len(own.Items))
		for i, t := range own.Items {
			ids[i] = t.ID
		}
		if f.Token != "" && !slices.Contains(ids, f.Token) || len(ids) == 0 {
			return out, nil
		}
		if f.Token == "" {
			l.TokenIDs = ids
		}
	}
	var err error
	if out.List, err = p.service.Requests(ctx, l, f.Cursor, requestsShown); err != nil {
		return out, err
	}
	ids := map[string]bool{}
	for _, r := range out.List.Items {
		ids[r.TokenID] = true
	}
	out.Notes, err = p.service.TokenNotes(ctx, slices.Collect(maps.Keys(ids)))
	return out, err
}

func (p requestPages) showRequests(c *gin.Context) {
	list, err := p.requestsView(c.Request.Context(), readRequestFilter(c))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "search.requests.title")
	p.kit.Render(c, v, http.StatusOK, requestsPage(v, p.pages, list))
}

func (p requestPages) requestsLive(c *gin.Context) {
	f := readRequestFilter(c)
	f.Cursor = ""
	match, err := p.wakesList(c.Request.Context(), f)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	sub := p.service.Live()
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(c.Request.Context(), sub.Events(), isRequestEnded(match)),
		func(v *ui.View) (templ.Component, bool, error) {
			list, err := p.requestsView(c.Request.Context(), f)
			return requestTable(v, p.pages, list.listRows(v, p.pages)), false, err
		})
}

// wakesList are the requests at which the list is made anew: for members those of the tokens that they have now, so that the
// traffic of others costs nothing.
func (p requestPages) wakesList(ctx context.Context, f requestFilter) (func(audit.RequestLog) bool, error) {
	who := auth.From(ctx)
	if who.Admin() {
		return f.matchesRequest, nil
	}
	own, err := p.service.TokensOf(ctx, who.User.ID)
	mine := map[string]bool{}
	for _, t := range own.Items {
		mine[t.ID] = true
	}
	return func(r audit.RequestLog) bool { return mine[r.TokenID] && f.matchesRequest(r) }, err
}

// isRequestEnded tells of a subscription's events whether they are requests that match is true for. An event that says that others
// were lost counts: the page is read again.
func isRequestEnded(match func(audit.RequestLog) bool) func(event.Event) bool {
	return func(ev event.Event) bool {
		r, is := ev.Data.(audit.RequestLog)
		return !is || match(r)
	}
}

// ownRequest is a request that the caller may see. A foreign one does not exist for members, and no key does.
func (p requestPages) ownRequest(ctx context.Context, number string) (audit.RequestDetails, error) {
	absent := fault.New(fault.NotFound, "There is no such request, or its record has expired.")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return audit.RequestDetails{}, absent
	}
	r, err := p.service.Request(ctx, id)
	if err != nil || auth.From(ctx).Admin() {
		return r, err
	}
	if _, err := p.ownToken(ctx, r.TokenID); err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			err = absent
		}
		return audit.RequestDetails{}, err
	}
	r.KeyID = ""
	return r, nil
}

func (p requestPages) showRequest(c *gin.Context) {
	ctx := c.Request.Context()
	r, err := p.ownRequest(ctx, c.Param("id"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	notes, err := p.service.TokenNotes(ctx, []string{r.TokenID})
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "")
	v.Title = v.T("search.request.title", "ID", strconv.FormatInt(r.ID, 10))
	p.kit.Render(c, v, http.StatusOK, requestPage(v, p.pages, r, notes[r.TokenID]))
}

// toDuration is a time of the log as a duration.
func toDuration(m audit.Millis) time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}
