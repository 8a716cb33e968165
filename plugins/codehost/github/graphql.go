package github

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// graphqlURL returns the address of the GraphQL API that belongs to a REST API.
func graphqlURL(base *url.URL) *url.URL {
	out := *base
	if root, ok := strings.CutSuffix(base.Path, "/v3"); ok {
		out.Path = root
	}
	out.Path += "/graphql"
	return &out
}

// graphqlError is one entry of "errors" in an answer.
type graphqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// graphqlCodes are the codes for the types of errors.
var graphqlCodes = map[string]codes.Code{
	"NOT_FOUND": codes.NotFound, "FORBIDDEN": codes.PermissionDenied, "INSUFFICIENT_SCOPES": codes.PermissionDenied,
	"RATE_LIMITED": codes.ResourceExhausted, "RATE_LIMIT": codes.ResourceExhausted, "UNPROCESSABLE": codes.InvalidArgument,
	"SERVICE_UNAVAILABLE": codes.Unavailable, "INTERNAL": codes.Unavailable,
}

// queryGraphQL makes a query and decodes its data into out. Errors of the types in tolerated are no failure where there is
// data: what they are about is null in it.
func (h *host) queryGraphQL(ctx context.Context, token schema.Secret, query string, variables map[string]any, out any,
	tolerated ...string) (codehost.Meta, error) {
	c := call{method: http.MethodPost, url: graphqlURL(h.base), token: token, body: map[string]any{"query": query, "variables": variables}}
	res, err := h.fetchAnswer(ctx, c)
	if err != nil {
		return codehost.Meta{}, err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []graphqlError  `json:"errors"`
	}
	if err := c.decodeAnswer(res, &answer); err != nil {
		return codehost.Meta{}, err
	}
	hasData := len(answer.Data) > 0 && string(answer.Data) != "null"
	for _, e := range answer.Errors {
		if !hasData || !slices.Contains(tolerated, e.Type) {
			return codehost.Meta{}, h.refusedGraphQL(c, res, e)
		}
	}
	if !hasData || json.Unmarshal(answer.Data, out) != nil {
		return codehost.Meta{}, errs.Unavailable(errs.ReasonProtocol, "%s %s%s: the answer cannot be read", c.method, c.url.Host, c.url.Path)
	}
	meta := h.readMeta(res.Header)
	meta.Validators = codehost.Validators{}
	return meta, nil
}

// refusedGraphQL returns the error that an entry of "errors" means.
func (h *apiClient) refusedGraphQL(c call, res *httpx.Response, said graphqlError) error {
	code, ok := graphqlCodes[said.Type]
	if !ok {
		code = codes.InvalidArgument
	}
	text := printableText(c.redactSecrets(said.Message))
	e := errs.New(errs.Upstream, code, errs.ReasonStatus, "%s %s%s: %s", c.method, c.url.Host, c.url.Path, text)
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(res.Status), Host: c.url.Host,
		RequestId: printableText(res.Header.Get("X-Github-Request-Id"))}
	if code == codes.ResourceExhausted {
		e.RetryAfter = h.untilReset(res.Header)
	}
	return e
}

// untilReset returns how long a limit that is used up lasts.
func (h *apiClient) untilReset(header http.Header) time.Duration {
	if after := httpx.RetryAfter(header.Get("Retry-After"), h.now()); after > 0 {
		return after
	}
	at, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil {
		return secondaryPause
	}
	return min(max(time.Unix(at, 0).Sub(h.now()), time.Second), httpx.MaxRetryAfter)
}

// pageInfo says where a list goes on.
type pageInfo struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}

func (p pageInfo) nextCursor() string {
	if p.HasNextPage {
		return p.EndCursor
	}
	return ""
}

// pageVariables returns $first and $after of a list.
func pageVariables(page codehost.PageRequest) map[string]any {
	out := map[string]any{"first": pageSize(page), "after": nil}
	if page.Cursor != "" {
		out["after"] = page.Cursor
	}
	return out
}
