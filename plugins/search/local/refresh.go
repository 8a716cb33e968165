package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

const (
	// siteDepth is how many links away from its start a page of a site may be, siteText bounds the texts of one site, in
	// bytes, siteTime a visit.
	siteDepth = 20
	siteText  = 64 << 20
	siteTime  = time.Hour
	// firstRetry is the pause after a visit that failed; it doubles with each, up to the ordinary one.
	firstRetry   = time.Minute
	maxDoublings = 12
	// jitter is the part of the pause, as a divisor, by which it may be longer.
	jitter = 10
)

// refresher visits sites one after the other, again and again.
type refresher struct {
	sites    []*site
	crawler  *crawl.Crawler
	limit    int
	interval time.Duration
	now      func() time.Time
	// generation is that in which sites are visited; wake tells that it is another.
	generation *generation
	wake       chan struct{}
	// changed is told when pages have changed.
	changed func()
	log     hclog.Logger
}

// runUntilDone visits sites when they are due, until ctx ends.
func (r *refresher) runUntilDone(ctx context.Context) {
	due := map[*site]time.Time{}
	schedule := func(sites ...*site) {
		for _, s := range sites {
			due[s] = r.dueTime(s)
			s.endVisit(due[s])
		}
	}
	schedule(r.sites...)
	for len(r.sites) > 0 {
		next := r.sites[0]
		for _, s := range r.sites {
			if due[s].Before(due[next]) {
				next = s
			}
		}
		timer := time.NewTimer(due[next].Sub(r.now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.wake:
			timer.Stop()
			schedule(r.sites...)
			continue
		case <-timer.C:
		}
		r.visitSite(ctx, next)
		schedule(next)
	}
}

// dueTime is when a site is to be visited: at once if it never was, or not in this generation.
func (r *refresher) dueTime(s *site) time.Time {
	st := s.currentState()
	if st.Generation != r.generation.currentNumber() || st.Format != pageFormat && st.Failures == 0 {
		return r.now()
	}
	pause, since := r.interval, st.Refreshed
	if st.Failures > 0 {
		pause, since = min(r.interval, firstRetry<<min(st.Failures-1, maxDoublings)), st.Tried
	}
	at := time.UnixMilli(since)
	if since == 0 || at.After(r.now()) {
		return r.now()
	}
	return at.Add(pause + rand.N(pause/jitter+1))
}

// visitSite makes what is kept of a site equal to the site. What cannot be had stays as it is. In a new generation all pages are
// asked for anew.
func (r *refresher) visitSite(ctx context.Context, s *site) {
	generation, known := r.generation.currentNumber(), s.knownPage
	if st := s.currentState(); st.Generation != generation || st.Format != pageFormat {
		known = s.storedLinks
	}
	s.beginVisit()
	result, err := r.crawler.Run(ctx, crawl.Options{
		Start: s.url, MaxDepth: siteDepth, MaxBreadth: r.limit, Limit: r.limit, SelectPaths: s.pathPatterns(), Timeout: siteTime,
		Format: extract.Markdown, MaxText: siteText, Known: known, Progress: s.noteProgress,
	})
	if ctx.Err() != nil {
		return
	}
	var problem string
	switch {
	case err != nil:
		problem = err.Error()
	case result.Start != nil:
		problem = result.Start.Error()
	case len(result.Pages) == 0:
		problem = "there is no page with text that may be read"
	default:
		problem = takeResult(s, result)
		r.changed()
	}
	if err == nil && result.Start == nil {
		s.setLeftOut(leftOutPages(result))
	}
	if err := s.noteAttempt(r.now(), generation, problem); err != nil && problem == "" {
		problem = err.Error()
	}
	if problem != "" {
		r.log.Warn("site not indexed completely", "site", s.shownName(), "problem", problem)
		return
	}
	r.log.Debug("site was visited", "site", s.shownName(), "pages", len(result.Pages))
}

// takeResult keeps what a visit found, and tells what is wrong with that.
func takeResult(s *site, result *crawl.Result) (problem string) {
	there := map[string]bool{}
	for _, p := range result.Pages {
		there[p.URL] = true
		if p.Unchanged {
			continue
		}
		if err := s.putPage(p); err != nil {
			return err.Error()
		}
	}
	failed := 0
	for _, f := range result.Failed {
		if f.Gone {
			s.removePage(f.URL)
			continue
		}
		if failed++; failed == 1 {
			problem = fmt.Sprintf("page %s: %v", plainAddress(f.URL), f.Err)
		}
		there[f.URL] = true
	}
	if failed > 1 {
		problem += fmt.Sprintf(", and %d more", failed-1)
	}
	if !result.Complete && failed == 0 {
		return "not all of its pages could be visited"
	}
	if result.Complete {
		s.keepOnly(there)
	}
	return problem
}
