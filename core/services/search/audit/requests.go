package audit

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// RequestLog is a request in the log.
type RequestLog struct {
	ID             int64    `json:"id"`
	CreatedAt      api.Time `json:"created_at" example:"2026-01-31T12:00:00.000Z"`
	RequestID      string   `json:"request_id" example:"req_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	TokenID        string   `json:"auth_token_id" example:"a1B2"`
	KeyID          string   `json:"key_id" doc:"Empty where no upstream key was used." example:"a1B2c3"`
	Backend        string   `json:"backend" doc:"The instance that answered; empty if none was asked." example:"search.web"`
	Operation      string   `json:"operation" example:"search"`
	ResultStatus   string   `json:"result_status" enum:"open,success,error,refused,interrupted"`
	HTTPStatus     int      `json:"http_status" doc:"What the client saw; 0 while the request is open." example:"200"`
	UpstreamStatus int      `json:"upstream_status" doc:"0 if no upstream has answered." example:"200"`
	Credits        int64    `json:"business_credits" example:"1"`
	DurationMS     Millis   `json:"duration_ms" example:"412.5"`
	UpstreamMS     Millis   `json:"upstream_ms" example:"400.2"`
	PluginMS       Millis   `json:"plugin_ms" doc:"What the call to the provider took beyond the upstream's time." example:"1.3"`
	Attempts       int      `json:"attempts"`
	RequestBytes   int      `json:"request_body_bytes"`
	ResponseBytes  int      `json:"response_body_bytes"`
	ClientIP       string   `json:"client_ip" example:"192.0.2.7"`
	ErrorCode      string   `json:"error_code"`
	Cached         bool     `json:"cached" doc:"The answer was kept from an earlier request: it cost no credit."`
	// ErrorMessage is shown to whoever may see the request.
	ErrorMessage string                     `json:"error_message" doc:"What the upstream said of its error, shortened and without what the request said; empty for a success."`
	Limit        api.Optional[ReachedLimit] `json:"limit" doc:"The limit of the access token that has refused the request, or null."`
}

// Millis is a time in milliseconds, exact to the microsecond.
type Millis float64

func toMillis(us int64) Millis { return Millis(float64(us) / 1000) }

func (r *requestRow) toLog() RequestLog {
	l := RequestLog{
		ID: r.ID, CreatedAt: api.TimeOfMillis(r.Time), RequestID: r.RequestID, TokenID: r.TokenID, KeyID: r.KeyID, Backend: r.Backend,
		Operation: r.Operation, ResultStatus: r.Outcome.String(), HTTPStatus: r.Status, UpstreamStatus: r.UpstreamStatus, Credits: r.Credits,
		DurationMS: toMillis(r.DurationUS), UpstreamMS: toMillis(r.UpstreamUS), PluginMS: toMillis(r.PluginUS), Attempts: r.Attempts,
		RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, ClientIP: r.Client, ErrorCode: r.ErrorCode, Cached: r.Cached,
	}
	l.setDetail(r.Outcome, r.Detail)
	return l
}

// toLog returns the row of a request that has just been written.
func (e *Entry) toLog() RequestLog {
	r := requestRow{
		ID: e.ID, Time: e.Time.UnixMilli(), RequestID: e.RequestID, TokenID: e.TokenID, KeyID: e.KeyID, Backend: e.Backend,
		Operation: e.Operation,
		Outcome:   e.Outcome, Status: e.Status, UpstreamStatus: e.Upstream, Credits: e.Credits, DurationUS: e.Duration.Microseconds(),
		UpstreamUS: e.UpstreamTime.Microseconds(), PluginUS: e.PluginTime.Microseconds(), Attempts: e.Attempts,
		RequestBytes: e.RequestBytes, ResponseBytes: e.ResponseBytes, Client: e.Client, ErrorCode: e.ErrorCode, Cached: e.Cached,
		Detail: e.Detail,
	}
	return r.toLog()
}

// LogPage is a page of requests.
type LogPage struct {
	Items      []RequestLog `json:"items" doc:"The newest first."`
	PageSize   int          `json:"pageSize"`
	NextCursor *string      `json:"nextCursor" doc:"The older page; null if there is none."`
	PrevCursor *string      `json:"prevCursor" doc:"The newer page; null on the first."`
}

// logPosition is where a page begins: before or after an id.
type logPosition struct {
	Before int64 `json:"b,omitempty"`
	After  int64 `json:"a,omitempty"`
}

// Requests is a page of the log.
func (l *Log) Requests(ctx context.Context, f LogFilter, cursor string, limit int) (LogPage, error) {
	out := LogPage{Items: []RequestLog{}, PageSize: limit}
	var at logPosition
	if cursor != "" {
		if err := store.DecodeCursor(cursor, &at); err != nil {
			return out, fault.InvalidField("cursor", "The cursor is not valid for this list.")
		}
	}
	rows, err := l.Store.ListRequests(ctx, f, at.Before, at.After, limit+1)
	if err != nil {
		return out, err
	}
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	if at.After > 0 {
		slices.Reverse(rows)
	}
	for i := range rows {
		out.Items = append(out.Items, rows[i].toLog())
	}
	if len(rows) == 0 {
		return out, nil
	}
	// Backwards there is a page whence we came; forwards, if more than fits was found.
	older, newer := more || at.After > 0, at.Before > 0 || at.After > 0 && more
	if older {
		if out.NextCursor, err = newCursor(logPosition{Before: rows[len(rows)-1].ID}); err != nil {
			return out, err
		}
	}
	if newer {
		out.PrevCursor, err = newCursor(logPosition{After: rows[0].ID})
	}
	return out, err
}

func newCursor(p logPosition) (*string, error) {
	text, err := store.EncodeCursor(p)
	return &text, err
}

// RequestDetails is a request with its bodies.
type RequestDetails struct {
	RequestLog
	RequestBody  *string `json:"request_body" doc:"Null unless bodies are kept. Tokens and keys are not part of it."`
	ResponseBody *string `json:"response_body"`
}

// Request is one request, with its bodies where they are kept.
func (l *Log) Request(ctx context.Context, id int64) (RequestDetails, error) {
	row, body, err := l.Store.FindRequest(ctx, id)
	return RequestDetails{row.toLog(), asText(body.Request), asText(body.Response)}, err
}

func asText(body []byte) *string {
	if body == nil {
		return nil
	}
	text := texts.Valid(string(body))
	return &text
}

// ReadRequests returns requests that a filter chooses before an id (the newest first) or after one (the oldest first); 0 is no
// bound.
func (l *Log) ReadRequests(ctx context.Context, f LogFilter, before, after int64, limit int) ([]RequestLog, error) {
	rows, err := l.Store.ListRequests(ctx, f, before, after, limit)
	if err != nil {
		return nil, err
	}
	return lists.ConvertAll(rows, func(r requestRow) RequestLog { return r.toLog() }), nil
}

// LogCatalog is what requests can be filtered by.
type LogCatalog struct {
	RetentionDays int      `json:"retentionDays"`
	Operations    []string `json:"operations"`
	Results       []string `json:"results"`
	Backends      []string `json:"backends"`
}
