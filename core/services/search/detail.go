package search

import (
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/texts"
)

const (
	// maxDetail bounds what the audit keeps of an upstream's error, in bytes.
	maxDetail = 300
	// minEcho is the length from which on a text of the request is removed from an upstream's error, in bytes.
	minEcho = 4
	// maxErrorBody bounds the answers in which an error is looked for, in bytes.
	maxErrorBody = 64 << 10
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

// encodeLimit returns what the audit keeps of a refusal.
func (x *Exceeded) encodeLimit() string {
	raw, err := json.Marshal(ReachedLimit{x.Scope, x.Window, x.Limit, x.Used, api.TimeOf(x.ResetAt), x.Needed})
	if err != nil {
		return ""
	}
	return string(raw)
}

// refusalText returns the sentence of the fault that the client got.
func (l *ReachedLimit) refusalText() string {
	x := Exceeded{Scope: l.Scope, Window: l.Window, Limit: l.Limit, Used: l.Used, ResetAt: l.ResetAt.Time, Needed: l.Needed}
	return x.refusalText()
}

// errorSentence returns what an answer says of its error, as one short line; "" for an answer that says nothing in words. The
// body is without the upstream key already. What the answer repeats of the request is replaced: without log_bodies nothing of
// it is stored.
func errorSentence(contentType string, body, request []byte) string {
	if len(body) > maxErrorBody {
		return ""
	}
	text := ""
	switch kind, _, _ := mime.ParseMediaType(contentType); {
	case strings.HasSuffix(kind, "json"):
		var v any
		if json.Unmarshal(body, &v) == nil {
			text = findMessage(v)
		}
	case kind == "text/plain" && utf8.Valid(body):
		text, _, _ = strings.Cut(strings.TrimSpace(string(body)), "\n")
	}
	return texts.OneLine(withoutEcho(texts.OneLine(text, maxErrorBody), request), maxDetail)
}

// findMessage returns the message in the JSON of an error, by the names that services use for it.
func findMessage(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return findMessage(v[0])
		}
	case map[string]any:
		for _, name := range []string{"detail", "error", "message", "msg", "title"} {
			if text := findMessage(v[name]); text != "" {
				return text
			}
		}
	}
	return ""
}

// withoutEcho returns text with the strings of a request's body replaced.
func withoutEcho(text string, request []byte) string {
	var v any
	if json.Unmarshal(request, &v) != nil {
		return text
	}
	var replace func(any)
	replace = func(v any) {
		switch v := v.(type) {
		case string:
			if v = texts.OneLine(v, maxErrorBody); len(v) >= minEcho {
				text = strings.ReplaceAll(text, v, secret.Redacted)
			}
		case []any:
			for _, item := range v {
				replace(item)
			}
		case map[string]any:
			for _, item := range v {
				replace(item)
			}
		}
	}
	replace(v)
	return text
}

// setDetail fills in what the stored detail of a request says.
func (l *RequestLog) setDetail(outcome Outcome, detail string) {
	if outcome != Refused {
		l.ErrorMessage = detail
		return
	}
	var limit ReachedLimit
	if json.Unmarshal([]byte(detail), &limit) == nil && limit.Window != "" {
		l.Limit.Of, l.ErrorMessage = &limit, limit.refusalText()
	}
}
