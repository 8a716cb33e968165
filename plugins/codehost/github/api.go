package github

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const apiVersion = "2022-11-28"

// call is one request to the API.
type call struct {
	method string
	// url is absolute; see host.url.
	url   *url.URL
	token schema.Secret
	body  any
	// secret is in the body, and must not come back in a message.
	secret schema.Secret
	// accept replaces the usual media type of the answer.
	accept string
	// validators make the request conditional.
	validators codehost.Validators
}

// requestHeader returns the header of a request, without a body's.
func (c call) requestHeader() (http.Header, error) {
	out := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {apiVersion}}
	for name, value := range map[string]string{
		"Accept": c.accept, "If-None-Match": c.validators.ETag, "If-Modified-Since": c.validators.LastModified,
	} {
		if value != "" {
			out[name] = []string{value}
		}
	}
	if c.token == "" {
		return out, nil
	}
	if strings.ContainsFunc(c.token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the token has characters that are not allowed in a token")
	}
	out["Authorization"] = []string{"Bearer " + c.token.Reveal()}
	return out, nil
}

// apiURL returns the address of a path, each part of which is escaped.
func (h *apiClient) apiURL(query url.Values, parts ...string) *url.URL {
	u := *h.base
	for _, p := range parts {
		u.RawPath = u.EscapedPath() + "/" + url.PathEscape(p)
		u.Path += "/" + p
	}
	u.RawQuery = query.Encode()
	return &u
}

// callAPI makes a request and decodes the answer into out, unless that is nil. Every status that is no success is an error.
func (h *apiClient) callAPI(ctx context.Context, c call, out any) (http.Header, error) {
	res, err := h.fetchAnswer(ctx, c)
	if err != nil {
		return nil, err
	}
	return res.Header, c.decodeAnswer(res, out)
}

// fetchAnswer makes a request. Every status that is no success is an error, save 304 to a conditional request.
func (h *apiClient) fetchAnswer(ctx context.Context, c call) (*httpx.Response, error) {
	header, err := c.requestHeader()
	if err != nil {
		return nil, err
	}
	req := &httpx.Request{Method: c.method, URL: c.url, Header: header}
	if c.body != nil {
		raw, err := json.Marshal(c.body)
		if err != nil {
			return nil, err
		}
		req.Body, req.Header["Content-Type"] = raw, []string{"application/json"}
	}
	res, err := h.sendRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	if res.Status == http.StatusNotModified && c.validators != (codehost.Validators{}) || res.Status >= 200 && res.Status <= 299 {
		return res, nil
	}
	return nil, h.refusalError(c, res)
}

// decodeAnswer decodes an answer into out, unless that is nil.
func (c call) decodeAnswer(res *httpx.Response, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(res.Body, out); err != nil {
		return errs.Unavailable(errs.ReasonProtocol, "%s %s%s: the answer cannot be read", c.method, c.url.Host, c.url.Path)
	}
	return nil
}

// sendRequest makes a request, and goes where a repository has moved to. A request that changes something stays what it is; the
// token goes to the configured host alone.
func (h *apiClient) sendRequest(ctx context.Context, req *httpx.Request) (*httpx.Response, error) {
	for range maxRedirects + 1 {
		res, err := h.http.Do(ctx, req)
		if err != nil || !hasMoved(req.Method, res.Status) {
			return res, err
		}
		to, err := req.URL.Parse(res.Header.Get("Location"))
		if err != nil || !httpx.SameOrigin(to, h.base) {
			return nil, errs.Unavailable(errs.ReasonProtocol, "%s leads to another place", req.URL.Host)
		}
		next := *req
		next.URL, req = to, &next
	}
	return nil, errs.Unavailable(errs.ReasonProtocol, "%s leads to more than %d further addresses", req.URL.Host, maxRedirects)
}

func hasMoved(method string, status int) bool {
	switch status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodGet
	}
	return false
}

// perPage is the most that the API gives at once; maxPages bounds a list whose pages have no end.
const (
	perPage  = "100"
	maxPages = 100
)

// listPage follows the pages of a list while more wants another one.
func listPage[T any](ctx context.Context, h *host, token schema.Secret, first *url.URL, more func([]T) bool) error {
	for next, page := first, 0; next != nil; page++ {
		if page == maxPages {
			return errs.Unavailable(errs.ReasonProtocol, "%s%s: the list has no end", first.Host, first.Path)
		}
		var items []T
		header, err := h.callAPI(ctx, call{method: http.MethodGet, url: next, token: token}, &items)
		if err != nil {
			return err
		}
		if !more(items) {
			return nil
		}
		if next, err = h.nextPage(next, header); err != nil {
			return err
		}
	}
	return nil
}

// nextPage returns the next page, nil on the last one. The token goes to the configured host alone.
func (h *apiClient) nextPage(from *url.URL, header http.Header) (*url.URL, error) {
	for _, value := range header["Link"] {
		for _, part := range strings.Split(value, ",") {
			target, params, _ := strings.Cut(strings.TrimSpace(part), ">")
			rel := strings.ReplaceAll(strings.ReplaceAll(params, `"`, ""), " ", "")
			if !strings.HasPrefix(target, "<") || !strings.Contains(rel+";", ";rel=next;") {
				continue
			}
			next, err := from.Parse(target[1:])
			if err != nil || next.Host != h.base.Host || next.Scheme != h.base.Scheme {
				return nil, errs.Unavailable(errs.ReasonProtocol, "%s names a next page at another place", from.Host)
			}
			return next, nil
		}
	}
	return nil, nil
}
