package tavily_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/search/tavily"
	"github.com/patchbay-dev/patchbay/plugins/search/tavily/tavilytest"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "tvly-one"

// open makes a backend in front of a stand-in that accepts key, below the path /v1.
func open(t testing.TB, cfg tavilytest.Config) (search.Backend, *tavilytest.Server) {
	t.Helper()
	if cfg.Keys == nil {
		cfg.Keys = []string{key}
	}
	fake := tavilytest.New(cfg)
	srv := httptest.NewServer(http.StripPrefix("/v1", fake))
	b := build(t, tavily.Config{BaseURL: srv.URL + "/v1/", Timeout: 5 * time.Second, Project: "p1"})
	t.Cleanup(func() {
		fake.Close()
		_ = b.(interface{ Close() error }).Close()
		srv.Close()
	})
	return b, fake
}

func build(t testing.TB, cfg tavily.Config) search.Backend {
	t.Helper()
	inst := search.Instance{Name: "web", UserAgent: "patchbay/test", Log: hclog.NewNullLogger()}
	make, diags := tavily.Definition().Build(inst, cfg)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	b, err := make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func request(op, body string) *search.Request {
	return &search.Request{Operation: op, Body: []byte(body), Credential: key, RequestID: "r1", Query: "client=1"}
}

func TestOnlyTheBodyGoesUp(t *testing.T) {
	b, fake := open(t, tavilytest.Config{})
	for _, op := range []string{search.OpSearch, search.OpExtract, search.OpCrawl, search.OpMap} {
		body := `{"query":"q","urls":["https://example.org"],"url":"https://example.org", "n" : 1.50}`
		req := request(op, body)
		resp, err := b.Invoke(t.Context(), req)
		if err != nil || resp.Status != http.StatusOK {
			t.Fatalf("%s: %+v, %v", op, resp, err)
		}
		if string(req.Body) != body {
			t.Errorf("%s: request was changed", op)
		}
		if resp.Usage == nil || resp.Usage.Credits < 1 || resp.Key.State != search.KeyOK || resp.Upstream <= 0 {
			t.Errorf("%s: head is %+v", op, resp.Head)
		}
		if strings.Contains(string(resp.Body), "usage") || !json.Valid(resp.Body) {
			t.Errorf("%s: answer is %s", op, resp.Body)
		}
	}
	for _, r := range fake.Requests() {
		want := `{"query":"q","urls":["https://example.org"],"url":"https://example.org", "n" : 1.50,"include_usage":true}`
		if r.Body != want || r.Query != "" {
			t.Errorf("%s: upstream saw %s?%s", r.Path, r.Body, r.Query)
		}
		r.Header.Del("Content-Length")
		wantHeader := http.Header{
			"Accept": {"application/json"}, "Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
			"User-Agent": {"patchbay/test"}, "X-Project-Id": {"p1"},
		}
		if diff := cmp.Diff(wantHeader, r.Header); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", r.Path, diff)
		}
	}
}

func TestUsage(t *testing.T) {
	credits := func(n int64) *search.Usage { return &search.Usage{Credits: n} }
	for _, tt := range []struct {
		name, in, up, answer, want string
		usage                      *search.Usage
	}{
		{"cut", `{}`, `{"include_usage":true}`, `{"a": 1.0 , "usage" : {"credits":2}, "b":[ ]}` + "\n", `{"a": 1.0, "b":[ ]}` + "\n", credits(2)},
		{"asked", `{"include_usage": true}`, `{"include_usage": true}`, `{"usage":{"credits":2}}`, `{"usage":{"credits":2}}`, credits(2)},
		{"false", `{"include_usage": false}`, `{"include_usage": true}`, `{"usage":{"credits":0}}`, `{}`, credits(0)},
		{"escaped", `{"include\u005fusage":false}`, `{"include\u005fusage":true}`, `{"us\u0061ge":{"credits":1},"a":1}`, `{"a":1}`, credits(1)},
		{"nested stays", `{}`, `{"include_usage":true}`, `{"a":{"usage":{"credits":9}}}`, `{"a":{"usage":{"credits":9}}}`, nil},
		{"fraction", `{}`, `{"include_usage":true}`, `{"usage":{"credits":1.2}}`, `{}`, credits(2)},
		{"odd", `{}`, `{"include_usage":true}`, `{"usage":{"credits":"x"}}`, `{}`, nil},
		{"negative", `{}`, `{"include_usage":true}`, `{"usage":{"credits":-1}}`, `{}`, nil},
		{"too deep", `{}`, `{"include_usage":true}`, `{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`,
			`{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, fake := open(t, tavilytest.Config{})
			fake.Script(tavilytest.Answer{Status: 200, Body: tt.answer})
			resp, err := b.Invoke(t.Context(), request(search.OpSearch, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(resp.Body) != tt.want {
				t.Errorf("answer is %q, want %q", resp.Body, tt.want)
			}
			if diff := cmp.Diff(tt.usage, resp.Usage); diff != "" {
				t.Error(diff)
			}
			if up := fake.Requests()[0].Body; up != tt.up {
				t.Errorf("upstream saw %s, want %s", up, tt.up)
			}
		})
	}
}

func TestErrorStatuses(t *testing.T) {
	date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for _, tt := range []struct {
		status      int
		body, retry string
		want        search.KeyState
		after       time.Duration
	}{
		{400, `{"detail":{"error":"bad"}}`, "", search.KeyUnknown, 0},
		{401, ``, "", search.KeyInvalid, 0},
		{403, `{"detail":{"error":"URL is not supported"}}`, "", search.KeyUnknown, 0},
		{403, `{"detail":{"error":"This API key was REVOKED"}}`, "", search.KeyInvalid, 0},
		{403, `account is deactivated`, "", search.KeyInvalid, 0},
		{403, `{"detail":{"error":"Your account has been suspended."}}`, "", search.KeyInvalid, 0},
		{403, `Invalid API key`, "", search.KeyInvalid, 0},
		{422, `{"detail":[]}`, "", search.KeyUnknown, 0},
		{429, ``, "", search.KeyRateLimited, 0},
		{429, ``, "17", search.KeyRateLimited, 17 * time.Second},
		{429, ``, "-5", search.KeyRateLimited, 0},
		{429, ``, "soon", search.KeyRateLimited, 0},
		{429, ``, "99999999999", search.KeyRateLimited, 24 * time.Hour},
		{429, ``, date, search.KeyRateLimited, 90 * time.Second},
		{432, ``, "", search.KeyExhausted, 0},
		{433, ``, "", search.KeyExhausted, 0},
		{500, `<html>`, "", search.KeyUnknown, 0},
		{503, ``, "3", search.KeyUnknown, 0},
	} {
		b, fake := open(t, tavilytest.Config{})
		header := map[string]string{"Content-Type": "text/odd"}
		if tt.retry != "" {
			header["Retry-After"] = tt.retry
		}
		body := tt.body
		if body == "" {
			body = "{ }"
		}
		for _, op := range []string{search.OpSearch, search.OpResearch} {
			fake.Script(tavilytest.Answer{Status: tt.status, Body: body, Header: header})
			resp, err := b.Invoke(t.Context(), request(op, `{"query":"q","input":"i"}`))
			if err != nil {
				t.Fatalf("%d %s: %v", tt.status, op, err)
			}
			if resp.Status != tt.status || string(resp.Body) != body || resp.ContentType != "text/odd" || resp.RetryAfter != tt.retry {
				t.Errorf("%d %s: got %+v %s", tt.status, op, resp.Head, resp.Body)
			}
			off := resp.Key.RetryAfter - tt.after
			if resp.Key.State != tt.want || off > 0 || off < -5*time.Second {
				t.Errorf("%d %s: verdict is %+v, want %v after %s", tt.status, op, resp.Key, tt.want, tt.after)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for fault, reason := range map[string]string{
		tavilytest.FaultReset: errs.ReasonLost, tavilytest.FaultHalfBody: errs.ReasonLost, tavilytest.FaultWrongLength: errs.ReasonProtocol,
		tavilytest.FaultHTML: errs.ReasonProtocol, tavilytest.FaultHuge: errs.ReasonTooLarge, tavilytest.FaultGarbage: errs.ReasonProtocol,
		tavilytest.FaultHang: errs.ReasonTimeout, tavilytest.FaultLarge: "",
	} {
		t.Run(fault, func(t *testing.T) {
			fake := tavilytest.New(tavilytest.Config{})
			srv := httptest.NewServer(fake)
			defer srv.Close()
			defer fake.Close()
			timeout := 10 * time.Second
			if fault == tavilytest.FaultHang {
				timeout = 100 * time.Millisecond
			}
			b := build(t, tavily.Config{BaseURL: srv.URL, Timeout: timeout})
			defer b.(interface{ Close() error }).Close()
			fake.Script(tavilytest.Answer{Fault: fault})
			resp, err := b.Invoke(t.Context(), request(search.OpSearch, `{"query":"q"}`))
			if reason == "" {
				if err != nil || len(resp.Body) < 10<<20 || resp.Usage == nil {
					t.Fatal(err)
				}
			} else if e := errs.From(err); e == nil || e.Reason != reason || e.Source != errs.Upstream {
				t.Fatalf("got %v, want %s", err, reason)
			}
			if resp, err := b.Invoke(t.Context(), request(search.OpSearch, `{"query":"q"}`)); err != nil || resp.Status != 200 {
				t.Errorf("the next call failed: %v", err)
			}
		})
	}
}

func TestBadCalls(t *testing.T) {
	b, fake := open(t, tavilytest.Config{})
	for name, req := range map[string]*search.Request{
		"unknown operation": request("delete", `{}`),
		"not JSON":          request(search.OpSearch, `{"query":`),
		"not an object":     request(search.OpSearch, `[]`),
		"empty":             request(search.OpSearch, ``),
		"no key":            {Operation: search.OpSearch, Body: []byte(`{}`)},
		"key with a line":   {Operation: search.OpSearch, Body: []byte(`{}`), Credential: "a\r\nX: y"},
		"path in the id":    {Operation: search.OpResearchResult, ResourceID: "../usage", Credential: key},
		"dots":              {Operation: search.OpResearchResult, ResourceID: "..", Credential: key},
		"no id":             {Operation: search.OpResearchResult, Credential: key},
	} {
		if resp, err := b.Invoke(t.Context(), req); err == nil {
			t.Errorf("%s: got %d", name, resp.Status)
		}
	}
	if n := len(fake.Requests()); n > 0 {
		t.Errorf("%d requests went up", n)
	}
}

func TestBuild(t *testing.T) {
	for name, cfg := range map[string]tavily.Config{
		"base_url": {BaseURL: "api.tavily.com", Timeout: time.Second},
		"timeout":  {BaseURL: "https://x", Timeout: -1},
		"project":  {BaseURL: "https://x", Timeout: time.Second, Project: "a b"},
	} {
		_, diags := tavily.Definition().Build(search.Instance{}, cfg)
		if len(diags) != 1 || diags[0].Path.String() != name || diags[0].Severity != schema.Error {
			t.Errorf("%s: got %v", name, diags)
		}
	}
}

func TestOperations(t *testing.T) {
	kind, err := tavily.Plugin().Kinds[0].Describe()
	if err != nil || kind.GetName() != search.Kind {
		t.Fatalf("got %v, %v", kind, err)
	}
	for _, op := range tavily.Definition().Operations {
		if op.Name == search.OpResearchResult {
			continue
		}
		var s struct {
			Schema     string                    `json:"$schema"`
			Type       string                    `json:"type"`
			Properties map[string]map[string]any `json:"properties"`
			Required   []string                  `json:"required"`
		}
		if err := json.Unmarshal([]byte(op.InputSchema), &s); err != nil {
			t.Fatalf("%s: %v", op.Name, err)
		}
		if !strings.Contains(s.Schema, "2020-12") || s.Type != "object" || !cmp.Equal(s.Required, op.Required) {
			t.Errorf("%s: schema is %+v", op.Name, s)
		}
		for name, p := range s.Properties {
			if p["description"] == nil {
				t.Errorf("%s: %s has no description", op.Name, name)
			}
		}
		if op.Tool != "tavily_"+op.Name || len(op.Price) == 0 {
			t.Errorf("%s: tool %q, price %v", op.Name, op.Tool, op.Price)
		}
	}
}
