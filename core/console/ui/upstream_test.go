package ui

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// TestEveryClassOfFailureHasItsOwnText: what a provider's failure means is told in both languages, and no two classes share a text.
func TestEveryClassOfFailureHasItsOwnText(t *testing.T) {
	texts, err := NewTexts(OwnTexts())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, class := range fault.UpstreamClasses {
		message := strings.Replace(strings.Replace(class.Message, "%s", "dns.one", 1), "%s", "1m30s", 1)
		if got := texts.Text(English, "detail.upstream."+class.Name, "Name", "dns.one", "Time", "1m30s"); got != message {
			t.Errorf("%s is %q in the console, and %q in the API", class.Name, got, message)
		}
		chinese, known := texts.Detail(Chinese, message)
		if !known || chinese == message || seen[chinese] != "" {
			t.Errorf("%s is %q in Chinese, as is %s", class.Name, chinese, seen[chinese])
		}
		seen[chinese] = class.Name
	}
}
