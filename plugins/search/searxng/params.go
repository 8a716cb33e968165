package searxng

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	defaultResults = 5
	maxQuery       = 2000
	// maxSites is up to how many domains are named to the engines; more are only filtered.
	maxSites = 5
)

// searchParams are what a search looks at. The table of parameters says what becomes of the others.
type searchParams struct {
	query             string
	results           int
	news              bool
	timeRange         string
	from, to          time.Time
	language, country string
	answer            bool
	raw               string
	images, describe  bool
	include, exclude  []string
	safe              bool
	usage             *webops.Usage
	ignored           []string
}

func parseSearch(body []byte, now time.Time) (searchParams, error) {
	p, err := searchapi.ReadParams(searchapi.SearXNG, search.OpSearch, body)
	if err != nil {
		return searchParams{}, err
	}
	out := searchParams{
		query: p.Text("query"), results: p.Integer("max_results", defaultResults), news: p.Text("topic") == "news",
		from: p.Date("start_date"), to: p.Date("end_date"), language: p.Text("language"), country: p.Text("country"),
		answer: p.Word("include_answer", "false") != "false", raw: p.Word("include_raw_content", "false"),
		images: p.Flag("include_images", false), describe: p.Flag("include_image_descriptions", false), safe: p.Flag("safe_search", false),
		usage: webops.ReadUsage(p), ignored: p.Ignored,
	}
	out.timeRange = chooseTimeRange(p.Text("time_range"), p.Integer("days", 0), out.from, now)
	err = webops.All(
		func() (err error) { out.include, err = webops.ReadDomains(p, "include_domains"); return },
		func() (err error) { out.exclude, err = webops.ReadDomains(p, "exclude_domains"); return },
	)
	if err == nil && len(out.query) > maxQuery {
		err = fmt.Errorf("query may have at most %d bytes", maxQuery)
	}
	if err == nil && out.queryText() == "" {
		err = errors.New("query is required")
	}
	return out, err
}

// chooseTimeRange returns the server's word for a time range: for the API's word, else for so many days, else for the time since a
// day. It is empty where the server has none that is long enough.
func chooseTimeRange(word string, days int, from, now time.Time) string {
	if word != "" {
		return map[string]string{"d": "day", "w": "week", "m": "month", "y": "year"}[word[:1]]
	}
	if days == 0 && !from.IsZero() {
		// The day itself counts as well.
		days = max(1, int(now.Sub(from).Hours()/24)+1)
	}
	switch {
	case days < 1:
	case days == 1:
		return "day"
	case days <= 7:
		return "week"
	case days <= 31:
		return "month"
	case days <= 366:
		return "year"
	}
	return ""
}

// localeFor returns the server's word for the language and the country of a search; what a search does not say is as configured.
func (p *searchParams) localeFor(configured string) string {
	language := configured
	if p.language != "" {
		language = p.language
	}
	region, ok := searchapi.FindRegion(p.country)
	if !ok {
		return language
	}
	base, _, _ := strings.Cut(language, "-")
	if base == "all" || base == "auto" {
		base = searchapi.LanguageIn(region)
	}
	return base + "-" + region
}

// permitsURL applies the lists of domains to a result.
func (p *searchParams) permitsURL(u *url.URL) bool {
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

// queryText is the query with the domains that the engines shall look at. A word that begins with two exclamation marks
// would send the server elsewhere: it loses them.
func (p *searchParams) queryText() string {
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
