package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestConsolePagesAreLeft: pages that are left before their streams have begun keep no connection, of which a browser has six for an
// address without TLS, and one that is shown again has its stream.
func TestConsolePagesAreLeft(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.setUp(c)
	for range 10 {
		b.open("/system/plugins")
		b.open("/system/jobs")
	}
	streams := func(path string) {
		t.Helper()
		eventually(t, browserLimit, "the stream of "+path, func() bool {
			live, err := evaluate[bool](b, `location.pathname === "`+path+`" && !!document.querySelector("[data-live]")?._htmx?.sse?.reader && !document.querySelector(".cut")`)
			return err == nil && live
		})
	}
	streams("/system/jobs")
	for _, path := range []string{"/system/plugins", "/system/jobs"} {
		b.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
		streams(path)
	}
}
