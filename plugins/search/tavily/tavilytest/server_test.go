package tavilytest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/tavily/tavilytest"
)

func TestControl(t *testing.T) {
	var record bytes.Buffer
	fake := tavilytest.New(tavilytest.Config{Keys: []string{"a", "b"}, Record: &record})
	srv := httptest.NewServer(fake)
	defer srv.Close()
	defer fake.Close()
	do := func(method, path, key, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		out, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(out)
	}
	for _, step := range []struct {
		method, path, key, body string
		status                  int
		answer                  string
	}{
		{"POST", "/_control/script", "", `[{"status":432,"key":"a"},{"status":500,"times":2,"path":"/map"}]`, 204, ""},
		{"POST", "/search", "b", `{"query":"q","max_results":0,"include_usage":true}`, 200, `"credits":1`},
		{"POST", "/search", "a", `{"query":"q"}`, 432, "detail"},
		{"POST", "/search", "a", `{"query":"q"}`, 200, "Passage about q"},
		{"POST", "/search", "c", `{"query":"q"}`, 401, "missing or invalid API key"},
		{"POST", "/search", "a", `{}`, 400, "query"},
		{"POST", "/search", "a", `{"query":"q","topic":"x"}`, 400, "Invalid topic"},
		{"POST", "/map", "a", `{"url":"https://example.org"}`, 500, ""},
		{"POST", "/map", "a", `{"url":"https://example.org"}`, 500, ""},
		{"POST", "/map", "a", `{"url":"https://example.org"}`, 200, "page-1"},
		{"GET", "/usage", "b", "", 200, `"plan_limit":1000`},
		{"GET", "/research/x", "b", "", 404, "not found"},
		{"GET", "/other", "b", "", 404, ""},
		{"POST", "/_control/script", "", `5`, 400, ""},
		{"GET", "/_control/requests", "", "", 200, `"path":"/usage"`},
		{"POST", "/_control/reset", "", "", 204, ""},
	} {
		status, answer := do(step.method, step.path, step.key, step.body)
		if status != step.status || !strings.Contains(answer, step.answer) {
			t.Errorf("%s %s %s: got %d %s", step.method, step.path, step.body, status, answer)
		}
	}
	if n := len(fake.Requests()); n != 0 {
		t.Errorf("%d requests after the reset", n)
	}
	var first tavilytest.Request
	if err := json.NewDecoder(&record).Decode(&first); err != nil || first.Path != "/search" || first.Key() != "b" {
		t.Errorf("record starts with %+v (%v)", first, err)
	}
}
