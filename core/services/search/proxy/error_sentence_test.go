package proxy

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/audit"
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
	if len(long) > audit.MaxDetail+len("…") || !strings.HasSuffix(long, "…") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}
