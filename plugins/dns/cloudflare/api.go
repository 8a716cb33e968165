package cloudflare

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/jsonapi"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Codes of the API's errors.
const (
	codeInvalidZone = 1001  // the id of the zone is not valid
	codeZoneExists  = 1061  // a zone of this name exists, here or in another account
	codeNoRoute     = 7003  // nothing has this id
	codeHostExists  = 81053 // an A, AAAA or CNAME record excludes this one
	codeCNAMEExists = 81054 // a CNAME record excludes this one
)

// envelope is the form of every answer.
type envelope struct {
	Success *bool           `json:"success"`
	Errors  []apiError      `json:"errors"`
	Result  json.RawMessage `json:"result"`
	Info    struct {
		Page       int `json:"page"`
		TotalPages int `json:"total_pages"`
		PerPage    int `json:"per_page"`
		TotalCount int `json:"total_count"`
	} `json:"result_info"`
}

type apiError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// errorMessage returns what the body of a refusal says.
func errorMessage(body []byte) string {
	var said envelope
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	var texts []string
	for _, e := range said.Errors {
		texts = append(texts, fmt.Sprintf("%s (%d)", e.Message, e.Code))
	}
	return strings.Join(texts, "; ")
}

// hasCode reports whether a refusal has one of the codes of the API.
func hasCode(err error, wanted ...int) bool {
	e := errs.From(err)
	if e == nil || e.Upstream == nil {
		return false
	}
	var said envelope
	return json.Unmarshal(e.Upstream.GetBody(), &said) == nil &&
		slices.ContainsFunc(said.Errors, func(e apiError) bool { return slices.Contains(wanted, e.Code) })
}

// isMissing reports whether a refusal says that what the path names does not exist.
func isMissing(err error) bool {
	e := errs.From(err)
	return e != nil && (e.Code == codes.NotFound || hasCode(err, codeInvalidZone, codeNoRoute))
}

// cooldown is the time until which the API wants no requests. Its zero value is none.
type cooldown struct {
	mu    sync.Mutex
	until time.Time
}

// checkNow returns the error of a call that is made too early.
func (c *cooldown) checkNow(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.until) {
		return dns.CoolingDown(c.until, now)
	}
	return nil
}

// beginUntil lets a cool-down last until a time, unless a longer one does already.
func (c *cooldown) beginUntil(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.After(c.until) {
		c.until = until
	}
}

// callAPI makes a request, unless a cool-down lasts, and decodes the result into out, unless that is nil.
func (p *provider) callAPI(ctx context.Context, method string, path []string, query url.Values, body, out any) (*envelope, error) {
	if err := p.cooldown.checkNow(time.Now()); err != nil {
		return nil, err
	}
	var got envelope
	err := p.api.Do(ctx, jsonapi.Call{Method: method, Path: path, Query: query, Body: body}, &got)
	if e := errs.From(err); e != nil && e.Code == codes.ResourceExhausted {
		p.cooldown.beginUntil(time.Now().Add(e.RetryAfter))
	}
	if err != nil {
		return nil, err
	}
	where := method + " /" + strings.Join(path, "/")
	if got.Success == nil || !*got.Success {
		text := ""
		for _, e := range got.Errors {
			text += "; " + e.Message
		}
		return nil, errs.Unavailable(errs.ReasonProtocol, "%s: the answer does not report success%.200s", where, text)
	}
	if out != nil && json.Unmarshal(got.Result, out) != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "%s: the result cannot be read", where)
	}
	return &got, nil
}

// inZone is call for a path below a zone. A zone that does not exist is NoZone.
func (p *provider) inZone(ctx context.Context, method, zoneID string, path []string, body, out any) error {
	_, err := p.callAPI(ctx, method, append([]string{"zones", zoneID}, path...), nil, body, out)
	if len(path) == 0 && isMissing(err) {
		return dns.NoZone(zoneID)
	}
	return err
}

const (
	// perPage is the most that every list of the API gives at once; maxPages bounds a list whose pages have no end.
	perPage  = 50
	maxPages = 400
)

// listAll returns all pages of a list.
func listAll[T any](ctx context.Context, p *provider, path []string, query url.Values) ([]T, error) {
	var all []T
	for page := 1; page <= maxPages; page++ {
		var items []T
		asked := url.Values{"page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(perPage)}}
		for name, values := range query {
			asked[name] = values
		}
		got, err := p.callAPI(ctx, http.MethodGet, path, asked, nil, &items)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if len(items) == 0 || got.Info.TotalCount > 0 && len(all) >= got.Info.TotalCount || got.Info.TotalCount == 0 && len(items) < perPage {
			return all, nil
		}
	}
	return nil, errs.Unavailable(errs.ReasonProtocol, "GET /%s: the list has no end", strings.Join(path, "/"))
}
