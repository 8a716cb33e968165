package webops_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/research"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSite(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	html := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, body)
		})
	}
	html("/{$}", `<title>Home</title><p>Words of the start page.</p><img src="/x.png"><p><a href="/docs/a">a</a> <a href="/blog/b">b</a> <a href="/none">c</a></p>`)
	html("/docs/a", `<title>A</title><p>The crane lifts forty tonnes in the harbour of the town.</p>`)
	html("/blog/b", `<title>B</title><p>The crane has a new driver since the beginning of spring.</p>`)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func config(srv *httptest.Server) webops.Config {
	return webops.Config{
		AllowHosts: []string{strings.TrimPrefix(srv.URL, "http://")}, Timeout: 5 * time.Second, Parallel: 2, Pages: 100,
		Find: func(_ context.Context, q research.Query) ([]research.Source, error) {
			if q.Text == "fail" {
				return nil, errors.New("down")
			}
			return []research.Source{
				{Title: "A", URL: srv.URL + "/docs/a"}, {Title: "Gone", URL: srv.URL + "/none",
					Content: "What was said about the crane, long ago, stood on this page."},
				{Title: "Own", URL: "own:1"},
			}, nil
		},
		Own: func(_ context.Context, address string, _ extract.Format) (*extract.Page, bool, error) {
			return &extract.Page{Text: "Our own document says that the crane is painted yellow and blue."}, strings.HasPrefix(address, "own:"), nil
		},
	}
}

func newOps(t *testing.T, cfg webops.Config) *webops.Ops {
	t.Helper()
	if diags := cfg.Check(); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	o, err := webops.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

func call(t *testing.T, o *webops.Ops, req *search.Request) (*search.Response, map[string]any) {
	t.Helper()
	resp, err := o.Invoke(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(resp.Body, &out); err != nil || resp.ContentType != "application/json" || resp.Usage == nil ||
		resp.Usage.Credits != 0 {
		t.Fatalf("got %+v, %v", resp, err)
	}
	return resp, out
}

func TestMapAndCrawl(t *testing.T) {
	srv := newSite(t)
	o := newOps(t, config(srv))
	resp, out := call(t, o, &search.Request{
		Operation: search.OpMap, RequestID: "r1",
		Body: []byte(`{"url":"` + srv.URL + `","instructions":"find the crane","include_usage":true,"x":1}`),
	})
	delete(out, "response_time")
	want := map[string]any{
		"base_url": srv.URL + "/", "request_id": "r1", "usage": map[string]any{"credits": 0.0}, "ignored": []any{"instructions", "x"},
		"results":        []any{srv.URL + "/", srv.URL + "/docs/a", srv.URL + "/blog/b"},
		"failed_results": []any{map[string]any{"url": srv.URL + "/none", "error": "page answered with status 404"}},
	}
	if diff := cmp.Diff(want, out); diff != "" || resp.Status != http.StatusOK {
		t.Errorf("%d: %s", resp.Status, diff)
	}
	_, out = call(t, o, &search.Request{
		Operation: search.OpCrawl, RequestID: "r1",
		Body: []byte(`{"url":"` + srv.URL + `","include_images":true,"exclude_paths":["^/blog/"],"format":"text"}`),
	})
	delete(out, "response_time")
	want = map[string]any{
		"base_url": srv.URL + "/", "request_id": "r1",
		"failed_results": []any{map[string]any{"url": srv.URL + "/none", "error": "page answered with status 404"}},
		"results": []any{
			map[string]any{"url": srv.URL + "/", "raw_content": "Home\n\nWords of the start page.\n\na b c", "images": []any{srv.URL + "/x.png"}},
			map[string]any{"url": srv.URL + "/docs/a", "raw_content": "A\n\nThe crane lifts forty tonnes in the harbour of the town.",
				"images": []any{}},
		},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	o := newOps(t, config(newSite(t)))
	long, many := strings.Repeat("x", 1001), strings.TrimSuffix(strings.Repeat(`"x",`, 51), ",")
	for body, want := range map[string]int{
		`{}`: 400, `[]`: 400, `{"url":""}`: 400, `{"url":5}`: 400, `{"url":"ftp://example.org/"}`: 400, `{"url":"http://"}`: 400,
		`{"url":"http://u:p@example.org/"}`: 400, `{"url":"http://x","max_depth":0}`: 400, `{"url":"http://x","max_depth":6}`: 400,
		`{"url":"http://x","max_breadth":501}`: 400, `{"url":"http://x","limit":0}`: 400, `{"url":"http://x","limit":"5"}`: 400,
		`{"url":"http://x","select_paths":["("]}`: 400, `{"url":"http://x","exclude_domains":["(?=x)"]}`: 400,
		`{"url":"http://x","select_domains":[5]}`:             400,
		`{"url":"http://x","exclude_paths":["` + long + `"]}`: 400, `{"url":"http://x","exclude_paths":[` + many + `]}`: 400,
		`{"url":"http://x","allow_external":"yes"}`: 400, `{"url":"http://x","timeout":9}`: 400, `{"url":"http://x","timeout":151}`: 400,
		`{"url":"http://x","instructions":5}`: 400, `{"url":"http://10.0.0.1/"}`: 403, `{"url":"localhost:22"}`: 403,
		`{"url":"http://[::1]/"}`: 403,
	} {
		for _, op := range []string{search.OpMap, search.OpCrawl} {
			resp, out := call(t, o, &search.Request{Operation: op, Body: []byte(body)})
			detail, _ := out["detail"].(map[string]any)
			if text, _ := detail["error"].(string); resp.Status != want || text == "" {
				t.Errorf("%s %s: got %d %v", op, body, resp.Status, out)
			}
		}
	}
	for _, body := range []string{
		`{}`, `{"input":" "}`, `{"input":5}`, `{"input":"x","model":"max"}`, `{"input":"x","stream":"yes"}`,
		`{"input":"x","citation_format":"apa"}`,
		`{"input":"x","output_schema":{"properties":{}}}`, `{"input":"x","files":[{"name":"a"}]}`, `{"input":"x","output_length":"huge"}`,
		`{"input":"` + strings.Repeat("x", 10_001) + `"}`, `{"input":"x","include_domains":{}}`,
	} {
		if resp, out := call(t, o, &search.Request{Operation: search.OpResearch, Body: []byte(body)}); resp.Status != http.StatusBadRequest ||
			out["detail"] == nil {
			t.Errorf("%s: got %d %v", body, resp.Status, out)
		}
	}
	if resp, _ := call(t, o, &search.Request{Operation: search.OpCrawl,
		Body: []byte(`{"url":"http://x","format":"pdf"}`)}); resp.Status != 400 {
		t.Errorf("got %d", resp.Status)
	}
	if _, err := o.Invoke(t.Context(), &search.Request{Operation: "other"}); err == nil {
		t.Error("an operation that is not offered was answered")
	}
}

// result asks until the research is over.
func result(t *testing.T, o *webops.Ops, id string) (int, map[string]any) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		resp, out := call(t, o, &search.Request{Operation: search.OpResearchResult, ResourceID: id, Query: "include_usage=true"})
		if resp.Status != http.StatusAccepted {
			return resp.Status, out
		}
		if s := out["status"]; s != "pending" && s != "in_progress" {
			t.Fatalf("202 with %v", out)
		}
	}
	t.Fatal("the research does not end")
	return 0, nil
}

func TestResearch(t *testing.T) {
	o := newOps(t, config(newSite(t)))
	ids := map[string]bool{}
	for range 2 {
		resp, out := call(t, o, &search.Request{Operation: search.OpResearch, RequestID: "same",
			Body: []byte(`{"input":"What can the crane lift?","stream":false,"model":"mini"}`)})
		if resp.Status != http.StatusOK || out["status"] != "pending" || out["input"] != "What can the crane lift?" || out["model"] != "mini" ||
			out["request_id"] != resp.ResourceID || out["created_at"] == nil || out["response_time"] == nil {
			t.Fatalf("got %d %v", resp.Status, out)
		}
		ids[resp.ResourceID] = true
		status, out := result(t, o, resp.ResourceID)
		content, _ := out["content"].(string)
		if status != http.StatusOK || out["status"] != "completed" || len(out["sources"].([]any)) != 3 || out["usage"] == nil {
			t.Fatalf("got %d %v", status, out)
		}
		for _, want := range []string{"forty tonnes", "painted yellow", "What was said about the crane"} {
			if !strings.Contains(content, want) {
				t.Errorf("%q is missing in:\n%s", want, content)
			}
		}
	}
	if len(ids) != 2 {
		t.Errorf("ids are %v", ids)
	}
	resp, _ := call(t, o, &search.Request{Operation: search.OpResearch, Body: []byte(`{"input":"fail"}`)})
	if status, out := result(t, o, resp.ResourceID); status != http.StatusOK || out["status"] != "failed" {
		t.Errorf("got %d %v", status, out)
	}
	for _, id := range []string{"", "unknown", "../x"} {
		if status, out := result(t, o, id); status != http.StatusNotFound || out["detail"] == nil {
			t.Errorf("got %d %v", status, out)
		}
	}
}

func TestOperations(t *testing.T) {
	for _, op := range webops.Operations() {
		if op.Name != search.OpResearchResult && !json.Valid([]byte(op.InputSchema)) {
			t.Errorf("%s: schema is not JSON", op.Name)
		}
	}
}
