package api

import (
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// handleUserLogEvents sends the requests of the caller's tokens as they end, without the upstream key.
func (h *userHandlers) handleUserLogEvents(c *gin.Context) {
	user := auth.From(c.Request.Context()).User.ID
	h.logs.followLog(c, func(r *audit.RequestLog) bool {
		r.KeyID = ""
		// Asked anew for each request: tokens are made, and given to others, while a stream goes on.
		return h.access.Table().IsOwner(r.TokenID, user) && matchesFilter(c.Query("auth_token_id"), r.TokenID)
	})
}

// handleLogEvents sends each request as it ends, as event "request" with the row as in the list. A reader that was too slow gets
// "lagged" and reads the list again.
func (h *logHandlers) handleLogEvents(c *gin.Context) {
	h.followLog(c, func(r *audit.RequestLog) bool {
		return matchesFilter(c.Query("auth_token_id"), r.TokenID) && matchesFilter(c.Query("key_id"), r.KeyID) &&
			matchesFilter(c.Query("operation"), r.Operation) &&
			matchesFilter(c.Query("result"), r.ResultStatus)
	})
}

func matchesFilter(wanted, have string) bool { return wanted == "" || wanted == have }

func (h *logHandlers) followLog(c *gin.Context, wanted func(*audit.RequestLog) bool) {
	last, err := httpd.LastEventID(c)
	sub := h.log.Live()
	defer sub.Close()
	var missed []audit.RequestLog
	if err == nil && last > 0 {
		missed, err = h.log.ReadRequests(c.Request.Context(), audit.LogFilter{}, 0, last, maxReplay)
	}
	sendMissed := func(out *httpd.Events) error {
		for i := range missed {
			r := &missed[i]
			if r.ResultStatus == audit.Open.String() || !wanted(r) {
				continue
			}
			if err := out.SendJSON(r.ID, "request", r); err != nil {
				return err
			}
		}
		if len(missed) == maxReplay {
			return out.Send(0, "lagged", []byte("{}"))
		}
		return nil
	}
	if err == nil {
		err = auth.StreamEvents(c, sendMissed, sub.Events(), func(out *httpd.Events, ev event.Event) error {
			if ev.Lagged {
				return out.Send(0, "lagged", []byte("{}"))
			}
			r, ok := ev.Data.(audit.RequestLog)
			if !ok || !wanted(&r) {
				return nil
			}
			return out.SendJSON(r.ID, "request", &r)
		})
	}
	if err != nil {
		writeError(c, err)
	}
}

// maxReplay is how many requests a reader that comes back is told at once; one who missed more gets "lagged" after them.
const maxReplay = 200
