package searxng_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/search/searxng"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng/searxngtest"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes a backend before a stand-in. change may be nil.
func open(t *testing.T, fake http.Handler, change func(*searxng.Config)) search.Backend {
	t.Helper()
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	cfg := searxng.Config{BaseURL: srv.URL + "/", Language: "all", Timeout: 5 * time.Second, Parallel: 2, Pages: 50}
	if change != nil {
		change(&cfg)
	}
	make, diags := searxng.Definition().Build(search.Instance{Name: "web", Log: hclog.NewNullLogger(), UserAgent: "patchbay/test"}, cfg)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	b, err := make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.(interface{ Close() error }).Close() })
	return b
}

type answer struct {
	Query   string
	Answer  *string
	Images  []any
	Results []struct {
		Title, URL, Content string
		Score               float64
		RawContent          *string `json:"raw_content"`
		Published           string  `json:"published_date"`
	}
	ResponseTime *float64 `json:"response_time"`
	Usage        *struct{ Credits int }
	RequestID    string `json:"request_id"`
	Detail       struct{ Error string }
	Status       string
	Content      string
	Sources      []struct{ Title, URL string }
}

func (a answer) urls() []string {
	out := []string{}
	for _, r := range a.Results {
		out = append(out, r.URL)
	}
	return out
}

func call(t *testing.T, b search.Backend, op, body string) (int, answer) {
	t.Helper()
	resp, err := b.Invoke(t.Context(), &search.Request{Operation: op, Body: []byte(body), RequestID: "r1"})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var out answer
	if err := json.Unmarshal(resp.Body, &out); err != nil {
		t.Fatal(err)
	}
	return resp.Status, out
}

func TestSearch(t *testing.T) {
	fake := searxngtest.New(searxngtest.Config{Answers: []string{"42"}, Infobox: "Facts of it."})
	b := open(t, fake, func(c *searxng.Config) {
		c.Categories, c.Engines, c.Language, c.SafeSearch = []string{"general", "it"}, []string{"one", "two"}, "en", 1
	})
	status, a := call(t, b, search.OpSearch,
		`{"query":"crane","include_usage":true,"search_depth":"advanced","topic":"finance","time_range":"w","x":1}`)
	if status != http.StatusOK || a.Query != "crane" || a.Answer != nil || a.Images == nil || a.Usage == nil || a.ResponseTime == nil ||
		a.RequestID != "r1" {
		t.Errorf("got %d %+v", status, a)
	}
	if len(a.Results) != 5 || a.Results[0].Score != 1 || a.Results[1].Score != 0.5 || a.Results[0].Title != "Result 0 for crane" ||
		a.Results[0].Content == "" {
		t.Errorf("got %+v", a.Results)
	}
	want := url.Values{
		"q": {"crane"}, "format": {"json"}, "pageno": {"1"}, "language": {"en"}, "safesearch": {"1"}, "time_range": {"week"},
		"categories": {"general,it"}, "engines": {"one,two"},
	}
	if diff := cmp.Diff([]url.Values{want}, fake.Requests()); diff != "" {
		t.Error(diff)
	}
}

func TestParameters(t *testing.T) {
	for body, want := range map[string]url.Values{
		`{"query":"q","topic":"news"}`:                            {"categories": {"news"}},
		`{"query":"q","days":3}`:                                  {"time_range": {"week"}},
		`{"query":"q","days":30,"time_range":"year"}`:             {"time_range": {"year"}},
		`{"query":"q","safe_search":true}`:                        {"safesearch": {"2"}},
		`{"query":"q","include_domains":["https://www.A.org/x"]}`: {"q": {"q site:a.org"}},
		`{"query":"q","include_domains":["a.org","b.org"]}`:       {"q": {"q site:a.org OR site:b.org"}},
		`{"query":"!!g  some\nwords"}`:                            {"q": {"g some words"}},
	} {
		fake := searxngtest.New(searxngtest.Config{})
		call(t, open(t, fake, nil), search.OpSearch, body)
		for k, v := range want {
			if got := fake.Requests()[0][k]; !cmp.Equal(v, got) {
				t.Errorf("%s: %s is %v", body, k, got)
			}
		}
	}
	b := open(t, searxngtest.New(searxngtest.Config{}), nil)
	many := strings.TrimSuffix(strings.Repeat(`"a.org",`, 301), ",")
	for _, body := range []string{
		``, `[]`, `{}`, `{"query":" "}`, `{"query":"!! !!"}`, `{"query":5}`, `{"query":"q","max_results":21}`, `{"query":"q","max_results":-1}`,
		`{"query":"q","topic":"sports"}`,
		`{"query":"q","time_range":"decade"}`, `{"query":"q","days":-1}`, `{"query":"q","start_date":"1.1.2026"}`, `{"query":"q","end_date":5}`,
		`{"query":"q","include_answer":"yes"}`, `{"query":"q","include_raw_content":"pdf"}`, `{"query":"q","include_images":1}`,
		`{"query":"q","safe_search":"x"}`,
		`{"query":"q","include_domains":[` + many + `]}`, `{"query":"q","exclude_domains":[""]}`, `{"query":"q","include_domains":["a b"]}`,
		`{"query":"` + strings.Repeat("x", 2001) + `"}`,
	} {
		if status, a := call(t, b, search.OpSearch, body); status != http.StatusBadRequest || a.Detail.Error == "" {
			t.Errorf("%s: got %d", body, status)
		}
	}
}

func TestPagesAndDomains(t *testing.T) {
	for body, want := range map[string]struct{ results, requests int }{
		`{"query":"q","max_results":20}`:                                                         {20, 2},
		`{"query":"q","max_results":0}`:                                                          {0, 0},
		`{"query":"q","max_results":0,"include_answer":true}`:                                    {0, 1},
		`{"query":"q","max_results":10}`:                                                         {10, 1},
		`{"query":"q","include_domains":["site1.example"]}`:                                      {5, 3},
		`{"query":"q","max_results":20,"exclude_domains":["site0.example","www.site1.example"]}`: {15, 4},
		`{"query":"q","include_domains":["example"],"exclude_domains":["site2.example"]}`:        {5, 1},
		`{"query":"q","include_domains":["other.example"]}`:                                      {0, 4},
	} {
		fake := searxngtest.New(searxngtest.Config{})
		_, a := call(t, open(t, fake, nil), search.OpSearch, body)
		if len(a.Results) != want.results || len(fake.Requests()) != want.requests {
			t.Errorf("%s: %d results by %d requests", body, len(a.Results), len(fake.Requests()))
		}
	}
	// A server that fails, or repeats itself, after the first page.
	fake := searxngtest.New(searxngtest.Config{})
	calls := 0
	b := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fake.ServeHTTP(w, r)
	}), nil)
	if _, a := call(t, b, search.OpSearch, `{"query":"q","max_results":20}`); len(a.Results) != 10 {
		t.Errorf("got %d results", len(a.Results))
	}
	fake = searxngtest.New(searxngtest.Config{Results: func(string, string) (out []searxngtest.Result) {
		for range 30 {
			out = append(out, searxngtest.Result{URL: "https://a.example/", Title: "A"})
		}
		return append(out, searxngtest.Result{URL: "javascript:alert(1)"}, searxngtest.Result{URL: ":bad"})
	}})
	if _, a := call(t, open(t, fake, nil), search.OpSearch, `{"query":"q","max_results":20}`); len(a.Results) != 1 ||
		a.Results[0].Score != 1 || len(fake.Requests()) != 2 {
		t.Errorf("got %+v by %d requests", a.Results, len(fake.Requests()))
	}
}

func TestAnswersImagesDates(t *testing.T) {
	for want, cfg := range map[string]searxngtest.Config{
		"42": {Answers: []string{" 42 "}, Infobox: "facts"}, "43": {Answers: []string{"", "43"}, TextAnswers: true}, "facts": {Infobox: "facts"},
		"": {},
	} {
		_, a := call(t, open(t, searxngtest.New(cfg), nil), search.OpSearch, `{"query":"q","include_answer":"basic"}`)
		if want == "" && a.Answer != nil || want != "" && (a.Answer == nil || *a.Answer != want) {
			t.Errorf("%q: got %v", want, a.Answer)
		}
	}
	fake := searxngtest.New(searxngtest.Config{})
	b := open(t, fake, func(c *searxng.Config) { c.Engines = []string{"one"} })
	_, a := call(t, b, search.OpSearch, `{"query":"q","include_images":true}`)
	if len(a.Images) != 10 || a.Images[0] != "https://images.example/0.png" || fake.Requests()[1].Get("categories") != "images" ||
		fake.Requests()[1].Has("engines") {
		t.Errorf("got %v", a.Images)
	}
	_, a = call(t, b, search.OpSearch, `{"query":"q","include_images":true,"include_image_descriptions":true}`)
	if diff := cmp.Diff(map[string]any{"url": "https://images.example/0.png", "description": "Result 0 for q"}, a.Images[0]); diff != "" {
		t.Error(diff)
	}
	dated := searxngtest.New(searxngtest.Config{Results: func(string, string) []searxngtest.Result {
		return []searxngtest.Result{
			{URL: "https://a.example/", Published: "2026-01-01T10:00:00"}, {URL: "https://b.example/", Published: "2026-02-01T23:59:59Z"},
			{URL: "https://c.example/", Published: "2026-03-01"}, {URL: "https://d.example/", Published: "some day"}, {URL: "https://e.example/"},
		}
	}})
	_, a = call(t, open(t, dated, nil), search.OpSearch, `{"query":"q","start_date":"2026-01-02","end_date":"2026-02-01"}`)
	if diff := cmp.Diff([]string{"https://b.example/", "https://d.example/", "https://e.example/"}, a.urls()); diff != "" ||
		a.Results[0].Published == "" {
		t.Error(diff)
	}
}

func TestErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		answer       searxngtest.Scripted
		reason, text string
		after        time.Duration
	}{
		"limiter": {searxngtest.Scripted{Status: 429, Header: map[string]string{"Retry-After": "7"}}, errs.ReasonExplained, "pass_ip",
			7 * time.Second},
		"forbidden": {searxngtest.Scripted{Status: 403}, errs.ReasonExplained, "search.formats", 0},
		"HTML":      {searxngtest.Scripted{Status: 200, ContentType: "text/html", Body: "<html>"}, errs.ReasonExplained, "instead of JSON", 0},
		"cut JSON":  {searxngtest.Scripted{Status: 200, ContentType: "application/json", Body: `{"results":[`}, errs.ReasonExplained, "form", 0},
		"array":     {searxngtest.Scripted{Status: 200, ContentType: "application/json", Body: `[]`}, errs.ReasonExplained, "form", 0},
		"failing":   {searxngtest.Scripted{Status: 502}, errs.ReasonExplained, "502", 0},
		"not there": {searxngtest.Scripted{Status: 404}, errs.ReasonExplained, "base_url", 0},
		"sign-in":   {searxngtest.Scripted{Status: 401}, errs.ReasonExplained, "password", 0},
		"refused":   {searxngtest.Scripted{Status: 400}, errs.ReasonExplained, "language", 0},
		"redirect":  {searxngtest.Scripted{Status: 302, Header: map[string]string{"Location": "/x"}}, errs.ReasonExplained, "base_url", 0},
	} {
		fake := searxngtest.New(searxngtest.Config{})
		tc.answer.Times = -1
		fake.Script(tc.answer)
		_, err := open(t, fake, nil).Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"geheim"}`)})
		e := errs.From(err)
		if err == nil || e.Source != errs.Upstream || e.Reason != tc.reason || !strings.Contains(e.Message, tc.text) ||
			e.RetryAfter != tc.after || strings.Contains(e.Message, "geheim") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := open(t, searxngtest.New(searxngtest.Config{NoJSON: true}), nil).Invoke(t.Context(),
		&search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"q"}`)})
	if e := errs.From(err); e == nil || !strings.Contains(e.Message, "search.formats") {
		t.Errorf("got %v", err)
	}
	fake := searxngtest.New(searxngtest.Config{})
	fake.Script(searxngtest.Scripted{Hold: true, Times: -1})
	_, err = open(t, fake, func(c *searxng.Config) { c.Timeout = 50 * time.Millisecond }).Invoke(t.Context(),
		&search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"q"}`)})
	if e := errs.From(err); e == nil || e.Reason != errs.ReasonTimeout {
		t.Errorf("got %v", err)
	}
	odd := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write([]byte(`{"results":[{"url":5},"x",null,{"url":"https://a.example/","title":null,"content":null,"score":null}],"answers":[7,null,{"x":1}],"infoboxes":null}`))
	})
	if status, a := call(t, open(t, odd, nil), search.OpSearch, `{"query":"q","include_answer":true}`); status != 200 ||
		len(a.Results) != 1 || a.Answer != nil {
		t.Errorf("got %+v", a)
	}
}

func TestTextsAndResearch(t *testing.T) {
	site := newSite(t)
	fake := searxngtest.New(searxngtest.Config{Results: func(string, string) []searxngtest.Result {
		return []searxngtest.Result{
			{URL: site.URL + "/a", Title: "A page", Score: 3},
			{URL: "http://10.0.0.1/", Title: "Inner", Content: "What the engine says about cranes on that page of the inner net.", Score: 1},
		}
	}})
	b := open(t, fake, func(c *searxng.Config) { c.AllowHosts = []string{host(site)} })
	_, a := call(t, b, search.OpSearch, `{"query":"cranes","include_raw_content":"text"}`)
	if len(a.Results) != 2 || a.Results[0].RawContent == nil || !strings.Contains(*a.Results[0].RawContent, "cranes at the quay") ||
		a.Results[1].RawContent != nil {
		t.Errorf("got %+v", a.Results)
	}
	resp, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpResearch, Body: []byte(`{"input":"cranes at the quay"}`)})
	if err != nil || resp.Status != http.StatusOK {
		t.Fatalf("got %+v, %v", resp, err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		out, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpResearchResult, ResourceID: resp.ResourceID})
		if err != nil || time.Now().After(end) {
			t.Fatalf("got %v", err)
		}
		if out.Status == http.StatusAccepted {
			continue
		}
		var a answer
		if json.Unmarshal(out.Body, &a) != nil || a.Status != "completed" || len(a.Sources) != 2 ||
			!strings.Contains(a.Content, "engine says about cranes") {
			t.Errorf("got %s", out.Body)
		}
		return
	}
}
