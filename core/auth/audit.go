package auth

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// ViaWebhook is the way of a webhook, whose secret or signature its handler checks.
const ViaWebhook Via = "webhook"

// Journal keeps the audit: what users did, and what was refused.
type Journal struct{ cfg Config }

// AuditRequests writes the audit of requests: a row with the result "started" before the handler runs, which gets its result
// with the answer. A request whose row cannot be written is refused.
func (j *Journal) AuditRequests() httpd.Audit {
	return func(c *gin.Context, action, object string) (func(int, string), error) {
		ctx := context.WithoutCancel(c.Request.Context())
		if From(ctx) == nil {
			ctx = Acting(ctx, Actor{Name: string(ViaWebhook), Via: ViaWebhook, Address: httpd.ClientAddr(c)})
		}
		e := Event{ID: store.NewID("evt"), Action: action, Result: ResultStarted, TargetID: texts.Limit(object, maxDetail),
			RequestID: httpd.RequestID(c)}
		err := j.cfg.Store.Tx(ctx, "begin audit row", func(ctx context.Context) error { return j.recordEvent(ctx, e) })
		if err != nil {
			return nil, wrapStoreError("write the audit", err)
		}
		return func(status int, object string) { j.completeRow(ctx, e.ID, status, object) }, nil
	}
}

func (j *Journal) completeRow(ctx context.Context, id string, status int, object string) {
	values := map[string]any{"result": resultByStatus(status), "target_id": texts.Limit(object, maxDetail),
		"detail": fmt.Sprintf("status %d", status)}
	err := j.cfg.Store.Tx(ctx, "complete audit row", func(ctx context.Context) error {
		return j.cfg.Store.Writer(ctx).Model(&Event{}).Where("id = ?", id).Updates(values).Error
	})
	if err != nil {
		j.cfg.Logger.Error("audit event has no result", "event", id, "status", status, "error", err)
	}
}

func resultByStatus(status int) string {
	switch {
	case status >= http.StatusInternalServerError:
		return ResultFailed
	case status >= http.StatusBadRequest:
		return ResultRefused
	}
	return ResultOK
}

// Record writes what was done without a request, by whom the context names as acting, and with what result.
func (j *Journal) Record(ctx context.Context, action, object string, failure error) error {
	e := Event{Action: action, TargetID: texts.Limit(object, maxDetail), Result: ResultOK}
	if failure != nil {
		e.Result, e.Detail = ResultFailed, string(fault.CodeOf(failure))
	}
	return j.cfg.Store.Tx(ctx, "write audit row", func(ctx context.Context) error { return j.recordEvent(ctx, e) })
}

// Actions are the actions that the audit holds, in alphabetical order.
func (j *Journal) Actions(ctx context.Context) (out []string, err error) {
	// Each step finds the next one by the index: to look for what is distinct reads all of the audit.
	err = j.cfg.Store.DB(ctx).Raw("WITH RECURSIVE actions(action) AS (SELECT MIN(action) FROM account_events UNION ALL " +
		"SELECT (SELECT MIN(action) FROM account_events WHERE action > actions.action) FROM actions WHERE action IS NOT NULL) " +
		"SELECT action FROM actions WHERE action IS NOT NULL ORDER BY action").Scan(&out).Error
	return out, wrapStoreError("list the actions of the audit", err)
}
