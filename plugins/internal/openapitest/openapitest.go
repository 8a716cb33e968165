// Package openapitest checks requests and answers against the OpenAPI document that a vendor publishes. Its proxy stands between
// a client and the double of the vendor's service in tests, so that neither can be wrong without the other's noticing.
package openapitest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Config tells what a proxy does.
type Config struct {
	// Document is the OpenAPI document, as JSON. Upstream is the address that requests are passed to.
	Document []byte
	Upstream string
	// Undocumented are prefixes of paths that the document does not describe, such as "/login/". They are passed on unchecked.
	Undocumented []string
}

// Proxy passes requests and answers on unchanged, and records what does not follow the document.
type Proxy struct {
	*httptest.Server

	router       routers.Router
	undocumented []string

	mu         sync.Mutex
	violations map[string]bool
	operations map[string]int
}

// Start starts a proxy that ends with the test. The test fails at its end for each violation, which is named once.
func Start(t testing.TB, cfg Config) *Proxy {
	t.Helper()
	p, err := newProxy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		for _, v := range slices.Sorted(maps.Keys(p.violations)) {
			t.Error(v)
		}
	})
	return p
}

func newProxy(cfg Config) (*Proxy, error) {
	doc, err := openapi3.NewLoader().LoadFromData(cfg.Document)
	if err != nil {
		return nil, err
	}
	// The proxy has another address than the vendor's servers.
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	upstream, err := url.Parse(cfg.Upstream)
	if err != nil {
		return nil, err
	}
	p := &Proxy{router: router, undocumented: cfg.Undocumented, violations: map[string]bool{}, operations: map[string]int{}}
	p.Server = httptest.NewServer(p.checkRequests(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		ModifyResponse: p.checkResponse,
	}))
	return p, nil
}

// Operations returns how often each operation was asked for so far, by its operationId.
func (p *Proxy) Operations() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.operations)
}

// reportViolation records a violation.
func (p *Proxy) reportViolation(r *http.Request, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.violations[fmt.Sprintf("%s %s: %v", r.Method, r.URL.RequestURI(), err)] = true
}

// exchangeKey is the context key of what was asked for.
type exchangeKey struct{}

// checkRequests returns a handler that checks requests before next gets them.
func (p *Proxy) checkRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.ContainsFunc(p.undocumented, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }) {
			next.ServeHTTP(w, r)
			return
		}
		route, params, err := p.router.FindRoute(r)
		if err != nil {
			p.reportViolation(r, err)
			next.ServeHTTP(w, r)
			return
		}
		p.mu.Lock()
		p.operations[route.Operation.OperationID]++
		p.mu.Unlock()
		in := &openapi3filter.RequestValidationInput{
			Request: r, PathParams: params, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true,
				RejectWhenRequestBodyNotSpecified: true, MultiError: true},
		}
		if err := p.checkRequest(in); err != nil {
			p.reportViolation(r, err)
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, in)))
	})
}

// checkRequest checks a request, whose body can be read again afterwards, and that every parameter of its query is a known one.
func (p *Proxy) checkRequest(in *openapi3filter.RequestValidationInput) error {
	for name := range in.Request.URL.Query() {
		if in.Route.Operation.Parameters.GetByInAndName("query", name) == nil &&
			in.Route.PathItem.Parameters.GetByInAndName("query", name) == nil {
			return fmt.Errorf("%s has no parameter %q", in.Route.Operation.OperationID, name)
		}
	}
	return openapi3filter.ValidateRequest(in.Request.Context(), in)
}

// checkResponse checks an answer. Answers that any request may get, and that documents do not name at each operation, need no
// description: 304 of a conditional request, 403 and 429 of a limit, 5xx.
func (p *Proxy) checkResponse(res *http.Response) error {
	in, ok := res.Request.Context().Value(exchangeKey{}).(*openapi3filter.RequestValidationInput)
	if !ok {
		return nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if in.Route.Operation.Responses.Status(res.StatusCode) == nil &&
		(res.StatusCode == 304 || res.StatusCode == 403 || res.StatusCode == 429 || res.StatusCode >= 500) {
		return nil
	}
	err = openapi3filter.ValidateResponse(res.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		p.reportViolation(in.Request, fmt.Errorf("answer %d: %w", res.StatusCode, err))
	}
	return nil
}
