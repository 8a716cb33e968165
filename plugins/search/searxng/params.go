package searxng

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
)

const (
	defaultResults = 5
	maxResults     = 20
	maxQuery       = 2000
	maxInclude     = 300
	maxExclude     = 150
	maxDays        = 36500
	// maxSites is up to how many domains are named to the engines; more are only filtered.
	maxSites = 5
	day      = "2006-01-02"
)

// searchParams are what a search looks at; the other members of the API are accepted and have no effect.
type searchParams struct {
	query            string
	results          int
	topic, timeRange string
	from, to         time.Time
	answer           bool
	raw              string
	images, describe bool
	include, exclude []string
	safe             bool
	usage            *webops.Usage
}

func parseSearch(body []byte) (out searchParams, err error) {
	p, err := webops.ParseParams(body)
	if err != nil {
		return out, err
	}
	out.results = defaultResults
	var answer string
	days := 0
	err = webops.All(
		func() (err error) { out.query, err = p.Required("query"); return },
		func() error { return p.Integer("max_results", &out.results, 0, maxResults) },
		func() (err error) {
			out.topic, err = p.Choice("topic", "general", "general", "news", "finance")
			return
		},
		func() (err error) {
			out.timeRange, err = p.Choice("time_range", "", "day", "week", "month", "year", "d", "w", "m", "y")
			return
		},
		func() error { return p.Integer("days", &days, 0, maxDays) },
		func() (err error) { out.from, err = date(p, "start_date"); return },
		func() (err error) { out.to, err = date(p, "end_date"); return },
		func() (err error) {
			answer, err = p.Choice("include_answer", "false", "true", "false", "basic", "advanced")
			return
		},
		func() (err error) {
			out.raw, err = p.Choice("include_raw_content", "false", "true", "false", "markdown", "text")
			return
		},
		func() error { return p.Read("include_images", &out.images, "true or false") },
		func() error { return p.Read("include_image_descriptions", &out.describe, "true or false") },
		func() error { return p.Read("safe_search", &out.safe, "true or false") },
		func() (err error) { out.include, err = domains(p, "include_domains", maxInclude); return },
		func() (err error) { out.exclude, err = domains(p, "exclude_domains", maxExclude); return },
		func() (err error) { out.usage, err = p.Usage(); return },
	)
	if err == nil && len(out.query) > maxQuery {
		err = fmt.Errorf("query may have at most %d bytes", maxQuery)
	}
	if err == nil && out.text() == "" {
		err = errors.New("query is required")
	}
	out.answer = answer != "false"
	out.timeRange = rangeOf(out.timeRange, days)
	return out, err
}

// rangeOf is the server's word for a time range, or for so many days.
func rangeOf(word string, days int) string {
	if word == "" && days > 0 {
		switch {
		case days == 1:
			return "day"
		case days <= 7:
			return "week"
		case days <= 31:
			return "month"
		case days <= 366:
			return "year"
		}
	}
	switch word {
	case "d":
		return "day"
	case "w":
		return "week"
	case "m":
		return "month"
	case "y":
		return "year"
	}
	return word
}

func date(p webops.Params, name string) (t time.Time, err error) {
	var s string
	if err := p.Read(name, &s, "a date as YYYY-MM-DD"); err != nil || s == "" {
		return t, err
	}
	if t, err = time.Parse(day, s); err != nil {
		return t, fmt.Errorf("%s must be a date as YYYY-MM-DD", name)
	}
	return t, nil
}

// domains reads host names; a scheme, a www. and a path are taken off.
func domains(p webops.Params, name string, most int) ([]string, error) {
	all, err := p.Strings(name)
	if err != nil {
		return nil, err
	}
	if len(all) > most {
		return nil, fmt.Errorf("%s may hold at most %d domains", name, most)
	}
	var out []string
	for _, d := range all {
		if d = webops.BareDomain(d); d == "" {
			return nil, fmt.Errorf("%s must hold domains such as example.org", name)
		}
		out = append(out, d)
	}
	return out, nil
}

// permits applies the lists of domains to a result.
func (p *searchParams) permits(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return !webops.Within(host, p.exclude) && (len(p.include) == 0 || webops.Within(host, p.include))
}

// inTime reports whether a date is not known to be outside of what was asked for.
func (p *searchParams) inTime(at time.Time) bool {
	if at.IsZero() {
		return true
	}
	return !at.Before(p.from) && (p.to.IsZero() || at.Before(p.to.AddDate(0, 0, 1)))
}

// text is the query with the domains that the engines shall look at. A word that begins with two exclamation marks
// would send the server elsewhere: it loses them.
func (p *searchParams) text() string {
	var words []string
	for w := range strings.FieldsSeq(p.query) {
		if strings.HasPrefix(w, "!!") {
			w = strings.TrimLeft(w, "!")
		}
		if w != "" {
			words = append(words, w)
		}
	}
	text := strings.Join(words, " ")
	if text == "" || len(p.include) == 0 || len(p.include) > maxSites {
		return text
	}
	return text + " site:" + strings.Join(p.include, " OR site:")
}
