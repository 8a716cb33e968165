package tavily

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	reasonBody       = "INVALID_BODY"
	reasonResource   = "UNKNOWN_RESOURCE"
	reasonCredential = "NO_CREDENTIAL"
	defaultAgent     = "patchbay"
	typeJSON         = "application/json"
	typeEvents       = "text/event-stream"
	memberAsk        = "include_usage"
	memberUsage      = "usage"
)

// backend is safe for concurrent use.
type backend struct {
	client    *httpx.Client
	endpoints map[string]*url.URL
	project   string
	now       func() time.Time
}

func newBackend(inst search.Instance, cfg Config, now func() time.Time) (*backend, error) {
	agent := inst.UserAgent
	if agent == "" {
		agent = defaultAgent
	}
	client, err := httpx.New(httpx.Config{
		BaseURL: cfg.BaseURL, Timeout: cfg.Timeout, MaxBody: search.MaxBody, UserAgent: agent, TracePath: true,
	})
	if err != nil {
		return nil, err
	}
	b := &backend{client: client, endpoints: map[string]*url.URL{}, project: cfg.Project, now: now}
	for _, op := range []string{search.OpSearch, search.OpExtract, search.OpCrawl, search.OpMap, search.OpResearch, memberUsage} {
		b.endpoints[op] = client.Endpoint("/" + op)
	}
	return b, nil
}

// Close closes idle connections.
func (b *backend) Close() error { return b.client.Close() }

// Invoke implements search.Backend.
func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	switch req.Operation {
	case search.OpSearch, search.OpExtract, search.OpCrawl, search.OpMap:
		return b.callMetered(ctx, req)
	case search.OpResearch:
		return b.callResearch(ctx, req)
	case search.OpResearchResult:
		return b.researchResult(ctx, req)
	}
	return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "operation %q is not known", req.Operation)
}

// callMetered performs an operation whose answer can tell its credits.
func (b *backend) callMetered(ctx context.Context, req *search.Request) (*search.Response, error) {
	body, asked, err := askUsage(req.Body)
	if err != nil {
		return nil, errs.BadInput(reasonBody, "read body: %v", err)
	}
	resp, err := b.callUpstream(ctx, req.Credential, http.MethodPost, b.endpoints[req.Operation], body)
	if err != nil || !isSuccess(resp.Status) {
		return resp, err
	}
	resp.Body, resp.Usage, err = takeUsage(resp.Body, !asked)
	if err != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "read answer to %s: %v", req.Operation, err)
	}
	return resp, nil
}

// askUsage makes a body ask for the credits, and tells whether the client did so itself.
func askUsage(body []byte) (out []byte, asked bool, err error) {
	m, ok, err := jsonedit.Find(body, memberAsk)
	if err != nil {
		return nil, false, err
	}
	if ok && string(m.Value(body)) == "true" {
		return body, true, nil
	}
	out, err = jsonedit.Set(body, memberAsk, []byte("true"))
	return out, false, err
}

func (b *backend) callResearch(ctx context.Context, req *search.Request) (*search.Response, error) {
	resp, err := b.callUpstream(ctx, req.Credential, http.MethodPost, b.endpoints[search.OpResearch], req.Body)
	if err != nil || !isSuccess(resp.Status) {
		return resp, err
	}
	resp.ResourceID, err = requestID(resp.Body)
	if err != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "read answer to research: %v", err)
	}
	return resp, nil
}

func (b *backend) researchResult(ctx context.Context, req *search.Request) (*search.Response, error) {
	if !validID(req.ResourceID) {
		return nil, errs.NotFound(reasonResource, "no research has this id")
	}
	u := *b.endpoints[search.OpResearch]
	u.Path += "/" + req.ResourceID
	u.RawQuery = resultQuery(req.Query)
	resp, err := b.callUpstream(ctx, req.Credential, http.MethodGet, &u, nil)
	if err != nil || !isSuccess(resp.Status) {
		return resp, err
	}
	if err := checkObject(resp.Body); err != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "read result of research: %v", err)
	}
	return resp, nil
}

// validID keeps everything out of the address that could lead to another endpoint.
func validID(id string) bool {
	if id == "" || len(id) > 200 {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// resultQuery keeps the one parameter that the API knows; anything else could identify the client.
func resultQuery(raw string) string {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return ""
	}
	if v := strings.ToLower(values.Get(memberAsk)); v == "true" || v == "false" {
		return memberAsk + "=" + v
	}
	return ""
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// callUpstream performs one request. Every error status is an answer; a success must be JSON.
func (b *backend) callUpstream(
	ctx context.Context, key schema.Secret, method string, u *url.URL, body []byte,
) (*search.Response, error) {
	out, err := b.newOutgoing(key, method, u, body, typeJSON)
	if err != nil {
		return nil, err
	}
	res, err := b.client.Do(ctx, out)
	if err != nil {
		return nil, err
	}
	head := b.newHead(res.Status, res.Header, res.Body, res.Took)
	if err := checkHead(head, typeJSON); err != nil {
		return nil, err
	}
	return &search.Response{Head: head, Body: res.Body}, nil
}

// checkHead refuses an answer that is neither an error status nor a success of one of the content types.
func checkHead(head search.Head, types ...string) error {
	if head.Status >= 400 {
		return nil
	}
	if !isSuccess(head.Status) {
		return errs.Unavailable(errs.ReasonProtocol, "upstream answered with status %d", head.Status)
	}
	got := mediaType(head.ContentType)
	for _, want := range types {
		if got == want {
			return nil
		}
	}
	return errs.Unavailable(errs.ReasonProtocol, "upstream answered with %q instead of %s", got, strings.Join(types, " or "))
}

func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	if len(t) > 100 {
		t = t[:100]
	}
	return t
}

func (b *backend) newOutgoing(key schema.Secret, method string, u *url.URL, body []byte, accept string) (*httpx.Request, error) {
	secret := key.Reveal()
	if secret == "" || strings.ContainsFunc(secret, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		return nil, errs.New(errs.Host, codes.InvalidArgument, reasonCredential, "the call carries no usable credential")
	}
	header := http.Header{"Accept": {accept}, "Authorization": {"Bearer " + secret}}
	if len(body) > 0 {
		header["Content-Type"] = []string{typeJSON}
	}
	if b.project != "" {
		header["X-Project-Id"] = []string{b.project}
	}
	return &httpx.Request{Method: method, URL: u, Header: header, Body: body}, nil
}

func (b *backend) newHead(status int, header http.Header, body []byte, took time.Duration) search.Head {
	retry := header.Get("Retry-After")
	return search.Head{
		Status: status, ContentType: header.Get("Content-Type"), RetryAfter: retry,
		Key: keyVerdict(status, body, retry, b.now()), Upstream: took,
	}
}

// checkObject accepts an object that is nested too deeply for us: it is passed on unread.
func checkObject(body []byte) error {
	err := jsonedit.Walk(body, func([]byte, jsonedit.Member) {})
	if errors.Is(err, jsonedit.ErrDepth) {
		return nil
	}
	return err
}
