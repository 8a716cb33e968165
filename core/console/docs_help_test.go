package console

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/library"
)

// TestFindHelp: each page of the core and of a service leads to a document that is there.
func TestFindHelp(t *testing.T) {
	for _, tt := range []struct{ service, path, want string }{
		{"mail", "/mail/mailboxes", "/system/docs/mail"}, {"containers", "/stacks", "/system/docs/containers"},
		{"", "/system/plugins/search.docs", "/system/docs/configuration"}, {"", "/system/users", "/system/docs/accounts"},
		{"", "/system", "/system/docs/console"}, {"", "/system/docs/mail", "/system/docs"}, {"unknown", "/unknown", "/system/docs"},
	} {
		if got := findHelp(tt.service, tt.path); got != tt.want {
			t.Errorf("%s %s leads to %s, want %s", tt.service, tt.path, got, tt.want)
		}
	}
	if docsPath != library.Root {
		t.Errorf("the documents are at %s, and their links lead to %s", docsPath, library.Root)
	}
	docs, err := library.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range helpPages {
		if docs.Page(h.page) == nil {
			t.Errorf("%s leads to the page %s, which is missing", h.prefix, h.page)
		}
	}
}
