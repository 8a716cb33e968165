package fake_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func TestTranslator(t *testing.T) {
	d, ctx := fake.NewTranslator("译"), t.Context()
	req := translator.Request{Task: translator.Translate, TargetLanguage: "zh-CN",
		Parts: []translator.Part{{Name: "body", Text: "## Changes\n\n- one"}}}
	d.Fail(translator.RateLimited(time.Minute, "slow down"), nil)
	if _, err := d.Translate(ctx, req); translator.OutcomeOf(err) != translator.OutcomeRateLimited {
		t.Errorf("%v", err)
	}
	a, err := d.Translate(ctx, req)
	if err != nil || a.Parts[0].Text != "## 译Changes\n\n- 译one" || a.Model() != "fake" {
		t.Errorf("%+v, %v", a, err)
	}
	req.Task = translator.Summarize
	if a, err = d.Translate(ctx, req); err != nil || len(a.Parts) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	if n := len(d.Calls()); n != 3 {
		t.Errorf("%d calls", n)
	}
}
