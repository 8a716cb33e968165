package github

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// maxPageNumber bounds the cursors of the REST API, which are numbers of pages.
const maxPageNumber = 10_000

// defaultPageSize is the size of a page that nobody asked for.
const defaultPageSize = 50

func pageSize(page codehost.PageRequest) int {
	if page.Size == 0 {
		return defaultPageSize
	}
	return page.Size
}

// pageCall is a request for one page of a list.
type pageCall struct {
	token schema.Secret
	query url.Values
	path  []string
	// accept replaces the usual media type of the answer.
	accept string
	page   codehost.PageRequest
}

// fetchPage asks for one page of a list of the REST API, and converts its items. convert leaves an item out by returning
// false.
func fetchPage[I, O any](ctx context.Context, h *host, p pageCall, convert func(*I) (O, bool)) (*codehost.Page[O], error) {
	query := url.Values{"per_page": {strconv.Itoa(pageSize(p.page))}}
	for name, values := range p.query {
		query[name] = values
	}
	if p.page.Cursor != "" {
		number, err := strconv.Atoi(p.page.Cursor)
		if err != nil || number < 1 || number > maxPageNumber {
			return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the cursor is not valid for this host")
		}
		query.Set("page", strconv.Itoa(number))
	}
	c := call{method: http.MethodGet, url: h.apiURL(query, p.path...), token: p.token, accept: p.accept, validators: p.page.Validators}
	res, err := h.fetchAnswer(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &codehost.Page[O]{Meta: h.readMeta(res.Header)}
	if res.Status == http.StatusNotModified {
		out.NotModified = true
		if out.Validators == (codehost.Validators{}) {
			out.Validators = p.page.Validators
		}
		return out, nil
	}
	var items []I
	if err := c.decodeAnswer(res, &items); err != nil {
		return nil, err
	}
	for i := range items {
		if item, ok := convert(&items[i]); ok {
			out.Items = append(out.Items, item)
		}
	}
	next, err := h.nextPage(c.url, res.Header)
	if err != nil {
		return nil, err
	}
	if next != nil {
		out.NextCursor = next.Query().Get("page")
	}
	return out, nil
}

// readMeta returns what the header of an answer says.
func (h *apiClient) readMeta(header http.Header) codehost.Meta {
	out := codehost.Meta{Validators: codehost.Validators{ETag: printableText(header.Get("Etag")),
		LastModified: printableText(header.Get("Last-Modified"))}}
	if seconds, err := strconv.Atoi(header.Get("X-Poll-Interval")); err == nil && seconds > 0 {
		out.PollInterval = time.Duration(min(seconds, 3600)) * time.Second
	}
	limit, err := strconv.ParseInt(header.Get("X-Ratelimit-Limit"), 10, 64)
	remaining, remainingErr := strconv.ParseInt(header.Get("X-Ratelimit-Remaining"), 10, 64)
	if err != nil || remainingErr != nil {
		return out
	}
	out.Quota = &codehost.Quota{Limit: limit, Remaining: remaining}
	if at, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		out.Quota.ResetAt = time.Unix(at, 0).UTC()
	}
	return out
}
