package translation_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

func TestErrorSummary(t *testing.T) {
	for _, code := range []string{
		translate.CodeNotConfigured, translate.CodeBudget, translate.CodeStructure, translate.CodeTooLong, translate.CodeUnusable,
		translate.CodeRejected, translate.CodeUnavailable, translate.CodeInternal,
	} {
		english, chinese := translation.ErrorSummary(code, "en"), translation.ErrorSummary(code, "zh-CN")
		if english == "" || chinese == "" || english == chinese {
			t.Errorf("%s: %q and %q", code, english, chinese)
		}
	}
	if got := translation.ErrorSummary("none", "en"); got != "" {
		t.Errorf("an unknown code is %q", got)
	}
}
