package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// Event is a line of the audit.
type Event struct {
	ID         string   `json:"id"`
	At         api.Time `json:"at"`
	Action     string   `json:"action" example:"api_key.create"`
	Result     string   `json:"result" enum:"ok,refused,failed,started" doc:"started: under way, or the core ended before its end."`
	ActorID    *string  `json:"actorId" doc:"Null for one who is not, or not known to be, a user."`
	ActorName  string   `json:"actorName"`
	Via        auth.Via `json:"via" doc:"session, exchanged_session, api_key, forward, anonymous, developer_session, webhook or command_line."`
	Address    string   `json:"address"`
	TargetID   *string  `json:"targetId" doc:"What it was done to; several ids have spaces between."`
	TargetName string   `json:"targetName"`
	UserID     *string  `json:"userId" doc:"Whose account it is about."`
	Detail     string   `json:"detail"`
	RequestID  *string  `json:"requestId"`
}

func newEvent(e *auth.Event) Event {
	return Event{
		e.ID, api.TimeOfMillis(e.At), e.Action, e.Result, optionalText(e.ActorID), e.ActorName, e.Via, e.Address, optionalText(e.TargetID),
		e.TargetName, optionalText(e.UserID), e.Detail, optionalText(e.RequestID),
	}
}

type (
	eventInput struct {
		User   string    `query:"user" maxLength:"64" doc:"Id of the user whose account it is about."`
		Actor  string    `query:"actor" maxLength:"254" doc:"Id or name of who acted."`
		Action string    `query:"action" maxLength:"200" doc:"Such as session.begin."`
		Object string    `query:"object" maxLength:"254" doc:"Id or name of what it was done to."`
		Result string    `query:"result" enum:"ok,refused,failed,started"`
		From   time.Time `query:"from" doc:"The earliest time."`
		Until  time.Time `query:"until" doc:"The time before which it was."`
		Cursor string    `query:"cursor" maxLength:"2048" doc:"The nextCursor of the page before."`
		Limit  int       `query:"limit" minimum:"1" maximum:"200" default:"50"`
	}
	eventListBody struct {
		Events     []Event `json:"events" nullable:"false"`
		NextCursor *string `json:"nextCursor" doc:"Null on the last page."`
	}
)

func (in *eventInput) eventFilter() auth.EventFilter {
	f := auth.EventFilter{UserID: in.User, Actor: in.Actor, Action: in.Action, Object: in.Object, Result: in.Result, Cursor: in.Cursor,
		Limit: in.Limit}
	if !in.From.IsZero() {
		f.From = in.From.UnixMilli()
	}
	if !in.Until.IsZero() {
		f.Until = in.Until.UnixMilli()
	}
	return f
}

// Audit are the routes of the audit, for administrators: audit, audit/export.
func (s *Sets) Audit(a *api.API, base string) {
	api.Register(a, api.Operation{
		ID: "list-audit", Method: http.MethodGet, Path: base + "/audit", Policy: httpd.Admin, Tag: tagUsers, Summary: "Who changed or saw what",
		Description: "The newest first, for 400 days.",
	}, unscopedOnly(func(ctx context.Context, in *eventInput) (*api.Out[eventListBody], error) {
		rows, next, err := s.cfg.Users.Journal.Events(ctx, in.eventFilter())
		out := &api.Out[eventListBody]{}
		out.Body.NextCursor, out.Body.Events = optionalText(next), make([]Event, len(rows))
		for i := range rows {
			out.Body.Events[i] = newEvent(&rows[i])
		}
		return out, err
	}))
	text := func(name, doc string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	a.Document(httpd.Route{Method: http.MethodGet, Path: base + "/audit/export", Policy: httpd.Admin, Audit: "audit.export",
		Handler: s.exportAudit}, huma.Operation{
		OperationID: "export-audit", Tags: []string{tagUsers}, Summary: "The audit as a file",
		Description: "All that the filters of the list choose, the newest first.",
		Parameters: []*huma.Param{
			{Name: "format", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{httpd.FormatCSV, httpd.FormatNDJSON},
				Default: httpd.FormatCSV}},
			text("user", "As in the list."), text("actor", "As in the list."), text("action", "As in the list."), text("object", "As in the list."),
			text("result", "As in the list."),
			text("from", "A time in RFC 3339."), text("until", "Likewise."),
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "The file", Content: map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}},
				"application/x-ndjson": {Schema: api.Schema[Event](a)}}},
			"400": a.ErrorResponse("A parameter is not valid"), "401": a.ErrorResponse("Nobody is signed in"),
			"403": a.ErrorResponse("Not for this caller"),
		},
	})
}

// exportAudit streams what the filters choose, page by page.
func (s *Sets) exportAudit(c *gin.Context) {
	if _, err := requireUnscoped(c.Request.Context()); err != nil {
		httpd.WriteError(c, err)
		return
	}
	f, format, err := exportQuery(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	rows, next, err := s.cfg.Users.Journal.Events(c.Request.Context(), f)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	file, err := httpd.NewRowFile(c, "patchbay-audit", format, eventColumns)
	for err == nil {
		if err = writeEvents(file, rows); err != nil || next == "" {
			break
		}
		f.Cursor = next
		rows, next, err = s.cfg.Users.Journal.Events(c.Request.Context(), f)
	}
	if err != nil {
		file.Abort(err)
	}
}

var eventColumns = []string{"id", "at", "action", "result", "actorId", "actorName", "via", "address", "targetId", "targetName", "userId",
	"detail", "requestId"}

func writeEvents(file *httpd.RowFile, rows []auth.Event) error {
	for i := range rows {
		e := &rows[i]
		cells := []string{e.ID, api.TimeOfMillis(e.At).String(), e.Action, e.Result, e.ActorID, e.ActorName, string(e.Via), e.Address,
			e.TargetID, e.TargetName, e.UserID, e.Detail, e.RequestID}
		if err := file.Write(newEvent(e), cells); err != nil {
			return err
		}
	}
	return file.Flush()
}

func exportQuery(c *gin.Context) (f auth.EventFilter, format string, err error) {
	f = auth.EventFilter{
		UserID: c.Query("user"), Actor: c.Query("actor"), Action: c.Query("action"), Object: c.Query("object"), Result: c.Query("result"),
		Limit: auth.MaxPage,
	}
	for name, into := range map[string]*int64{"from": &f.From, "until": &f.Until} {
		if text := c.Query(name); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return f, "", fault.New(fault.InvalidArgument, "The parameter %s must be a time in RFC 3339.", name).With("field", name)
			}
			*into = at.UnixMilli()
		}
	}
	if format = c.DefaultQuery("format", httpd.FormatCSV); format != httpd.FormatCSV && format != httpd.FormatNDJSON {
		return f, "", fault.New(fault.InvalidArgument, "The format must be csv or ndjson.").With("field", "format")
	}
	return f, format, nil
}
