package pages

import (
	"strings"
	"testing"
)

// TestNamesPage opens the page in both languages, and looks for it in the navigation.
func TestNamesPage(t *testing.T) {
	svc, b := serveInbox(t)
	for lang, text := range map[string]string{"en": "Mail domains in use:", "zh": "正在使用的邮件域名："} {
		b.SetLanguage(lang)
		if page := b.Get("/mail/names"); page.Status != 200 || !strings.Contains(page.Body, text) || !strings.Contains(page.Body, "inbox.test") {
			t.Errorf("%s: status %d, no %q in\n%s", lang, page.Status, text, page.Body)
		}
	}
	section, err := Section(svc, "/mail", "/mail")
	must(t, err)
	if last := section.Nav[len(section.Nav)-1]; last.TextID != "mail.nav.names" || last.Href != "/mail/names" {
		t.Errorf("the last page of the navigation is %+v", last)
	}
}
