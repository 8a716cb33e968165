package api

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// logHandlers serve the log of requests and its sums.
type logHandlers struct {
	log *audit.Log
	// catalog returns what requests can be filtered by at present.
	catalog func() audit.LogCatalog
}

type logQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"300" doc:"nextCursor or prevCursor of another page."`
	LogQuery
}

// LogQuery are the filters of the log.
type LogQuery struct {
	TokenID    string    `query:"auth_token_id" maxLength:"8"`
	KeyID      string    `query:"key_id" maxLength:"12"`
	Operations []string  `query:"operation,explode" maxItems:"10" doc:"Repeatable."`
	Results    []string  `query:"result,explode" maxItems:"5" doc:"Repeatable: success, error, refused, interrupted, open."`
	Statuses   []int     `query:"http_status,explode" maxItems:"20" doc:"Repeatable."`
	Backend    string    `query:"backend" maxLength:"100"`
	RequestID  string    `query:"request_id" maxLength:"128" doc:"An id that this service has made."`
	Since      time.Time `query:"since" doc:"From this moment on."`
	Until      time.Time `query:"until" doc:"Before this moment."`
}

func (q *LogQuery) toFilter() audit.LogFilter {
	f := audit.LogFilter{
		KeyID: q.KeyID, Operations: q.Operations, Outcomes: q.Results, Backend: q.Backend, Statuses: q.Statuses, RequestID: q.RequestID,
		Since: q.Since, Until: q.Until,
	}
	if q.TokenID != "" {
		f.TokenIDs = []string{q.TokenID}
	}
	return f
}

func (h *logHandlers) listLogs(ctx context.Context, in *logQuery) (*api.Out[audit.LogPage], error) {
	return api.AnswerWith(h.log.Requests(ctx, in.toFilter(), in.Cursor, in.Limit))
}

type logPath struct {
	ID int64 `path:"id" minimum:"1"`
}

func (h *logHandlers) logDetails(ctx context.Context, in *logPath) (*api.Out[audit.RequestDetails], error) {
	return api.AnswerWith(h.log.Request(ctx, in.ID))
}

func (h *logHandlers) logFacets(context.Context, *struct{}) (*api.Out[audit.LogCatalog], error) {
	return api.AnswerWith(h.catalog(), nil)
}
