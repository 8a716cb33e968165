package releases_test

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// TestModelUse pages through the calls of models, and adds up what they took.
func TestModelUse(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.model.Answer(func(req translator.Request) *translator.Answer {
			out := &translator.Answer{Parts: req.Parts}
			for range 52 {
				out.Attempts = append(out.Attempts, fake.TranslatorAttempt(translator.OutcomeTemporary))
			}
			out.Attempts = append(out.Attempts, fake.TranslatorAttempt(translator.OK))
			return out
		})
		s.translate(s.ada, "release_summary", s.addReleases("Words of the release")[0])
		if _, err := s.service.ModelUse(t.Context(), ""); fault.As(err).Code != fault.Forbidden {
			t.Errorf("who is nobody sees the calls: %v", err)
		}
		use, err := s.service.ModelUse(asAdmin(), "")
		must(t, err)
		if !use.Configured || len(use.Models) == 0 || use.Today.Calls != 53 || use.Today != use.Period || use.DailyTokens != 1_000_000 ||
			len(use.Calls) != 50 || use.Next == "" {
			t.Errorf("%d calls, %+v", len(use.Calls), use)
		}
		rest, err := s.service.ModelUse(asAdmin(), use.Next)
		must(t, err)
		if len(rest.Calls) != 3 || rest.Next != "" || rest.Calls[0].ID >= use.Calls[49].ID || use.Calls[0].Outcome != translator.OK ||
			rest.Calls[2].Outcome != translator.OutcomeTemporary {
			t.Errorf("%+v", rest.Calls)
		}
		for _, cursor := range []string{"x", "-1", "0", strings.Repeat("9", 30)} {
			if _, err := s.service.ModelUse(asAdmin(), cursor); fault.As(err).Code != fault.BadRequest {
				t.Errorf("cursor %s: %v", cursor, err)
			}
		}
	}, withTranslator, func(set *releases.Settings) { set.Translation.DailyTokens = 1_000_000 })
}
