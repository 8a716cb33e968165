package mail_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// localesDir has the texts of the pages.
var localesDir = filepath.Join("pages", "locales")

// pageTexts returns the texts of the pages, with those that all services share.
var pageTexts = sync.OnceValues(func() (*ui.Texts, error) { return ui.NewTexts(ui.OwnTexts(), os.DirFS(localesDir)) })

// wantPageText fails unless the pages can tell what a domain says in their language.
func wantPageText(t *testing.T, why string) {
	t.Helper()
	texts, err := pageTexts()
	must(t, err)
	if _, ok := texts.Detail(ui.Chinese, why); !ok {
		t.Errorf("pages in Chinese do not know the text %q", why)
	}
}

// TestProvisionErrorsAreTranslated: the words of the provider stay as they are within a text of ours.
func TestProvisionErrorsAreTranslated(t *testing.T) {
	texts, err := pageTexts()
	must(t, err)
	const why = "The domain could not be deleted, which is tried again: The DNS provider refused the credentials: dns.example: no"
	if got, _ := texts.Detail(ui.Chinese, why); got != "无法删除域名，稍后会再次尝试：DNS 服务商拒绝了凭据：dns.example: no" {
		t.Errorf("got %q", got)
	}
}

// TestProvisionErrorsOfPluginsAreTranslated: so are those of a provider that was not reached at all.
func TestProvisionErrorsOfPluginsAreTranslated(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		for _, failed := range []error{
			client.ErrOtherPlugin, errors.New("unknown"),
			fault.NotRunning("dns.fake", errors.New("unknown")),
			fault.New(fault.PluginUnavailable, "The provider %q is not available at the moment (%s).", "dns", "restarting"),
		} {
			s.dns.Fail("EnableRouting", failed)
			s.call(s.admin, "POST", at+"/retry", nil)
			s.wantDomain("active", true)
		}
	})
}

// TestTextsNameTheButtons: a text that tells to check a domain again, or to disable it, names the button as the page does.
func TestTextsNameTheButtons(t *testing.T) {
	locale := func(lang string) (out map[string]any) {
		raw, err := os.ReadFile(filepath.Join(localesDir, lang+".json"))
		must(t, err)
		must(t, json.Unmarshal(raw, &out))
		return out
	}
	en, zh := locale(ui.English), locale(ui.Chinese)
	for _, button := range []string{"mail.domain.retry", "mail.domain.disable"} {
		named := 0
		for id, text := range en {
			text, _ := text.(string)
			if strings.Contains(text, "try the domain again") {
				t.Errorf("%s does not name the button: %s", id, text)
			}
			if !strings.Contains(text, `"`+en[button].(string)+`"`) {
				continue
			}
			if named++; !strings.Contains(zh[id].(string), "“"+zh[button].(string)+"”") {
				t.Errorf("%s does not name the button in Chinese: %s", id, zh[id])
			}
		}
		if named == 0 {
			t.Errorf("no text names the button %s", button)
		}
	}
}
