package pages

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/internal/testing/sentences"
)

// TestLogsAreInTheLanguageOfThePage: every line that the service writes into the log of a job, and every progress message, is a
// sentence with a translation, but for commands and lines of nothing but what somebody else has said.
func TestLogsAreInTheLanguageOfThePage(t *testing.T) {
	written := map[string]string{}
	calls := sentences.Calls{"LogInfo": 1, "LogWarning": 1, "LogError": 1, "reportProgress": 2, "ReportProgress": 2}
	files, err := filepath.Glob("../*/*.go")
	must(t, err)
	dirs := map[string]bool{"..": true}
	for _, file := range files {
		dirs[filepath.Dir(file)] = true
	}
	for dir := range dirs {
		maps.Copy(written, sentences.Written(t, dir, calls, "p.Message"))
	}
	if len(written) < 50 {
		t.Fatalf("only %d lines were found in the sources", len(written))
	}
	texts, err := ui.NewTexts(ui.OwnTexts(), os.DirFS("locales"))
	must(t, err)
	sentences.CheckTranslated(t, written, []string{"compose: %s", "compose %s", "%s | %s"},
		func(text string) (string, bool) { return texts.Detail(ui.Chinese, text) })
}
