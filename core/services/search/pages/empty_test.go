package pages

import (
	"strings"
	"testing"
)

// TestEmptyListSaysWhatItHides asks each list with a filter for what there is none of.
func TestEmptyListSaysWhatItHides(t *testing.T) {
	s := newSite(t)
	v := s.as(s.admin, "en")
	for path, filter := range map[string]string{
		"/search/tokens?q=none-such": "Id, note or group: none-such", "/search/keys?group=none-such": "Group: none-such",
		"/search/requests?operation=map": "Operation: map",
	} {
		page := v.Get(path)
		if body := page.Body; !strings.Contains(body, "Hidden by the filter: "+filter+".") || !strings.Contains(body, "data-show-all") {
			t.Errorf("%s does not say what it hides: status %d\n%s", path, page.Status, body)
		}
	}
}
