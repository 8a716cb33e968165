package pages

import (
	"strings"
	"testing"
)

// TestEmptyListSaysWhatItHides asks each list with a filter for what there is none of.
func TestEmptyListSaysWhatItHides(t *testing.T) {
	s := newSite(t, "/containers/")
	v := s.as(s.admin, "en")
	for path, filter := range map[string]string{
		"/stacks?q=none-such": "Stack, service or image: none-such", "/discovery?archived=only": "Archived: Only archived",
		"/queue/version-inference?q=none-such": "Image, digest or version: none-such",
		"/host-packages?q=none-such":           "Repository: none-such", "/host-packages?decision=rejected": "Inbox: refused",
	} {
		page := v.get(path)
		if body := page.Body; !strings.Contains(body, "Hidden by the filter: "+filter+".") || !strings.Contains(body, "data-show-all") {
			t.Errorf("%s does not say what it hides: status %d\n%s", path, page.Status, body)
		}
	}
}
