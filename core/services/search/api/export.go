package api

import (
	"context"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// ExportPage is how many requests of an export are read at once.
const ExportPage = 500

type exportQuery struct {
	LogQuery
	Format string `query:"format" enum:"csv,ndjson" default:"csv"`
}

// exportLogs streams the requests that the filters of the list choose, the newest first.
func (h *logHandlers) exportLogs(ctx context.Context, in *exportQuery) (*huma.StreamResponse, error) {
	return h.exportLog(ctx, in.Format, in.toFilter(), func(*audit.RequestLog) {})
}

// exportUserLogs is exportLogs for the requests of the caller's tokens.
func (h *userHandlers) exportUserLogs(ctx context.Context, in *exportQuery) (*huma.StreamResponse, error) {
	f, found, err := h.ownLogs(ctx, &in.LogQuery)
	if err != nil {
		return nil, err
	}
	if !found {
		return h.logs.exportFile(in.Format, f, nil, hideKey), nil
	}
	return h.logs.exportLog(ctx, in.Format, f, hideKey)
}

// exportLog reads the first page, so that what is wrong with the filters is an answer, and returns what writes the file.
func (h *logHandlers) exportLog(ctx context.Context, format string, f audit.LogFilter,
	change func(*audit.RequestLog)) (*huma.StreamResponse, error) {
	rows, err := h.log.ReadRequests(ctx, f, 0, 0, ExportPage)
	if err != nil {
		return nil, err
	}
	return h.exportFile(format, f, rows, change), nil
}

// exportFile returns what writes a file; rows are its first page.
func (h *logHandlers) exportFile(format string, f audit.LogFilter, rows []audit.RequestLog,
	change func(*audit.RequestLog)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) { h.writeExport(humagin.Unwrap(hc), format, f, rows, change) }}
}

// writeExport writes page after page; rows are the first one.
func (h *logHandlers) writeExport(c *gin.Context, format string, f audit.LogFilter, rows []audit.RequestLog,
	change func(*audit.RequestLog)) {
	file, err := httpd.NewRowFile(c, "patchbay-requests", format, exportColumns)
	for err == nil {
		for i := range rows {
			r := &rows[i]
			change(r)
			if err = file.Write(*r, csvCells(r)); err != nil {
				break
			}
		}
		if err == nil {
			err = file.Flush()
		}
		if err != nil || len(rows) < ExportPage {
			break
		}
		rows, err = h.log.ReadRequests(c.Request.Context(), f, rows[len(rows)-1].ID, 0, ExportPage)
	}
	if err != nil {
		file.Abort(err)
	}
}

// exportColumns are the members of RequestLog, save for the limit, which error_message tells.
var exportColumns = []string{
	"id", "created_at", "request_id", "auth_token_id", "key_id", "backend", "operation", "result_status", "http_status", "upstream_status",
	"business_credits",
	"duration_ms", "upstream_ms", "plugin_ms", "attempts", "request_body_bytes", "response_body_bytes", "client_ip", "error_code", "cached",
	"error_message",
}

// csvCells returns the values of a row in the order of exportColumns.
func csvCells(r *audit.RequestLog) []string {
	n := func(v int) string { return strconv.Itoa(v) }
	ms := func(v audit.Millis) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
	return []string{
		strconv.FormatInt(r.ID, 10), r.CreatedAt.String(), r.RequestID, r.TokenID, r.KeyID, r.Backend, r.Operation, r.ResultStatus,
		n(r.HTTPStatus), n(r.UpstreamStatus),
		strconv.FormatInt(r.Credits, 10), ms(r.DurationMS), ms(r.UpstreamMS), ms(r.PluginMS), n(r.Attempts), n(r.RequestBytes),
		n(r.ResponseBytes), r.ClientIP,
		r.ErrorCode, strconv.FormatBool(r.Cached), r.ErrorMessage,
	}
}
