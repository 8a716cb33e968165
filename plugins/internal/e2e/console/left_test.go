package console

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestConsolePagesAreLeft: pages that are left before their streams have begun keep no connection, of which a browser has six for an
// address without TLS, and one that is shown again has its stream.
func TestConsolePagesAreLeft(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.SetUp(c)
	for range 10 {
		b.Open("/system/plugins")
		b.Open("/system/jobs")
	}
	streams := func(path string) {
		t.Helper()
		kit.Eventually(t, kit.BrowserLimit, "the stream of "+path, func() bool {
			live, err := kit.Evaluate[bool](b, `location.pathname === "`+path+`" && !!document.querySelector("[data-live]")?._htmx?.sse?.reader && !document.querySelector(".cut")`)
			return err == nil && live
		})
	}
	streams("/system/jobs")
	for _, path := range []string{"/system/plugins", "/system/jobs"} {
		b.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
		streams(path)
	}
}
