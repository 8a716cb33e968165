package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestDocumentsInTheConsole: whoever is signed in reads and searches the documents; others are asked to sign in.
func TestDocumentsInTheConsole(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.member)
	for path, want := range map[string][]string{
		"/system/docs":                        {"Get started", "troubleshooting", `href="/system/docs/mail"`},
		"/system/docs/mail":                   {"<h2 id=", `aria-current="page"`, `class="docs-nav"`},
		"/system/docs/adr":                    {"/system/docs/adr/0001-hcl-without-hcldec"},
		"/system/docs/AUTHORING":              {"conformance"},
		"/system/docs?q=reverse+proxy":        {`href="/system/docs/reverse-proxy"`},
		"/system/docs?q=indexed+by+a+service": {`<div class="docs-hit" lang="en"><a href="/system/docs/mail">`},
		"/system/docs?q=%3Cscript%3E":         {"&lt;script&gt;"},
		"/system/users":                       {},
	} {
		page := v.Get(path)
		if len(want) > 0 && page.Status != http.StatusOK {
			t.Errorf("%s: status %d", path, page.Status)
		}
		for _, w := range want {
			if !strings.Contains(page.Body, w) {
				t.Errorf("%s lacks %s", path, w)
			}
		}
	}
	picture := v.Get("/system/docs/files/architecture.svg")
	if picture.Status != http.StatusOK || picture.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the picture: status %d, %s", picture.Status, picture.Header.Get("Content-Type"))
	}
	for _, path := range []string{"/system/docs/nothing", "/system/docs/files/none.png", "/system/docs/files/..%2fconsole.go"} {
		if got := v.Get(path); got.Status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got.Status)
		}
	}
	if got := s.visitor().Get("/system/docs/mail"); strings.Contains(got.Body, "docs-text") {
		t.Error("a visitor who is not signed in reads the documents")
	}
	if account := v.Get("/system/account"); !strings.Contains(account.Body, `href="/system/docs/accounts"`) {
		t.Error("the account page has no link to its document")
	}
}
