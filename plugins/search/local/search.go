package local

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	defaultResults = 5
	maxChunks      = 3
	// rawBudget bounds the text of all documents of one answer, in bytes.
	rawBudget = 8 << 20
	// chunkMark stands between two passages of one document.
	chunkMark = "\n[...]\n"
)

// searchParams are what a search looks at. The table of parameters says what becomes of the others.
type searchParams struct {
	query   string
	results int
	chunks  int
	exact   bool
	raw     string
	where   domains
	usage   *webops.Usage
	ignored []string
}

func parseSearch(body []byte) (searchParams, error) {
	p, err := searchapi.ReadParams(searchapi.Local, search.OpSearch, body)
	if err != nil {
		return searchParams{}, err
	}
	out := searchParams{
		query: p.Text("query"), results: p.Integer("max_results", defaultResults), chunks: p.Integer("chunks_per_source", 1),
		exact: p.Flag("exact_match", false),
		raw:   p.Word("include_raw_content", "false"), usage: webops.ReadUsage(p), ignored: p.Ignored,
	}
	var include, exclude []string
	err = webops.All(
		func() (err error) { include, err = webops.ReadDomains(p, "include_domains"); return },
		func() (err error) { exclude, err = webops.ReadDomains(p, "exclude_domains"); return },
	)
	out.where = newDomains(include, exclude)
	return out, err
}

type searchAnswer struct {
	Query        string        `json:"query"`
	Answer       *string       `json:"answer"`
	Images       []string      `json:"images"`
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
}

func (b *backend) answerSearch(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	p, err := parseSearch(req.Body)
	if err != nil {
		return nil, webops.BadRequest(err)
	}
	out := searchAnswer{Query: p.query, Images: []string{}, Results: []result{}, Ignored: p.ignored, Usage: p.usage,
		RequestID: webops.AnswerID(req)}
	if p.results > 0 && b.mayHold(p.where) {
		if err := b.waitUntilUsable(ctx); err != nil {
			return nil, err
		}
		hits, err := b.findDocuments(ctx, p)
		if err != nil {
			return nil, err
		}
		out.Results = b.makeResults(ctx, hits, p)
	}
	out.ResponseTime = webops.Seconds(start)
	return out, nil
}

func (b *backend) makeResults(ctx context.Context, hits []*hit, p searchParams) []result {
	out, budget := []result{}, rawBudget
	for _, h := range hits {
		r := result{
			Title: h.title, URL: h.address, Content: strings.Join(h.bestChunks(p.chunks), chunkMark),
			Score: math.Round(min(h.score, 1)*1e4) / 1e4,
		}
		if p.raw != "false" {
			r.RawContent = b.rawContent(ctx, h.address, p.raw, &budget)
		}
		out = append(out, r)
	}
	return out
}

// rawContent is a document's text as it is now, unless it is gone or does not fit any more.
func (b *backend) rawContent(ctx context.Context, address, format string, budget *int) *string {
	want := extract.Markdown
	if format == string(extract.Text) {
		want = extract.Text
	}
	text, err := b.readDocument(ctx, address, want)
	if err != nil || len(text) > *budget {
		return nil
	}
	*budget -= len(text)
	return &text
}
