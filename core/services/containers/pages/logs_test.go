package pages

import (
	"os"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/internal/testing/sentences"
)

// TestLogsAreInTheLanguageOfThePage: every line that the service writes into the log of a job, and every progress message, is a
// sentence with a translation, but for commands and lines of nothing but what somebody else has said.
func TestLogsAreInTheLanguageOfThePage(t *testing.T) {
	written := sentences.Written(t, "..", sentences.Calls{"info": 1, "warn": 1, "fail": 1, "reportProgress": 2}, "p.Message")
	if len(written) < 50 {
		t.Fatalf("only %d lines were found in the sources", len(written))
	}
	texts, err := ui.NewTexts(ui.OwnTexts(), os.DirFS("locales"))
	must(t, err)
	sentences.CheckTranslated(t, written, []string{"compose: %s", "compose %s", "%s | %s"}, func(text string) (string, bool) { return texts.Detail(ui.Chinese, text) })
}
