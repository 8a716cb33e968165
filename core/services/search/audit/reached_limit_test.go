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
	x.Needed, x.Scope, x.Limit, x.Used = 40, "credits", 100, 70
	var reserved RequestLog
	reserved.setDetail(Refused, x.Encode())
	if want := "The call reserves 40 credits, and 70 are used or reserved of the access token's hourly limit of 100 credits."; reserved.ErrorMessage != want {
		t.Errorf("message: %s, want: %s", reserved.ErrorMessage, want)
	}
	var old RequestLog
	if old.setDetail(Refused, ""); old.Limit.Of != nil || old.ErrorMessage != "" {
		t.Errorf("a row without detail: %+v", old)
	}
}
