package console

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestConsoleIsInstallable asks the browser.
func TestConsoleIsInstallable(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.BrowseAlone(t, c)
	b.Open("/system/sign-in")
	got, err := chromedp.Call(b.Ctx, page.GetAppManifest, page.GetAppManifestParams{})
	if err != nil || len(got.Errors) > 0 || got.URL != b.Base+"/manifest.webmanifest" {
		t.Fatalf("manifest %+v, %v", got, err)
	}
	var m struct {
		Name  string
		Icons []struct{ Src string }
	}
	if err := json.Unmarshal([]byte(got.Data), &m); err != nil || m.Name != "Patchbay" || len(m.Icons) < 3 {
		t.Errorf("manifest %+v, %v", m, err)
	}
	bad, err := chromedp.Call(b.Ctx, page.GetInstallabilityErrors, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range bad.InstallabilityErrors {
		// A private window installs nothing, whatever the site.
		if e.ErrorID != "in-incognito" {
			t.Errorf("the console cannot be installed: %s %v", e.ErrorID, e.ErrorArguments)
		}
	}
}
