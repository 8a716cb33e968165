package pages

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/internal/testing/sentences"
)

// TestLogsAreInTheLanguageOfThePage: every line that the service writes into the log of a job, and every progress message, is a
// sentence with a translation, but for commands and lines of nothing but what somebody else has said.
func TestLogsAreInTheLanguageOfThePage(t *testing.T) {
	written := map[string]string{}
	for _, room := range []string{"..", "../backup", "../change", "../drift", "../host", "../project", "../candidate", "../webhook"} {
		if _, err := os.Stat(room); err == nil {
			maps.Copy(written, sentences.Written(t, room, sentences.Calls{"Info": 1, "Warn": 1, "Fail": 1, "reportProgress": 2}, "p.Message"))
		}
	}
	// The log of the core has methods of the same names, whose second arguments are words.
	maps.DeleteFunc(written, func(_, text string) bool { return !strings.Contains(text, " ") })
	if len(written) < 50 {
		t.Fatalf("only %d lines were found in the sources", len(written))
	}
	texts, err := ui.NewTexts(ui.OwnTexts(), os.DirFS("locales"))
	must(t, err)
	sentences.CheckTranslated(t, written, []string{"compose: %s", "compose %s", "%s | %s"}, func(text string) (string, bool) { return texts.Detail(ui.Chinese, text) })
}
