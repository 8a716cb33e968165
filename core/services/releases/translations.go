package releases

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
)

// newTranslations makes what translates and counts its calls.
func (s *Service) newTranslations(counts *metrics) *translate.Translations {
	return translate.New(translate.Config{
		Store: s.cfg.Store, Queue: s.cfg.Queue, Logger: s.cfg.Logger, Compare: s.syncer.CompareDigest,
		// Jobs run by the clock of the queue.
		Now: time.Now, Noted: counts.observeCall,
		Settings: func() translate.Settings {
			st := s.state.Load()
			set := st.settings.Translation
			return translate.Settings{Translator: st.translator, DailyTokens: set.DailyTokens, DailyCostMicros: int64(set.DailyCost * 1e6), BatchTokens: set.BatchTokens}
		},
	})
}
