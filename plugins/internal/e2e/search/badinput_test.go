package search

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

const mib = 1 << 20

// bodyOf is an object of exactly n bytes with the members given.
func bodyOf(n int, members string) string {
	const frame = `{"pad":"",}`
	return `{"pad":"` + strings.Repeat("x", n-len(frame)-len(members)) + `",` + members + `}`
}

func nested(depth int) string {
	return `{"query":"q","a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
}

func TestBadInputHasItsAnswer(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", `
  limits {
    credits_hour = 5000
  }`)
	tests := []struct {
		name, path, body string
		status           int
		code, field      string
	}{
		{"not JSON", "search", `query=q`, 400, "invalid_request", ""},
		{"broken JSON", "search", `{"query":"q"`, 400, "invalid_request", ""},
		{"more than one value", "search", `{"query":"q"} {}`, 400, "invalid_request", ""},
		{"invalid escape", "search", `{"query":"\x"}`, 400, "invalid_request", ""},
		{"invalid number", "search", `{"query":"q","days":01}`, 400, "invalid_request", ""},
		{"control character in a string", "search", "{\"query\":\"a\x01b\"}", 400, "invalid_request", ""},
		{"array", "search", `[{"query":"q"}]`, 400, "invalid_request", ""},
		{"string", "search", `"query"`, 400, "invalid_request", ""},
		{"null", "search", `null`, 400, "invalid_request", ""},
		{"empty", "search", ``, 400, "invalid_request", ""},
		{"blank", "search", "  \n", 400, "invalid_request", ""},
		{"byte order mark", "search", "\ufeff" + `{"query":"q"}`, 400, "invalid_request", ""},
		{"1 MiB", "search", bodyOf(mib, `"query":"q"`), 200, "", ""},
		{"1 MiB and a byte", "search", bodyOf(mib+1, `"query":"q"`), 413, "payload_too_large", ""},
		{"12 MiB of research", "research", bodyOf(12*mib, `"input":"i"`), 201, "", ""},
		{"12 MiB and a byte of research", "research", bodyOf(12*mib+1, `"input":"i"`), 413, "payload_too_large", ""},
		{"depth 64", "search", nested(64), 200, "", ""},
		{"depth 65", "search", nested(65), 400, "invalid_request", ""},
		{"depth 100000", "search", nested(100000), 400, "invalid_request", ""},
		{"query is a number", "search", `{"query":1}`, 400, "invalid_request", "query"},
		{"query is an object", "search", `{"query":{}}`, 400, "invalid_request", "query"},
		{"query is a list", "search", `{"query":["q"]}`, 400, "invalid_request", "query"},
		{"query is missing", "search", `{}`, 400, "invalid_request", "query"},
		{"query is null", "search", `{"query":null}`, 400, "invalid_request", "query"},
		{"query is empty", "search", `{"query":""}`, 400, "invalid_request", "query"},
		{"query is blank", "search", `{"query":" \t "}`, 400, "invalid_request", "query"},
		{"query is blank, escaped", "search", `{"query":"\n\u0020"}`, 400, "invalid_request", "query"},
		{"max_results -1", "search", `{"query":"q","max_results":-1}`, 400, "invalid_request", "max_results"},
		{"max_results 0", "search", `{"query":"q","max_results":0}`, 200, "", ""},
		{"max_results 20", "search", `{"query":"q","max_results":20}`, 200, "", ""},
		{"max_results 21", "search", `{"query":"q","max_results":21}`, 400, "invalid_request", "max_results"},
		{"max_results text", "search", `{"query":"q","max_results":"3"}`, 400, "invalid_request", "max_results"},
		{"max_results 1.5", "search", `{"query":"q","max_results":1.5}`, 400, "invalid_request", "max_results"},
		{"max_results 1e30", "search", `{"query":"q","max_results":1e30}`, 400, "invalid_request", "max_results"},
		{"max_results true", "search", `{"query":"q","max_results":true}`, 400, "invalid_request", "max_results"},
		{"max_results twice", "search", `{"query":"q","max_results":3,"max_results":99}`, 400, "invalid_request", "max_results"},
		{"max_results null", "search", `{"query":"q","max_results":null}`, 200, "", ""},
		{"stream of a search", "search", `{"query":"q","stream":true}`, 400, "invalid_request", "stream"},
		{"stream is text", "research", `{"input":"i","stream":"yes"}`, 400, "invalid_request", "stream"},
		{"urls missing", "extract", `{}`, 400, "invalid_request", "urls"},
		{"urls empty", "extract", `{"urls":[]}`, 400, "invalid_request", "urls"},
		{"urls blank", "extract", `{"urls":" "}`, 400, "invalid_request", "urls"},
		{"urls is a number", "extract", `{"urls":7}`, 400, "invalid_request", "urls"},
		{"url of a crawl missing", "crawl", `{"limit":3}`, 400, "invalid_request", "url"},
		{"url of a map missing", "map", `{"instructions":"x"}`, 400, "invalid_request", "url"},
		{"url is a list", "map", `{"url":["https://example.org"]}`, 400, "invalid_request", "url"},
		{"input missing", "research", `{"model":"mini"}`, 400, "invalid_request", "input"},
		{"input blank", "research", `{"input":"  "}`, 400, "invalid_request", "input"},
		{"unknown path", "answers", `{"query":"q"}`, 404, "not_found", ""},
		{"path with a slash at its end", "search/", `{"query":"q"}`, 404, "not_found", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			up.Reset()
			a := c.Post(t, token, tt.path, tt.body)
			if tt.code == "" {
				if a.Status != tt.status || len(up.Requests()) != 1 {
					t.Errorf("status %d, want %d: %.300s", a.Status, tt.status, a.Body)
				}
				return
			}
			if p := a.Refused(t, tt.status, tt.code); p.Field != tt.field {
				t.Errorf("field %q, want %q", p.Field, tt.field)
			}
			if n := len(up.Requests()); n != 0 {
				t.Errorf("%d requests went upstream", n)
			}
		})
	}
	used := c.Records(t, kit.Storage{}).Balanced(c, token)
	if used.HourlyRequests != 6 || used.DailySuccess != 6 || used.DailyError != 0 {
		t.Errorf("refused requests were counted: %+v", used)
	}
	c.Search(t, token, http.StatusOK)
}

func TestMethodsAndPathsThatDoNotExist(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodOptions, "FROBNICATE"} {
		c.Send(t, kit.Request{Method: method, Path: "search", Token: token}).Refused(t, 405, "method_not_allowed")
	}
	c.Send(t, kit.Request{Method: http.MethodPost, Path: "usage", Token: token}).Refused(t, 405, "method_not_allowed")
	c.Send(t, kit.Request{Method: http.MethodGet, Path: "research", Token: token}).Refused(t, 405, "method_not_allowed")
	for _, path := range []string{"nothing", "../proxy", "research/a/b", "%2e%2e/usage"} {
		if a := c.Send(t, kit.Request{Method: http.MethodGet, Path: path, Token: token}); a.Status != 404 && a.Status != 405 {
			t.Errorf("GET %s: status %d", path, a.Status)
		}
	}
	if a := c.Send(t, kit.Request{Method: http.MethodHead, Path: "search", Token: token}); a.Status != 405 || a.Body != "" {
		t.Errorf("HEAD: status %d, body %q", a.Status, a.Body)
	}
	c.Post(t, "", "crawl", `{"url":"https://example.org"}`).Refused(t, 401, "unauthorized")
	c.Send(t, kit.Request{Method: http.MethodGet, Path: "research/abc", Token: token}).Refused(t, 404, "research_request_not_found")
	// What lies in inner networks is out of the backend's reach, and its own answer says so.
	for _, path := range []string{"map", "crawl"} {
		if a := c.Post(t, token, path, `{"url":"`+c.Base+`"}`); a.Status != 403 || !strings.Contains(a.Body, "URL is not supported") {
			t.Errorf("%s of the core itself: status %d: %s", path, a.Status, a.Body)
		}
	}
	resp, err := kit.HTTPClient.Get(c.Base + "/.well-known/oauth-authorization-server")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 404 || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("a reserved path: status %d, %q", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
}

func TestRequestIDsAreKeptOrMade(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	token, db := c.Token(), c.Records(t, kit.Storage{})
	kept := "client-42:" + strings.Repeat("x", 100)
	for _, tt := range []struct {
		sent []string
		kept bool
	}{
		{[]string{kept}, true}, {nil, false}, {[]string{""}, false}, {[]string{"with space"}, false},
		{[]string{"h\u00e9"}, false}, {[]string{strings.Repeat("x", 129)}, false}, {[]string{"one", "two"}, false}, {[]string{"a\tb"}, false},
	} {
		a := c.Send(t, kit.Request{Path: "search", Token: token, Body: `{"query":"plugin"}`, Header: http.Header{"X-Request-Id": tt.sent}})
		id := a.Header.Get("X-Request-Id")
		if tt.kept != (len(tt.sent) == 1 && id == tt.sent[0]) || !tt.kept && !strings.HasPrefix(id, "req_") {
			t.Errorf("sent %q, got %q", tt.sent, id)
		}
		if row := db.Audit(id); row.Outcome != kit.OutcomeSuccess {
			t.Errorf("audit row of %q: %+v", id, row)
		}
	}
}
