package supervisor

import (
	"os"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/internal/testing/sentences"
)

// TestLogsAreInTheLanguageOfThePage: every line of the log of an operation is a sentence with a translation.
func TestLogsAreInTheLanguageOfThePage(t *testing.T) {
	written := sentences.Written(t, ".", sentences.Calls{"recordLine": 1, "enterStep": 1, "endOperation": 1}, "")
	if len(written) < 20 {
		t.Fatalf("only %d lines were found in the sources", len(written))
	}
	texts, err := ui.NewTexts(ui.OwnTexts(), os.DirFS("locales"))
	if err != nil {
		t.Fatal(err)
	}
	sentences.CheckTranslated(t, written, nil, func(text string) (string, bool) { return texts.Detail(ui.Chinese, text) })
}
