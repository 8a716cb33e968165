package translation

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Wait returns works when all have ended, or as they are when a time is over. changed may be nil; it is called with the number
// of each work that has ended.
func (tr *Translator) Wait(ctx context.Context, works []translate.Work, wait time.Duration,
	changed func(i int, w translate.Work) error) ([]translate.Work, error) {
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	places := map[string][]int{}
	var ids []string
	for i, w := range works {
		if w.ID == "" {
			if changed != nil {
				if err := changed(i, w); err != nil {
					return works, err
				}
			}
			continue
		}
		if places[w.ID] == nil {
			ids = append(ids, w.ID)
		}
		places[w.ID] = append(places[w.ID], i)
	}
	if len(ids) == 0 {
		return works, nil
	}
	err := tr.cfg.Translations.Follow(bounded, ids, func(w translate.Work) error {
		for _, i := range places[w.ID] {
			works[i] = w
			if changed != nil && w.State.Final() {
				if err := changed(i, w); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if bounded.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return works, err
}

// FollowWork sends a work as it is, and whenever it has changed. The channel is closed when the work has ended, or ctx ends.
func (tr *Translator) FollowWork(ctx context.Context, w translate.Work) <-chan translate.Work {
	news := make(chan translate.Work)
	send := func(w translate.Work) error {
		select {
		case news <- w:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() {
		defer close(news)
		if w.ID == "" {
			_ = send(w)
			return
		}
		if err := tr.cfg.Translations.Follow(ctx, []string{w.ID}, send); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			tr.cfg.Logger.Error("cannot read the state of a translation", "work", w.ID, "error", err)
		}
	}()
	return news
}

// TranslateUnasked has a new release translated into languages. A budget that is used up leaves it as it is.
func (tr *Translator) TranslateUnasked(ctx context.Context, r repo.Release, languages []string) error {
	if !tr.Enabled() || len(languages) == 0 {
		return nil
	}
	var asked []translate.Asked
	for _, language := range languages {
		asked = append(asked, translate.Asked{
			Release: &translate.ReleaseText{ReleaseID: r.ID, Kind: KindSummary, Hash: r.Hash},
			Demand: &translate.Demand{
				Source:   translate.Source{Task: translator.Translate, Language: language, Title: r.Title, Body: r.Body},
				Priority: translate.Background, Linger: MaxLinger,
			},
		})
	}
	_, err := tr.cfg.Translations.Works(ctx, asked)
	return err
}

// SummariesFor returns the summaries in a language that there are of releases, by their ids, and asks for the others. It reports whether
// some are on their way. There are none in a language into which nothing is translated.
func (tr *Translator) SummariesFor(ctx context.Context, language string, ids []int64) (found map[int64]string, waiting bool, err error) {
	if set := tr.cfg.Settings(); set.Model == nil || !set.Briefs || len(ids) == 0 ||
		!reader.HasLanguage(tr.cfg.Readers.Languages(), language) {
		return nil, false, nil
	}
	works, err := tr.cfg.Translations.OfReleases(ctx, language, ids)
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
		if w.Kind == KindSmart {
			add(w.Of, w.Work)
		}
	}
	var asked []translate.Asked
	for _, id := range ids {
		if known[id] {
			continue
		}
		r, _, err := tr.cfg.Repos.FindRelease(ctx, id)
		if err != nil {
			return nil, false, err
		}
		source, text := summarySource(r, language)
		asked = append(asked, translate.Asked{Release: &text, Demand: &translate.Demand{Source: source, Priority: translate.Background}})
	}
	if len(asked) == 0 {
		return found, waiting, nil
	}
	news, err := tr.cfg.Translations.Works(ctx, asked)
	for i, w := range news {
		add(asked[i].Release.ReleaseID, w)
	}
	return found, waiting, err
}

// summarySource returns what is summarised of a release.
func summarySource(r repo.Release, language string) (translate.Source, translate.ReleaseText) {
	return translate.Source{Task: translator.Summarize, Language: language, Title: r.Title, Body: r.FullBody, ReleaseID: r.ID},
		translate.ReleaseText{ReleaseID: r.ID, Kind: KindSmart, Hash: r.Hash}
}
