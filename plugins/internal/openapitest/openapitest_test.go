package openapitest

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// document describes one list of names.
const document = `{
  "openapi": "3.0.3", "info": {"title": "Names", "version": "1"},
  "paths": {"/names/{group}": {
    "get": {
      "operationId": "names/list",
      "parameters": [
        {"name": "group", "in": "path", "required": true, "schema": {"type": "string"}},
        {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 10}}
      ],
      "responses": {"200": {"description": "Names", "content": {"application/json": {"schema": {
        "type": "array", "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
      }}}}}
    }
  }}
}`

func TestProxy(t *testing.T) {
	answer, status := "", 0
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(upstream.Close)
	for name, tc := range map[string]struct {
		target, answer string
		status         int
		// want is part of the only violation; empty for none.
		want string
	}{
		"good":                 {"/names/a?limit=3", `[{"name":"x"}]`, 200, ""},
		"not modified":         {"/names/a", ``, 304, ""},
		"limited":              {"/names/a", `{"message":"later"}`, 403, ""},
		"outside":              {"/login/x?any=1", `nothing`, 200, ""},
		"unknown path":         {"/others", `[]`, 200, "no matching operation"},
		"unknown parameter":    {"/names/a?size=3", `[]`, 200, `no parameter "size"`},
		"parameter over limit": {"/names/a?limit=11", `[]`, 200, "number must be at most 10"},
		"missing member":       {"/names/a", `[{"title":"x"}]`, 200, `property "name" is missing`},
		"wrong type":           {"/names/a", `[{"name":1}]`, 200, "value must be a string"},
		"not a list":           {"/names/a", `{}`, 200, "value must be an array"},
		"unknown status":       {"/names/a", `[]`, 201, "answer 201"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, status = tc.answer, tc.status
			p, err := newProxy(Config{Document: []byte(document), Upstream: upstream.URL, Undocumented: []string{"/login/"}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			res, err := http.Get(p.URL + tc.target)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if got, err := io.ReadAll(res.Body); err != nil || res.StatusCode != tc.status || string(got) != tc.answer {
				t.Errorf("got %d %q, %v; want the answer of the upstream", res.StatusCode, got, err)
			}
			violations := slices.Collect(maps.Keys(p.violations))
			switch {
			case tc.want == "" && len(violations) > 0:
				t.Errorf("got %q, want none", violations)
			case tc.want != "" && (len(violations) != 1 || !strings.Contains(violations[0], tc.want)):
				t.Errorf("got %q, want one with %q", violations, tc.want)
			}
			if asked := p.Operations()["names/list"]; asked != 1 && strings.HasPrefix(tc.target, "/names/") {
				t.Errorf("the operation was counted %d times", asked)
			}
		})
	}
}
