package searxng

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	// engineAge is how long the list of engines is taken for true.
	engineAge = 10 * time.Minute
	// maxNamed is how many engines an error names, maxCause how long the cause of each may be, in bytes.
	maxNamed = 8
	maxCause = 60
)

// engine is an engine of the server, as its configuration describes it.
type engine struct {
	Name       string   `json:"name"`
	Categories []string `json:"categories"`
	Enabled    bool     `json:"enabled"`
	TimeRange  bool     `json:"time_range_support"`
}

// engineList is the list of the server's engines. It is asked for when a search found nothing, and kept for a while.
type engineList struct {
	client   *httpx.Client
	endpoint *url.URL

	mu   sync.Mutex
	all  []engine
	read time.Time
}

// loadEngines returns the engines, or nil if the server does not tell them.
func (l *engineList) loadEngines(ctx context.Context, now time.Time) []engine {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.read) < engineAge {
		return l.all
	}
	res, err := l.client.Do(ctx, &httpx.Request{Method: http.MethodGet, URL: l.endpoint, Header: http.Header{"Accept": {"application/json"}}})
	var body struct {
		Engines []engine `json:"engines"`
	}
	if err != nil || res.Status != http.StatusOK || json.Unmarshal(res.Body, &body) != nil {
		return nil
	}
	l.all, l.read = body.Engines, now
	return l.all
}

// listEngines returns the names of those engines that the server asks for a search.
func listEngines(all []engine, query url.Values) []string {
	named := strings.Split(query.Get("engines"), ",")
	categories := strings.Split(query.Get("categories"), ",")
	explicit := slices.ContainsFunc(all, func(e engine) bool { return slices.Contains(named, e.Name) })
	if !query.Has("categories") && !explicit {
		categories = []string{"general"}
	}
	var out []string
	for _, e := range all {
		inCategory := e.Enabled && slices.ContainsFunc(e.Categories, func(c string) bool { return slices.Contains(categories, c) })
		if (slices.Contains(named, e.Name) || inCategory) && (e.TimeRange || !query.Has("time_range")) {
			out = append(out, e.Name)
		}
	}
	return out
}

// special are engines that answer questions of one kind: for most searches they have nothing, which says nothing about the others.
var special = []string{"currency", "dictzone", "mymemory translated", "lingva", "wikidata", "wikipedia", "ddg definitions", "wolframalpha"}

// searchEngines returns those that search for any question, or all if there are none.
func searchEngines(asked []string) []string {
	out := slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return slices.Contains(special, name) })
	if len(out) == 0 {
		return asked
	}
	return out
}

// silentEngine is an engine that did not answer, with the server's word for why.
type silentEngine struct{ name, cause string }

// silentEngines returns the engines that did not answer.
func (p *page) silentEngines() (out []silentEngine) {
	for _, raw := range p.Unresponsive {
		var pair []string
		if json.Unmarshal(raw, &pair) == nil && len(pair) > 0 {
			out = append(out, silentEngine{pair[0], strings.Join(pair[1:], ", ")})
		}
	}
	return out
}

// isEmpty reports whether the server found nothing at all.
func (p *page) isEmpty() bool {
	return len(p.Results) == 0 && len(p.Answers) == 0 && len(p.Infoboxes) == 0
}

// checkEngines returns an error if nothing was found because no engine could search. Where some could, there is nothing to find. A
// server that does not tell its engines is believed to have asked those alone that did not answer. missing tells that the server has
// no engine for such a search.
func (b *backend) checkEngines(ctx context.Context, query url.Values, found *page) (missing bool, err error) {
	if !found.isEmpty() {
		return false, nil
	}
	silent := found.silentEngines()
	all := b.engines.loadEngines(ctx, time.Now())
	asked := listEngines(all, query)
	failed := func(name string) bool {
		return slices.ContainsFunc(silent, func(s silentEngine) bool { return s.name == name })
	}
	switch {
	case len(all) == 0 && len(silent) == 0:
		return false, nil
	case len(all) > 0 && len(asked) == 0 && len(silent) == 0:
		return true, errs.Unavailable(errs.ReasonExplained,
			"the SearXNG server has no engine for such a search: enable engines for %s in its settings.yml", describeAsked(query))
	case len(all) == 0 || !slices.ContainsFunc(searchEngines(asked), func(name string) bool { return !failed(name) }):
		return false, errs.Unavailable(errs.ReasonExplained, "no engine of the SearXNG server could search: %s", describeSilent(silent))
	}
	if len(silent) > 0 {
		b.log.Warn("no results, some engines did not answer", "engines", describeSilent(silent))
	}
	return false, nil
}

// describeAsked says what engines were looked for.
func describeAsked(query url.Values) string {
	out := "the category general"
	if query.Has("categories") {
		out = "the categories " + query.Get("categories")
	}
	if query.Has("time_range") {
		out += " that can search by time"
	}
	return out
}

// describeSilent names engines and why they did not answer.
func describeSilent(all []silentEngine) string {
	var out []string
	for i, s := range all {
		if i == maxNamed {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		out = append(out, fmt.Sprintf("%.*s (%.*s)", maxCause, s.name, maxCause, s.cause))
	}
	return strings.Join(out, ", ")
}
