package supervisor

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestSupervisorPage upgrades and rolls back in the page, which shows each step by itself, in every look, and works without
// scripts.
func TestSupervisorPage(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, dockertest.NewestCompose(t))
	b := kit.Browse(t, s.Core)
	source := kit.ReadAxe(t)

	b.Open("/supervisor/")
	b.Shows("No upgrade yet")
	b.Picture("supervisor-empty")
	b.Inspect(source, "the empty page")
	pushImage(t, s, "latest", answering("1.1.0"))
	b.Press("#upgrade [value='dry-run']", "#operations")
	b.Shows("Would replace version 1.0.0")
	b.Press("#upgrade [value=apply]", ".operation + .operation")
	b.Shows("The core runs version 1.1.0")
	pushImage(t, s, "broken", crashing("1.2.0"))
	b.FillIn("#tag", "broken")
	b.Press("#upgrade [value=apply]", ".operation:nth-of-type(3)")
	b.Shows("The former core runs again.")
	b.Walk("supervisor", "/supervisor/", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	b.Open("/supervisor/")
	b.Expect("400")
	b.FillIn("#tag", "no tag")
	b.Press("#upgrade [value=apply]", "#tag-error")
	b.Inspect(source, "a refused upgrade")
	b.Picture("supervisor-refused")

	if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.Open("/supervisor/")
	b.Press("#state .ask summary", "#state .asked form button")
	b.Press("#state .asked form button", "#state .pill.info")
	waitForState(s, "rolled_back")
	b.Open("/supervisor/")
	b.Shows("It was asked for by hand.")
	askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
}
