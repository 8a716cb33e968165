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

// items are the results that have the form of one.
func (p *page) items() []item {
	var out []item
	for _, raw := range p.Results {
		var it item
		if json.Unmarshal(raw, &it) == nil {
			out = append(out, it)
		}
	}
	return out
}

// answer is the first answer that an engine gave, or else what an infobox says; empty if there is neither. Servers of
// different age write answers as texts or as objects.
func (p *page) answer() string {
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

// published reads the date of a result; zero if it has none.
func (i *item) published() time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, i.Published); err == nil {
			return t
		}
	}
	return time.Time{}
}

// ask asks the server.
func (b *backend) ask(ctx context.Context, query url.Values) (*page, error) {
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
		return nil, errs.Unavailable(errs.ReasonProtocol, "the SearXNG server answered with JSON of another form")
	}
	return &out, nil
}

// checkAnswer explains what is not an answer in JSON.
func checkAnswer(res *httpx.Response, now time.Time) error {
	refuse := func(format string, args ...any) error {
		e := errs.Unavailable(errs.ReasonStatus, format, args...)
		e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(res.Status), Host: res.URL.Host}
		return e
	}
	media, _, _ := strings.Cut(strings.ToLower(res.Header.Get("Content-Type")), ";")
	switch {
	case res.Status == http.StatusForbidden:
		return refuse("the SearXNG server answered with status 403: its settings must list json under search.formats, and its limiter must let this host in")
	case res.Status == http.StatusTooManyRequests:
		e := errs.From(refuse("the SearXNG server answered with status 429: its limiter has had enough requests from this host"))
		e.RetryAfter = httpx.RetryAfter(res.Header.Get("Retry-After"), now)
		return e
	case res.Status >= 300 && res.Status < 400:
		return refuse("the SearXNG server redirects to another address: base_url must be the one where it answers")
	case res.Status != http.StatusOK:
		return refuse("the SearXNG server answered with status %d", res.Status)
	case strings.TrimSpace(media) != "application/json":
		return errs.Unavailable(errs.ReasonProtocol, "the SearXNG server answered with %.60q instead of JSON", media)
	}
	return nil
}
