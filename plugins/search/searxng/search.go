package searxng

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const maxImages = 10

type searchAnswer struct {
	Query        string        `json:"query"`
	Answer       *string       `json:"answer"`
	Images       []any         `json:"images"`
	Results      []result      `json:"results"`
	ResponseTime float64       `json:"response_time"`
	Ignored      []string      `json:"ignored,omitempty"`
	Usage        *webops.Usage `json:"usage,omitempty"`
	RequestID    string        `json:"request_id"`
}

type result struct {
	Title      string  `json:"title"`
	URL        string  `json:"url"`
	Content    string  `json:"content"`
	Score      float64 `json:"score"`
	RawContent *string `json:"raw_content"`
	Published  string  `json:"published_date,omitempty"`
}

type image struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

func (b *backend) answerSearch(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	p, err := parseSearch(req.Body, start)
	if err != nil {
		return nil, webops.BadRequest(err)
	}
	out := searchAnswer{Query: p.query, Images: []any{}, Results: []result{}, Ignored: p.ignored, Usage: p.usage,
		RequestID: webops.AnswerID(req)}
	hits, answer, err := b.findHits(ctx, &p)
	if err != nil {
		return nil, err
	}
	if p.answer && answer != "" {
		out.Answer = &answer
	}
	for _, h := range hits {
		out.Results = append(out.Results, h.result)
	}
	if p.images {
		out.Images = b.findImages(ctx, &p)
	}
	if p.raw != "false" {
		b.addTexts(ctx, out.Results, p.raw)
	}
	out.ResponseTime = webops.Seconds(start)
	return out, nil
}

// hit is a result on its way.
type hit struct {
	result
	raw float64
}

// findHits asks for pages of results until there are enough that fit, and returns the answer that came with the first.
// Without results to find, it asks for nothing but an answer.
func (b *backend) findHits(ctx context.Context, p *searchParams) (hits []*hit, answer string, err error) {
	if p.results == 0 && !p.answer {
		return nil, "", nil
	}
	seen := map[string]bool{}
	for number := 1; number <= maxPages; number++ {
		query := b.queryValues(p, number)
		found, err := b.askServer(ctx, query)
		if number == 1 {
			err = b.checkFirstPage(ctx, p, query, found, err)
		}
		if err != nil && number == 1 {
			return nil, "", err
		}
		if err != nil {
			// What the earlier pages had is better than nothing.
			b.log.Warn("cannot load another page of results", "page", number, "error", err)
			break
		}
		if number == 1 {
			answer = found.firstAnswer()
		}
		fresh := b.takeResults(p, found, seen, &hits)
		if fresh == 0 || len(hits) >= p.results {
			break
		}
	}
	hits = hits[:min(len(hits), p.results)]
	rateHits(hits)
	return hits, answer, nil
}

// checkFirstPage returns why a search failed, or nil, and records what that says about the server. A search that asks for news or a
// time fails alone where no engine knows them: others still work.
func (b *backend) checkFirstPage(ctx context.Context, p *searchParams, query url.Values, found *page, err error) error {
	missing := false
	if err == nil {
		missing, err = b.checkEngines(ctx, query, found)
	}
	if !missing || !p.news && p.timeRange == "" {
		b.trouble.recordOutcome(err, time.Now())
	}
	return err
}

// takeResults adds the results that fit and tells how many were new.
func (b *backend) takeResults(p *searchParams, found *page, seen map[string]bool, hits *[]*hit) (fresh int) {
	for _, it := range found.validItems() {
		u, err := url.Parse(it.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || seen[it.URL] {
			continue
		}
		seen[it.URL] = true
		fresh++
		if !p.permitsURL(u) || !p.inTime(it.publishedTime()) {
			continue
		}
		*hits = append(*hits, &hit{raw: it.Score, result: result{
			Title: strings.TrimSpace(it.Title), URL: it.URL, Content: texts.DropOpaque(strings.TrimSpace(it.Content)), Published: it.Published,
		}})
	}
	return fresh
}

// rateHits orders the results and makes scores from 0 to 1 of the server's, whose scale is open: the best result has 1.
// Without scores the rank counts.
func rateHits(hits []*hit) {
	slices.SortStableFunc(hits, func(a, b *hit) int { return cmp.Compare(b.raw, a.raw) })
	top := 0.0
	for _, h := range hits {
		top = max(top, h.raw)
	}
	for i, h := range hits {
		score := 1 / float64(i+1)
		if top > 0 {
			score = max(0, h.raw) / top
		}
		h.Score = math.Round(score*1e4) / 1e4
	}
}

// findImages asks for images. A failure costs the images, not the search.
func (b *backend) findImages(ctx context.Context, p *searchParams) []any {
	out := []any{}
	found, err := b.askServer(ctx, b.imageQuery(p))
	if err != nil {
		b.log.Warn("cannot load images", "error", err)
		return out
	}
	seen := map[string]bool{}
	for _, it := range found.validItems() {
		address := it.Image
		if strings.HasPrefix(address, "//") {
			address = "https:" + address
		}
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || seen[address] || len(out) == maxImages {
			continue
		}
		seen[address] = true
		if p.describe {
			out = append(out, image{URL: address, Description: strings.TrimSpace(it.Title)})
			continue
		}
		out = append(out, address)
	}
	return out
}

// addTexts adds the texts of the pages; one that cannot be had stays without.
func (b *backend) addTexts(ctx context.Context, results []result, format string) {
	want := extract.Markdown
	if format == string(extract.Text) {
		want = extract.Text
	}
	var urls []string
	for _, r := range results {
		urls = append(urls, r.URL)
	}
	for i, text := range b.ops.Texts(ctx, urls, want) {
		results[i].RawContent = text
	}
}
