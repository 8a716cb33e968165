package audit

import (
	"encoding/json"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// ReachedLimit is the limit of an access token that has refused a request.
type ReachedLimit struct {
	Scope   string   `json:"scope" enum:"requests,credits"`
	Window  string   `json:"window" enum:"minute,hour,day,month"`
	Limit   int64    `json:"limit" example:"100"`
	Used    int64    `json:"used" example:"100"`
	ResetAt api.Time `json:"reset_at"`
	Needed  int64    `json:"needed,omitempty" doc:"The credits that the call would have reserved, where that is why it was refused."`
}

// Encode returns what the audit keeps of a refusal.
func (l *ReachedLimit) Encode() string {
	raw, err := json.Marshal(l)
	if err != nil {
		return ""
	}
	return string(raw)
}

// RefusalText returns a sentence with the limit that is used up, or that the call does not fit into.
func (l *ReachedLimit) RefusalText() string {
	limit := fmt.Sprintf("%s of %d %s", windowName[l.Window], l.Limit, l.Scope)
	switch {
	case l.Needed == 0:
		return fmt.Sprintf("The access token has used its %s.", limit)
	case l.Needed > l.Limit:
		return fmt.Sprintf("The call reserves %d credits, more than the access token's %s.", l.Needed, limit)
	}
	return fmt.Sprintf("The call reserves %d credits, and %d are used or reserved of the access token's %s.", l.Needed, l.Used, limit)
}

var windowName = map[string]string{"minute": "limit by the minute", "hour": "hourly limit", "day": "daily limit", "month": "monthly limit"}

// MaxDetail bounds what the audit keeps of an upstream's error, in bytes.
const MaxDetail = 300

// setDetail fills in what the stored detail of a request says.
func (l *RequestLog) setDetail(outcome Outcome, detail string) {
	if outcome != Refused {
		l.ErrorMessage = detail
		return
	}
	var limit ReachedLimit
	if json.Unmarshal([]byte(detail), &limit) == nil && limit.Window != "" {
		l.Limit.Of, l.ErrorMessage = &limit, limit.RefusalText()
	}
}
