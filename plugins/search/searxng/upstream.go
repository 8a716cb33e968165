package searxng

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

// page is the server's answer to one search, as far as it is of use.
type page struct {
	Results      []json.RawMessage `json:"results"`
	Answers      []json.RawMessage `json:"answers"`
	Infoboxes    []infobox         `json:"infoboxes"`
	Unresponsive []json.RawMessage `json:"unresponsive_engines"`
}

// item is one result. Many engines leave out much of it, or say null.
type item struct {
	URL       string  `json:"url"`
	Title     string  `json:"title"`
	Content   string  `json:"content"`
	Score     float64 `json:"score"`
	Published string  `json:"publishedDate"`
	Image     string  `json:"img_src"`
}

type infobox struct {
	Title   string `json:"infobox"`
	Content string `json:"content"`
}

// validItems are the results that have the form of one.
func (p *page) validItems() []item {
	var out []item
	for _, raw := range p.Results {
		var it item
		if json.Unmarshal(raw, &it) == nil {
			out = append(out, it)
		}
	}
	return out
}

// firstAnswer is the first answer that an engine gave, or else what an infobox says; empty if there is neither. Servers of
// different age write answers as texts or as objects.
func (p *page) firstAnswer() string {
	for _, raw := range p.Answers {
		var text string
		var object struct {
			Answer string `json:"answer"`
		}
		if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &object) == nil {
			text = object.Answer
		}
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	for _, box := range p.Infoboxes {
		if text := strings.TrimSpace(box.Content); text != "" {
			return text
		}
	}
	return ""
}

// publishedTime reads the date of a result; zero if it has none.
func (i *item) publishedTime() time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, i.Published); err == nil {
			return t
		}
	}
	return time.Time{}
}

// askServer asks the server.
func (b *backend) askServer(ctx context.Context, query url.Values) (*page, error) {
	u := *b.endpoint
	u.RawQuery = query.Encode()
	res, err := b.client.Do(ctx, &httpx.Request{Method: http.MethodGet, URL: &u, Header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		return nil, err
	}
	if err := checkAnswer(res, time.Now()); err != nil {
		return nil, err
	}
	var out page
	if err := json.Unmarshal(res.Body, &out); err != nil {
		return nil, errs.Unavailable(errs.ReasonExplained,
			"base_url is not the address of a SearXNG server: the JSON that answers has another form")
	}
	return &out, nil
}

// checkAnswer returns an error for an answer that is not JSON, which says what to do about it.
func checkAnswer(res *httpx.Response, now time.Time) error {
	explain := func(format string, args ...any) error {
		e := errs.Unavailable(errs.ReasonExplained, format, args...)
		e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(res.Status), Host: res.URL.Host}
		return e
	}
	media, _, _ := strings.Cut(strings.ToLower(res.Header.Get("Content-Type")), ";")
	media = strings.TrimSpace(media)
	switch {
	case res.Status == http.StatusForbidden:
		return explain("the SearXNG server refuses the JSON format (status 403): list json under search.formats in its settings.yml, and let this host pass its limiter")
	case res.Status == http.StatusTooManyRequests:
		e := errs.From(explain("the limiter of the SearXNG server refuses this host (status 429): list its address under botdetection.ip_lists.pass_ip in limiter.toml, " +
			"or set server.limiter to false in settings.yml"))
		e.RetryAfter = httpx.RetryAfter(res.Header.Get("Retry-After"), now)
		return e
	case res.Status >= 300 && res.Status < 400:
		return explain("the SearXNG server redirects to another address (status %d): base_url must be the one where it answers", res.Status)
	case res.Status == http.StatusNotFound:
		return explain("there is no SearXNG server at base_url (status 404): base_url must be the address of its start page")
	case res.Status == http.StatusUnauthorized, res.Status == http.StatusProxyAuthRequired:
		return explain("something in front of the SearXNG server wants a password (status %d): base_url must lead past it", res.Status)
	case res.Status == http.StatusBadRequest:
		return explain("the SearXNG server does not accept the search (status 400): check language, categories and engines in the configuration of this backend")
	case res.Status != http.StatusOK:
		return explain("the SearXNG server failed (status %d): its log says why", res.Status)
	case media != "application/json":
		return explain("the SearXNG server answered with %.60q instead of JSON: base_url must be the address of its start page, and nothing before it may ask for a sign-in", media)
	}
	return nil
}
