package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
)

// auditView is a page of the audit.
type auditView struct {
	Actor, Action, Object, Result, From, Until, Cursor string
	Actions                                            []string
	Events                                             []auth.Event
	Next                                               string
}

// auditResults are what the audit can be filtered by.
func auditResults() []string {
	return []string{auth.ResultOK, auth.ResultRefused, auth.ResultFailed, auth.ResultStarted}
}

func (h *userPages) showAudit(gc *gin.Context) {
	a := auditView{
		Actor: gc.Query("actor"), Action: gc.Query("action"), Object: gc.Query("object"), Result: gc.Query("result"), From: gc.Query("from"),
		Until: gc.Query("until"), Cursor: gc.Query("cursor"),
	}
	f := auth.EventFilter{Actor: a.Actor, Action: a.Action, Object: a.Object, Result: a.Result, Cursor: a.Cursor, Limit: auditPage}
	// A malformed date sets no bound.
	if at, err := time.Parse(time.DateOnly, a.From); err == nil {
		f.From = at.UnixMilli()
	}
	if at, err := time.Parse(time.DateOnly, a.Until); err == nil {
		f.Until = at.AddDate(0, 0, 1).UnixMilli()
	}
	var next string
	var err error
	if a.Events, next, err = h.cfg.Users.Journal.Events(gc.Request.Context(), f); err == nil {
		a.Actions, err = h.cfg.Users.Journal.Actions(gc.Request.Context())
	}
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	if next != "" {
		q := a.filterQuery()
		q.Set("cursor", next)
		a.Next = auditPath + "?" + q.Encode()
	}
	v := h.kit.View(gc, "audit.title")
	h.kit.Render(gc, v, http.StatusOK, auditPageOf(v, a))
}

// filterQuery are the filters in an address.
func (a auditView) filterQuery() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"actor": a.Actor, "action": a.Action, "object": a.Object, "result": a.Result, "from": a.From,
		"until": a.Until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// exportURL is the address of a file with what the filters choose.
func (a auditView) exportURL(format string) string {
	q := a.filterQuery()
	q.Set("format", format)
	for name, days := range map[string]int{"from": 0, "until": 1} {
		q.Del(name)
		text := map[string]string{"from": a.From, "until": a.Until}[name]
		if at, err := time.Parse(time.DateOnly, text); err == nil {
			q.Set(name, at.AddDate(0, 0, days).Format(time.RFC3339))
		}
	}
	return "/system/api/audit/export?" + q.Encode()
}
