package releases

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// jobRefreshBriefs writes briefs again for which summaries have come.
const jobRefreshBriefs = "releases.refresh_briefs"

const (
	// refreshedFor is how long after its end a brief waits for summaries.
	refreshedFor = 48 * time.Hour
	// refreshedAtOnce is how many briefs one job writes again.
	refreshedAtOnce = 500
)

// translateUnasked has a new release translated into languages. A budget that is used up leaves it as it is.
func (s *Service) translateUnasked(ctx context.Context, r repo.Release, languages []string) error {
	if s.state.Load().translator == nil || len(languages) == 0 {
		return nil
	}
	var asked []translate.Asked
	for _, language := range languages {
		asked = append(asked, translate.Asked{
			Release: &translate.ReleaseText{ReleaseID: r.ID, Kind: kindSummary, Hash: r.Hash},
			Demand: &translate.Demand{
				Source:   translate.Source{Task: translator.Translate, Language: language, Title: r.Title, Body: r.Body},
				Priority: translate.Background, Linger: maxLinger,
			},
		})
	}
	_, err := s.translations.Works(ctx, asked)
	return err
}

// summariesFor returns the summaries in a language that there are of releases, by their ids, and asks for the others. It reports whether some are on
// their way. There are none in a language into which nothing is translated.
func (s *Service) summariesFor(ctx context.Context, language string, ids []int64) (found map[int64]string, waiting bool, err error) {
	st := s.state.Load()
	if st.translator == nil || !st.settings.Translation.Briefs || len(ids) == 0 || !containsLanguage(s.Languages(), language) {
		return nil, false, nil
	}
	works, err := s.translations.OfReleases(ctx, language, ids)
	if err != nil {
		return nil, false, err
	}
	found = map[int64]string{}
	known := map[int64]bool{}
	add := func(id int64, w translate.Work) {
		known[id] = true
		if w.Outcome == translate.Ready {
			found[id] = w.OutBody
		}
		waiting = waiting || w.ID != "" && !w.State.Final()
	}
	for _, w := range works {
		if w.Kind == kindSmart {
			add(w.Of, w.Work)
		}
	}
	var asked []translate.Asked
	for _, id := range ids {
		if known[id] {
			continue
		}
		r, _, err := s.repos.FindRelease(ctx, id)
		if err != nil {
			return nil, false, err
		}
		source, text := summarySource(r, language)
		asked = append(asked, translate.Asked{Release: &text, Demand: &translate.Demand{Source: source, Priority: translate.Background}})
	}
	if len(asked) == 0 {
		return found, waiting, nil
	}
	news, err := s.translations.Works(ctx, asked)
	for i, w := range news {
		add(asked[i].Release.ReleaseID, w)
	}
	return found, waiting, err
}

// summarySource returns what is summarised of a release.
func summarySource(r repo.Release, language string) (translate.Source, translate.ReleaseText) {
	return translate.Source{Task: translator.Summarize, Language: language, Title: r.Title, Body: r.FullBody, ReleaseID: r.ID},
		translate.ReleaseText{ReleaseID: r.ID, Kind: kindSmart, Hash: r.Hash}
}

// refreshBriefs writes the briefs again that wait for summaries, and reports how many.
func (s *Service) refreshBriefs(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	result := struct {
		Written int `json:"written"`
	}{}
	waiting, err := s.briefs.ListAwaiting(ctx, store.Millis(s.cfg.Now().Add(-refreshedFor)), refreshedAtOnce)
	for _, b := range waiting {
		written, err := s.briefs.Refresh(ctx, b)
		if err != nil {
			return result, err
		}
		if written {
			result.Written++
		}
	}
	return result, err
}
