package audit

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// The words of a refusal are those of its fault, and survive the way through the database.
func TestDetailOfARefusal(t *testing.T) {
	x := &ReachedLimit{Scope: "requests", Window: "hour", Limit: 5, Used: 6, ResetAt: api.TimeOf(time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))}
	var l RequestLog
	l.setDetail(Refused, x.Encode())
	if l.Limit.Of == nil || l.Limit.Of.Used != 6 || l.Limit.Of.Limit != 5 || !l.Limit.Of.ResetAt.Equal(x.ResetAt.Time) {
		t.Errorf("limit: %+v", l.Limit.Of)
	}
	if l.ErrorMessage != "The access token has used its hourly limit of 5 requests." {
		t.Errorf("message: %s", l.ErrorMessage)
	}
	var old RequestLog
	if old.setDetail(Refused, ""); old.Limit.Of != nil || old.ErrorMessage != "" {
		t.Errorf("a row without detail: %+v", old)
	}
}
