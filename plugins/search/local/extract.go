package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	maxURLs     = 20
	maxAddress  = 4096
	maxParallel = 4
	// extractBudget bounds the text of one answer, in bytes.
	extractBudget = 10 << 20
)

type extractParams struct {
	urls    []string
	images  bool
	format  extract.Format
	timeout time.Duration
	usage   *usage
}

func (b *backend) parseExtract(body []byte) (extractParams, error) {
	p, err := parseParams(body)
	if err != nil {
		return extractParams{}, err
	}
	out := extractParams{timeout: b.timeout}
	var seconds float64
	var format string
	for _, step := range []func() error{
		func() (err error) { out.urls, err = p.strings("urls"); return },
		func() error { return p.read("include_images", &out.images, "true or false") },
		func() (err error) { format, err = p.choice("format", "markdown", "markdown", "text"); return },
		func() (err error) { _, err = p.choice("extract_depth", "basic", "basic", "advanced"); return },
		func() error { return p.read("timeout", &seconds, "a number from 1 to 60") },
		func() (err error) { out.usage, err = usageOf(p); return },
	} {
		if err := step(); err != nil {
			return extractParams{}, err
		}
	}
	out.format = extract.Format(format)
	if _, ok := p["timeout"]; ok {
		if seconds < 1 || seconds > 60 {
			return extractParams{}, errors.New("timeout must be a number from 1 to 60")
		}
		out.timeout = time.Duration(seconds * float64(time.Second))
	}
	return out, checkURLs(out.urls)
}

func checkURLs(urls []string) error {
	if len(urls) == 0 {
		return errors.New("urls is required")
	}
	if len(urls) > maxURLs {
		return fmt.Errorf("urls may hold at most %d addresses", maxURLs)
	}
	for _, u := range urls {
		if strings.TrimSpace(u) == "" || len(u) > maxAddress {
			return fmt.Errorf("urls must be addresses of 1 to %d bytes", maxAddress)
		}
	}
	return nil
}

type extractAnswer struct {
	Results      []extracted `json:"results"`
	Failed       []failure   `json:"failed_results"`
	ResponseTime float64     `json:"response_time"`
	Usage        *usage      `json:"usage,omitempty"`
	RequestID    string      `json:"request_id"`
}

type extracted struct {
	URL        string   `json:"url"`
	RawContent string   `json:"raw_content"`
	Images     []string `json:"images"`
}

type failure struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

func (b *backend) extract(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	p, err := b.parseExtract(req.Body)
	if err != nil {
		return nil, &badRequest{err}
	}
	pages, problems := b.getAll(ctx, p)
	out := extractAnswer{Results: []extracted{}, Failed: []failure{}, Usage: p.usage, RequestID: answerID(req)}
	budget := extractBudget
	for i, u := range p.urls {
		page, err := pages[i], problems[i]
		if err == nil && len(page.Text) > budget {
			err = errors.New("answer would be too large; ask for fewer pages")
		}
		if err != nil {
			out.Failed = append(out.Failed, failure{URL: u, Error: problem(err)})
			continue
		}
		budget -= len(page.Text)
		images := []string{}
		if p.images {
			images = page.Images
		}
		out.Results = append(out.Results, extracted{URL: u, RawContent: page.Text, Images: images})
	}
	out.ResponseTime = seconds(start)
	return out, nil
}

// getAll gets the pages side by side, a few at a time.
func (b *backend) getAll(ctx context.Context, p extractParams) ([]*extract.Page, []error) {
	pages, problems := make([]*extract.Page, len(p.urls)), make([]error, len(p.urls))
	slots := make(chan struct{}, maxParallel)
	var all sync.WaitGroup
	for i, u := range p.urls {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			pages[i], problems[i] = b.get(ctx, u, p)
		})
	}
	all.Wait()
	return pages, problems
}

func (b *backend) get(ctx context.Context, address string, p extractParams) (*extract.Page, error) {
	address = strings.TrimSpace(address)
	if !strings.HasPrefix(strings.ToLower(address), scheme) {
		ctx, cancel := context.WithTimeout(ctx, p.timeout)
		defer cancel()
		return extract.Fetch(ctx, b.client, address, p.format)
	}
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	text, err := b.readDocument(address, p.format)
	if err != nil {
		return nil, err
	}
	return &extract.Page{Text: text, Images: []string{}}, nil
}

var errNoDocument = errors.New("no document has this address")

// readDocument reads a document of the index from its file.
func (b *backend) readDocument(address string, format extract.Format) (string, error) {
	f, ok := b.follower.document(address)
	if !ok {
		return "", errNoDocument
	}
	data, err := read(f, b.follower.rules.maxSize)
	if err != nil {
		return "", errNoDocument
	}
	doc, ok := parse(f.path, data, format)
	if !ok {
		return "", errNoDocument
	}
	return doc.text, nil
}

// problem is the text of an error for whoever named the address.
func problem(err error) string {
	var own *errs.Error
	if errors.As(err, &own) {
		return own.Message
	}
	return err.Error()
}
