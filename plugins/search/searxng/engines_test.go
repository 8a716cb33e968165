package searxng_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/searxng"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng/searxngtest"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func nothing(string, string) []searxngtest.Result { return nil }

// general are engines as a server has them: two that search the web, one for facts, one for news, and one that is switched off.
var general = []searxngtest.Engine{
	{Name: "one", Categories: []string{"general"}, TimeRange: true}, {Name: "two", Categories: []string{"general", "web"}},
	{Name: "wikipedia", Categories: []string{"general"}},
	{Name: "news one", Categories: []string{"news"}}, {Name: "off", Categories: []string{"general"}, Disabled: true},
}

// TestEnginesThatFailed: a search that no engine could do is a failure with the reason; one that found nothing is an answer.
func TestEnginesThatFailed(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		cfg        searxngtest.Config
		change     func(*searxng.Config)
		// want is in the error; empty for an answer.
		want string
	}{
		{"nothing to find", `{"query":"q"}`, searxngtest.Config{Engines: general}, nil, ""},
		{"one failed", `{"query":"q"}`, searxngtest.Config{Engines: general, Unresponsive: []string{"one"}}, nil, ""},
		{"all failed", `{"query":"q"}`, searxngtest.Config{Engines: general, Unresponsive: []string{"one", "two"}}, nil,
			"could search: one (timeout), two (timeout)"},
		{"all failed, facts too", `{"query":"q"}`, searxngtest.Config{Engines: general, Unresponsive: []string{"one", "two", "wikipedia"}}, nil,
			"wikipedia (timeout)"},
		{"all of the category failed", `{"query":"q","topic":"news"}`, searxngtest.Config{Engines: general, Unresponsive: []string{"news one"}},
			nil, "news one (timeout)"},
		{"all of those that know time failed", `{"query":"q","time_range":"day"}`,
			searxngtest.Config{Engines: general, Unresponsive: []string{"one"}}, nil, "one (timeout)"},
		{"no engine knows time", `{"query":"q","topic":"news","time_range":"day"}`, searxngtest.Config{Engines: general}, nil,
			"no engine for such a search: enable engines for the categories news that can search by time"},
		{"no such category", `{"query":"q"}`, searxngtest.Config{Engines: general},
			func(c *searxng.Config) { c.Categories = []string{"science"} }, "categories science"},
		{"all that were named failed", `{"query":"q"}`, searxngtest.Config{Engines: general, Unresponsive: []string{"one"}},
			func(c *searxng.Config) { c.Engines = []string{"one"} }, "one (timeout)"},
		{"engines unknown, one failed", `{"query":"q"}`, searxngtest.Config{Unresponsive: []string{"one"}}, nil, "one (timeout)"},
		{"engines unknown, nothing to find", `{"query":"q"}`, searxngtest.Config{}, nil, ""},
		{"an answer alone", `{"query":"q","include_answer":true}`,
			searxngtest.Config{Engines: general, Unresponsive: []string{"one", "two"}, Answers: []string{"42"}}, nil, ""},
		{"many failed", `{"query":"q"}`, searxngtest.Config{Unresponsive: strings.Split(strings.Repeat("e,", 20)+"e", ",")}, nil, "and 13 more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Results = nothing
			b := open(t, searxngtest.New(tt.cfg), tt.change)
			resp, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(tt.body)})
			if tt.want == "" {
				if err != nil || resp.Status != http.StatusOK || !strings.Contains(string(resp.Body), `"results":[]`) {
					t.Errorf("got %+v, %v", resp, err)
				}
				return
			}
			e := errs.From(err)
			if err == nil || e.Source != errs.Upstream || e.Reason != errs.ReasonExplained || !strings.Contains(e.Message, tt.want) {
				t.Errorf("got %+v, %v", resp, err)
			}
			health := b.(framework.Healther).Health(t.Context())
			if strings.Contains(tt.want, "can search by time") {
				// The search failed, not the server.
				if health != nil {
					t.Errorf("health is %v", health)
				}
				return
			}
			if health == nil || !strings.Contains(health.Error(), tt.want) {
				t.Errorf("health is %v", health)
			}
		})
	}
}

// TestSearchesWithoutEngine: searches for news or a time that no engine knows change nothing of the health.
func TestSearchesWithoutEngine(t *testing.T) {
	web := []searxngtest.Engine{{Name: "one", Categories: []string{"general"}}}
	for _, body := range []string{`{"query":"q","topic":"news"}`, `{"query":"q","time_range":"day"}`} {
		for _, before := range []string{"", "search.formats"} {
			fake := searxngtest.New(searxngtest.Config{Engines: web, Results: nothing})
			b := open(t, fake, nil)
			if before != "" {
				fake.Script(searxngtest.Scripted{Status: http.StatusForbidden, Times: 1})
				if _, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"q"}`)}); err == nil {
					t.Fatal("the server let it pass")
				}
			}
			_, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(body)})
			if err == nil || !strings.Contains(err.Error(), "no engine for such a search") {
				t.Errorf("%s: got %v", body, err)
			}
			got := ""
			if err := b.(framework.Healther).Health(t.Context()); err != nil {
				got = err.Error()
			}
			if (before == "") != (got == "") || !strings.Contains(got, before) {
				t.Errorf("%s: health is %q, before it was %q", body, got, before)
			}
		}
	}
}

// TestEnginesThatFailOnALaterPage: what the first page had is the answer.
func TestEnginesThatFailOnALaterPage(t *testing.T) {
	fake := searxngtest.New(searxngtest.Config{Engines: general, PageSize: 25, Unresponsive: []string{"one"}})
	if _, a := call(t, open(t, fake, nil), search.OpSearch,
		`{"query":"q","max_results":20,"include_domains":["site1.example"]}`); len(a.Results) != 5 {
		t.Errorf("got %+v", a.Results)
	}
}

// TestHealth: before the first search the server is asked, without a query; then the last search tells.
func TestHealth(t *testing.T) {
	fake := searxngtest.New(searxngtest.Config{NoJSON: true})
	b := open(t, fake, nil)
	health := func() string {
		if err := b.(framework.Healther).Health(t.Context()); err != nil {
			return err.Error()
		}
		return ""
	}
	for range 3 {
		if got := health(); !strings.Contains(got, "search.formats") {
			t.Errorf("a server without JSON: %q", got)
		}
	}
	if n := len(fake.Requests()); n != 0 {
		t.Errorf("the health made %d searches", n)
	}
	good := searxngtest.New(searxngtest.Config{})
	b = open(t, good, nil)
	if got := health(); got != "" {
		t.Errorf("a server that works: %q", got)
	}
	good.Script(searxngtest.Scripted{Status: 429, Times: 1})
	if _, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"q"}`)}); err == nil {
		t.Fatal("the limiter let it pass")
	}
	if got := health(); !strings.Contains(got, "pass_ip") {
		t.Errorf("after the limiter: %q", got)
	}
	call(t, b, search.OpSearch, `{"query":"q"}`)
	if got := health(); got != "" {
		t.Errorf("after a search that works: %q", got)
	}
}
