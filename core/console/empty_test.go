package console_test

import (
	"strings"
	"testing"
)

// TestEmptyListSaysWhatItHides asks each list with a filter for what there is none of.
func TestEmptyListSaysWhatItHides(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	for path, filter := range map[string]string{
		"/system/jobs?type=none-such": "Job: none-such", "/system/jobs?tag=none-such": "Target: none-such",
		"/system/audit?object=none-such": "Object (id or name): none-such",
	} {
		page := v.Get(path)
		if body := page.Body; !strings.Contains(body, "Hidden by the filter: "+filter+".") || !strings.Contains(body, "data-show-all") {
			t.Errorf("%s does not say what it hides: status %d\n%s", path, page.Status, body)
		}
	}
}
