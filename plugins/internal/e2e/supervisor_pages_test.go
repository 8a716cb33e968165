package e2e

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestSupervisorPage upgrades and rolls back in the page, which shows each step by itself, in every look, and works without
// scripts.
func TestSupervisorPage(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, dockertest.NewestCompose(t))
	b := browse(t, s.core)
	source := axe(t)

	b.open("/supervisor/")
	b.shows("No upgrade yet")
	b.picture("supervisor-empty")
	b.inspect(source, "the empty page")
	s.push(t, "latest", answering("1.1.0"))
	b.press("#upgrade [value='dry-run']", "#operations")
	b.shows("Would replace version 1.0.0")
	b.press("#upgrade [value=apply]", ".operation + .operation")
	b.shows("The core runs version 1.1.0")
	s.push(t, "broken", crashing("1.2.0"))
	b.fillIn("#tag", "broken")
	b.press("#upgrade [value=apply]", ".operation:nth-of-type(3)")
	b.shows("The former core runs again.")
	b.walk("supervisor", "/supervisor/", source, wide, narrow)
	b.as(wide)
	b.open("/supervisor/")
	b.expect("400")
	b.fillIn("#tag", "no tag")
	b.press("#upgrade [value=apply]", "#tag-error")
	b.inspect(source, "a refused upgrade")
	b.picture("supervisor-refused")

	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open("/supervisor/")
	b.press("#state .ask summary", "#state .asked form button")
	b.press("#state .asked form button", "#state .pill.info")
	s.ends("rolled_back")
	b.open("/supervisor/")
	b.shows("It was asked for by hand.")
	s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
}
