package search

import (
	"strings"
	"testing"
	"time"
)

func TestErrorSentence(t *testing.T) {
	request := []byte(`{"query":"salary of Ann","include_domains":["wiki.example"],"topic":"no"}`)
	for _, tt := range []struct{ name, kind, body, want string }{
		{"nested", "application/json", `{"detail":{"error":"Invalid max_results.\nUse 0 to 20."}}`, "Invalid max_results. Use 0 to 20."},
		{"text member", "application/json; charset=utf-8", `{"error":"Slow down"}`, "Slow down"},
		{"validation", "application/problem+json", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, "field required"},
		{"echo", "application/json", `{"error":"no result for salary of Ann on wiki.example, no"}`, "no result for [redacted] on [redacted], no"},
		{"plain", "text/plain", "upstream is down\nand more", "upstream is down"},
		{"page", "text/html", "<h1>Bad gateway</h1>", ""},
		{"no words", "application/json", `{"code":17}`, ""},
		{"broken", "application/json", `{"error":`, ""},
	} {
		if got := errorSentence(tt.kind, []byte(tt.body), request); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	long := errorSentence("text/plain", []byte(strings.Repeat("long ", 1000)), nil)
	if len(long) > maxDetail+len("…") || !strings.HasSuffix(long, "…") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}

// The words of a refusal are those of its fault, and survive the way through the database.
func TestDetailOfARefusal(t *testing.T) {
	x := &Exceeded{Scope: "requests", Window: "hour", Limit: 5, Used: 6, ResetAt: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	var l RequestLog
	l.setDetail(Refused, x.reachedLimit().encode())
	if l.Limit.Of == nil || l.Limit.Of.Used != 6 || l.Limit.Of.Limit != 5 || !l.Limit.Of.ResetAt.Equal(x.ResetAt) {
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
