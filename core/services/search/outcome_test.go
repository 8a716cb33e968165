package search

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// answers gives one answer after the other; the last one stays.
func answers(list ...func() (*sdk.Reply, error)) func(context.Context, *sdk.Request) (*sdk.Reply, error) {
	return func(context.Context, *sdk.Request) (*sdk.Reply, error) {
		f := list[0]
		if len(list) > 1 {
			list = list[1:]
		}
		return f()
	}
}

func ok(status int, body string) func() (*sdk.Reply, error) {
	return func() (*sdk.Reply, error) { return reply(status, body), nil }
}

func failing(err error) func() (*sdk.Reply, error) {
	return func() (*sdk.Reply, error) { return nil, err }
}

func judged(status int, s sdk.KeyState) func() (*sdk.Reply, error) {
	return func() (*sdk.Reply, error) {
		r := reply(status, `{"detail":"upstream"}`)
		r.Key.State = s
		return r, nil
	}
}

func charging(status int, credits int64) func() (*sdk.Reply, error) {
	return func() (*sdk.Reply, error) {
		r := reply(status, `{}`)
		r.Usage = &sdk.Usage{Credits: credits}
		return r, nil
	}
}

// upstreamFault is what services get for an error of the plugin.
func upstreamFault(err error) error { return fault.FromPlugin("search.fake", err) }

// TestOutcomes: each has its answer, the quota is right afterwards, no reservation is left, and the books balance.
func TestOutcomes(t *testing.T) {
	tests := []struct {
		name     string
		keys     int
		answers  []func() (*sdk.Reply, error)
		status   int
		code     string
		credits  int64
		attempts int
	}{
		{"success at the price", 0, []func() (*sdk.Reply, error){ok(200, `{}`)}, 200, "", 1, 1},
		{"success at the upstream's word", 0, []func() (*sdk.Reply, error){charging(200, 7)}, 200, "", 7, 1},
		{"success that cost nothing", 0, []func() (*sdk.Reply, error){charging(200, 0)}, 200, "", 0, 1},
		{"an upstream that owes credits", 0, []func() (*sdk.Reply, error){charging(200, -5)}, 200, "", 0, 1},
		{"400 passes through", 0, []func() (*sdk.Reply, error){ok(400, `{"detail":{"error":"no"}}`)}, 400, "", 0, 1},
		{"500 passes through", 0, []func() (*sdk.Reply, error){ok(500, `{}`)}, 500, "", 0, 1},
		{"unreachable", 0, []func() (*sdk.Reply, error){failing(fault.New(fault.UpstreamUnavailable, "No answer."))}, 502,
			"upstream_unavailable", 0, 1},
		{"plugin down", 0, []func() (*sdk.Reply, error){failing(fault.New(fault.PluginUnavailable, "Down."))}, 502, "plugin_unavailable", 0, 1},
		{"refused by the plugin", 0, []func() (*sdk.Reply, error){failing(fault.New(fault.InvalidRequest, "No."))}, 400, "invalid_request", 0, 1},
		{"an error of ours", 0, []func() (*sdk.Reply, error){failing(errors.New("secret detail"))}, 500, "internal", 0, 1},
		{"a panic", 0, []func() (*sdk.Reply, error){func() (*sdk.Reply, error) { panic("secret detail") }}, 500, "internal", 0, 1},
		{"no status", 0, []func() (*sdk.Reply, error){ok(0, `{}`)}, 502, "upstream_unavailable", 0, 1},
		{"status 101", 0, []func() (*sdk.Reply, error){ok(101, `{}`)}, 502, "upstream_unavailable", 0, 1},
		{"status 1000", 0, []func() (*sdk.Reply, error){ok(1000, `{}`)}, 502, "upstream_unavailable", 0, 1},
		{"429 without keys", 0, []func() (*sdk.Reply, error){ok(429, `{}`)}, 502, "upstream_unavailable", 0, 1},
		{"retired once", 0, []func() (*sdk.Reply, error){failing(fmt.Errorf("call: %w", catalog.ErrRetired)), ok(200, `{}`)}, 200, "", 1, 2},
		{"retired for good", 0, []func() (*sdk.Reply, error){failing(catalog.ErrRetired)}, 502, "upstream_unavailable", 0, proxy.MaxReloads},
		{"no key", -1, []func() (*sdk.Reply, error){ok(200, `{}`)}, 502, "upstream_unavailable", 0, 0},
		{"second key", 3, []func() (*sdk.Reply, error){judged(429, sdk.KeyRateLimited), ok(200, `{}`)}, 200, "", 1, 2},
		{"third key", 4, []func() (*sdk.Reply, error){judged(401, sdk.KeyInvalid), judged(432, sdk.KeyExhausted), ok(200, `{}`)}, 200, "", 1, 3},
		{"as many keys as there are", 5, []func() (*sdk.Reply, error){judged(403, sdk.KeyInvalid)}, 502, "upstream_unavailable", 0, 5},
		{"three keys that fail before two that work", 5,
			[]func() (*sdk.Reply, error){judged(401, sdk.KeyInvalid), judged(429, sdk.KeyRateLimited), judged(403, sdk.KeyInvalid), ok(200, `{}`)},
			200, "", 1, 4},
		{"no answer in time", 0, []func() (*sdk.Reply,
			error){failing(upstreamFault(errs.Unavailable(errs.ReasonTimeout, "No answer in time.")))}, 502, "upstream_unavailable", 1, 1},
		{"connection lost", 0, []func() (*sdk.Reply,
			error){failing(upstreamFault(errs.Unavailable(errs.ReasonLost, "The connection ended.")))}, 502, "upstream_unavailable", 1, 1},
		{"answer too large", 0, []func() (*sdk.Reply, error){failing(upstreamFault(errs.Unavailable(errs.ReasonTooLarge, "Too large.")))},
			502, "answer_too_large", 1, 1},
		{"no connection", 0, []func() (*sdk.Reply, error){failing(upstreamFault(errs.Unavailable(errs.ReasonConnect, "Cannot connect.")))},
			502, "upstream_unavailable", 0, 1},
		{"plugin ends in the middle", 0, []func() (*sdk.Reply, error){failing(upstreamFault(status.Error(codes.Unavailable, "EOF")))}, 502,
			"plugin_unavailable", 1, 1},
		{"plugin ends before", 0, []func() (*sdk.Reply, error){failing(fault.Wrap(exchange.ErrClosed, fault.PluginUnavailable, "Down."))}, 502,
			"plugin_unavailable", 0, 1},
		{"all keys spent", 2, []func() (*sdk.Reply, error){judged(433, sdk.KeyExhausted)}, 502, "upstream_unavailable", 0, 2},
		{"403 that is not about the key", 2, []func() (*sdk.Reply, error){ok(403, `{}`)}, 403, "", 0, 1},
		{"401 of which the backend says nothing", 2, []func() (*sdk.Reply, error){ok(401, `{}`), ok(200, `{}`)}, 200, "", 1, 2},
		{"429 that the backend calls fine", 2, []func() (*sdk.Reply, error){judged(429, sdk.KeyOK), ok(200, `{}`)}, 200, "", 1, 2},
		{"432 and 433 of which the backend says nothing", 3, []func() (*sdk.Reply, error){ok(432, `{}`), ok(433, `{}`), ok(200, `{}`)}, 200, "",
			1, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnv(t, func(e *env) { e.backend.desc.Credential = tt.keys != 0; e.backend.invoke = answers(tt.answers...) })
			for i := range tt.keys {
				e.addKeys(fmt.Sprintf("upstream-key-%d", i))
			}
			token := e.token(nil)
			g := e.post("search", token, `{"query":"a"}`)
			if g.status != tt.status || tt.code != "" && g.json["code"] != tt.code {
				t.Errorf("%d %s", g.status, g.body)
			}
			if tt.code != "" && (g.json["error"] != tt.code || g.json["request_id"] != g.header.Get("X-Request-Id") ||
				strings.Contains(g.body, "secret")) {
				t.Errorf("error body %s", g.body)
			}
			if g.header.Get("X-Ratelimit-Remaining") != "499" {
				t.Errorf("rate headers %v", g.header)
			}
			e.flush()
			u := e.used(e.svc, idOf(token))
			if u.Reserved != 0 || u.HourlyCredits != tt.credits || e.sums(idOf(token)) != (sums{1, tt.credits, 1, tt.credits}) {
				t.Errorf("%+v %+v", u, e.sums(idOf(token)))
			}
			if r := e.rows()[0]; r.Attempts != tt.attempts || r.Status != tt.status {
				t.Errorf("%+v", r)
			}
			seen := e.backend.seen()
			for i, a := range seen {
				for _, b := range seen[i+1:] {
					if tt.keys > 0 && a.Credential == b.Credential {
						t.Error("a key was tried twice")
					}
				}
			}
			e.backend.invoke = answers(charging(200, 1))
			e.clock.Advance(61 * 24 * time.Hour)
			if g := e.post("search", token, `{"query":"next"}`); g.status != 200 && tt.keys >= 0 && tt.name != "as many keys as there are" {
				t.Errorf("the next request: %d %s", g.status, g.body)
			}
		})
	}
}

func TestResearchHasAnOwner(t *testing.T) {
	for _, credential := range []bool{false, true} {
		t.Run(fmt.Sprint("credential ", credential), func(t *testing.T) {
			e := newEnv(t, func(e *env) {
				e.backend.desc.Credential = credential
				e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
					r := reply(200, `{"content":"c"}`)
					if req.Operation == sdk.OpResearch {
						r = reply(201, `{"request_id":"r-1"}`)
						r.ResourceID = "r-1"
					}
					return r, nil
				}
			})
			if credential {
				e.addKeys("upstream-key-1", "upstream-key-2")
			}
			owner, other := e.token(nil), e.token(nil)
			get := func(token, id string) got {
				return e.send(http.MethodGet, "/search/api/proxy/research/"+id, "", "Authorization", "Bearer "+token)
			}
			if g := e.post("research", owner, `{"input":"a"}`); g.status != 201 {
				t.Fatal(g.body)
			}
			if g := e.post("search", other, `{"query":"a"}`); g.status != 200 {
				t.Fatal(g.body)
			}
			check := func(when string) {
				t.Helper()
				if g := get(owner, "r-1"); g.status != 200 || g.body != `{"content":"c"}` {
					t.Errorf("%s, the owner: %d %s", when, g.status, g.body)
				}
				for _, g := range []got{get(other, "r-1"), get(owner, "r-2"), get(owner, "%00%ff"), get(owner, "a%20b")} {
					if g.status != 404 || g.json["code"] != "research_request_not_found" {
						t.Errorf("%s, not the owner's: %d %s", when, g.status, g.body)
					}
				}
			}
			check("at once")
			e.flush()
			seen := e.backend.seen()
			first := slices.IndexFunc(seen, func(r sdk.Request) bool { return r.Operation == sdk.OpResearch })
			for _, r := range seen {
				if r.Operation == sdk.OpResearchResult && (r.Credential != seen[first].Credential || r.ResourceID != "r-1") {
					t.Errorf("asked with another key: %+v", r)
				}
			}
			e.svc.ForgetResearch()
			check("from the database")
			if u := e.used(e.svc, idOf(other)); u.HourlyRequests != 1 {
				t.Errorf("a foreign id costs nothing: %+v", u)
			}
			e.clock.Advance(audit.ResearchFor + time.Second)
			if g := get(owner, "r-1"); g.status != 404 {
				t.Errorf("after 7 days: %d", g.status)
			}
		})
	}
}

func TestIDThatNobodyCanAskForIsNotKept(t *testing.T) {
	e := newEnv(t, func(e *env) {
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
			r := reply(201, `{}`)
			r.ResourceID = "bad\x00id"
			return r, nil
		}
	})
	if g := e.post("research", e.token(nil), `{"input":"a"}`); g.status != 201 {
		t.Fatal(g.body)
	}
	e.flush()
	var n int64
	if err := e.store.DB(context.Background()).Model(&audit.ResearchRecord{}).Count(&n).Error; err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// stuck is a stream that panics.
type stuck struct{ searchtest.Chunks }

func (s *stuck) Next() ([]byte, error) { panic("no") }

func TestStreams(t *testing.T) {
	head := sdk.Head{Status: 200, ContentType: "text/event-stream"}
	tests := []struct {
		name    string
		stream  client.SearchStream
		whole   bool
		credits int64
		outcome audit.Outcome
	}{
		{"at the price", &searchtest.Chunks{HeadOf: head, Parts: []string{"data: a\n\n", "data: b\n\n"}}, true, 40, audit.Success},
		{"at the upstream's word", &searchtest.Chunks{HeadOf: head, Parts: []string{"data: a\n\n"}, UsageOf: &sdk.Usage{Credits: 11}}, true, 11,
			audit.Success},
		{"breaks off", &searchtest.Chunks{HeadOf: head, Parts: []string{"data: a\n\n"}, End: fault.New(fault.UpstreamUnavailable, "Gone.")},
			false, 40, audit.Failure},
		{"breaks off after the bill", &searchtest.Chunks{HeadOf: head, Parts: []string{"data: a\n\n"}, End: errors.New("gone"),
			UsageOf: &sdk.Usage{Credits: 5}}, false, 5, audit.Failure},
		{"panics", &stuck{searchtest.Chunks{HeadOf: head}}, false, 40, audit.Failure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnv(t, func(e *env) {
				e.backend.stream = func(context.Context, *sdk.Request) (client.SearchStream, error) { return tt.stream, nil }
			})
			token := e.token(nil)
			whole, body := e.streamed(token)
			if whole != tt.whole {
				t.Errorf("whole: %v, %q", whole, body)
			}
			e.flush()
			u := e.used(e.svc, idOf(token))
			if u.Reserved != 0 || u.HourlyCredits != tt.credits || e.sums(idOf(token)) != (sums{1, tt.credits, 1, tt.credits}) ||
				e.rows()[0].Outcome != tt.outcome {
				t.Errorf("%+v %+v", u, e.rows())
			}
		})
	}
}
