package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/patchbay-dev/patchbay/core/services/search/api"
)

// contract holds requests and answers against the OpenAPI document of the service.
type contract struct {
	*env
	doc     map[string]any
	schemas *jsonschema.Compiler
	// seen are the operations, with the statuses, that were called.
	seen map[string]map[int]bool
}

func newContract(e *env) *contract {
	e.Helper()
	g := e.send("GET", "/search/openapi.json", "")
	if g.status != 200 {
		e.Fatalf("the document is answered with %d %s", g.status, g.body)
	}
	c := &contract{env: e, seen: map[string]map[int]bool{}, schemas: jsonschema.NewCompiler()}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(g.body))
	if err != nil {
		e.Fatal(err)
	}
	c.doc = doc.(map[string]any)
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	c.schemas.AssertFormat()
	if err := c.schemas.AddResource("openapi.json", doc); err != nil {
		e.Fatal(err)
	}
	return c
}

// operation finds what the document says about a call.
func (c *contract) operation(method, path string) (pattern string, op map[string]any) {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/search"), "?")
	var best string
	for p := range c.doc["paths"].(map[string]any) {
		if matchesPath(p, path) && (best == "" || strings.Count(p, "{") < strings.Count(best, "{")) {
			best = p
		}
	}
	if best == "" {
		return "", nil
	}
	op, _ = c.doc["paths"].(map[string]any)[best].(map[string]any)[strings.ToLower(method)].(map[string]any)
	return best, op
}

func matchesPath(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !strings.HasPrefix(a[i], "{") && a[i] != b[i] {
			return false
		}
	}
	return true
}

// valid holds a value against the schema at a place of the document.
func (c *contract) valid(what string, pointer []string, raw []byte) {
	c.Helper()
	for i, p := range pointer {
		pointer[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~", "~0"), "/", "~1")
	}
	schema, err := c.schemas.Compile("openapi.json#/" + strings.Join(pointer, "/"))
	if err != nil {
		c.Errorf("%s: the schema is not valid: %v", what, err)
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		c.Errorf("%s: not JSON: %v in %q", what, err, raw)
		return
	}
	if err := schema.Validate(v); err != nil {
		c.Errorf("%s: %v\n%s", what, err, raw)
	}
}

// call makes a request that fits the document, unless it is meant to be refused, and checks the answer against it.
func (c *contract) call(want int, method, path, body string, header ...string) got {
	c.Helper()
	pattern, op := c.operation(method, path)
	if op == nil {
		c.Fatalf("%s %s is not in the document", method, path)
	}
	what := fmt.Sprintf("%s %s", method, pattern)
	where := []string{"paths", pattern, strings.ToLower(method)}
	if body != "" {
		header = append(header, "Content-Type", "application/json")
		if want < 400 {
			c.valid(what+" request", append(slices.Clone(where), "requestBody", "content", "application/json", "schema"), []byte(body))
		}
	}
	g := c.send(method, path, body, header...)
	if g.status != want {
		c.Errorf("%s: got %d, want %d: %s", what, g.status, want, g.body)
		return g
	}
	if c.seen[what] == nil {
		c.seen[what] = map[int]bool{}
	}
	c.seen[what][want] = true
	answer, ok := op["responses"].(map[string]any)[strconv.Itoa(want)].(map[string]any)
	if !ok {
		c.Errorf("%s: the answer %d is not in the document", what, want)
		return g
	}
	content, _ := answer["content"].(map[string]any)
	if g.body == "" || len(content) == 0 {
		if g.body != "" || len(content) != 0 {
			c.Errorf("%s: body %q, content in the document %v", what, g.body, content)
		}
		return g
	}
	kind, _, _ := strings.Cut(g.header.Get("Content-Type"), ";")
	if content[kind] == nil {
		c.Errorf("%s: the type %q is not in the document", what, kind)
		return g
	}
	if kind == "application/json" {
		c.valid(what+" answer "+strconv.Itoa(want), append(where, "responses", strconv.Itoa(want), "content", "application/json", "schema"),
			[]byte(g.body))
	}
	return g
}

const (
	asAdmin  = "root:admin"
	asMember = "ann:member"
)

func (c *contract) admin(want int, method, path, body string, header ...string) got {
	c.Helper()
	return c.call(want, method, "/search"+path, body, append(header, "X-Test-User", asAdmin)...)
}

func (c *contract) member(want int, method, path, body string, header ...string) got {
	c.Helper()
	return c.call(want, method, "/search"+path, body, append(header, "X-Test-User", asMember)...)
}

// TestEveryRouteIsInTheDocument: nothing is served that the document does not name, and the other way round.
func TestEveryRouteIsInTheDocument(t *testing.T) {
	e := newEnv(t)
	c := newContract(e)
	mount, err := e.svc.Mount()
	if err != nil {
		t.Fatal(err)
	}
	documented := 0
	for _, item := range c.doc["paths"].(map[string]any) {
		documented += len(item.(map[string]any))
	}
	own := 0
	for _, r := range mount.Routes {
		switch r.Path {
		case "/openapi.json", "/docs", "/docs/style.css", "/mcp/":
			// The last one is another address of /mcp.
			own++
			continue
		}
		if _, op := c.operation(r.Method, "/search"+r.Path); op == nil {
			t.Errorf("%s %s is not in the document", r.Method, r.Path)
		}
	}
	if documented != len(mount.Routes)-own {
		t.Errorf("the document names %d operations, %d are served", documented, len(mount.Routes)-own)
	}
}

// TestExamplesFit: every body of a request has an example, and it fits its own schema.
func TestExamplesFit(t *testing.T) {
	c := newContract(newEnv(t))
	for path, item := range c.doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			body, ok := op.(map[string]any)["requestBody"].(map[string]any)
			if !ok || slices.Contains(api.McpPaths, path) {
				continue
			}
			media := body["content"].(map[string]any)["application/json"].(map[string]any)
			raw, err := json.Marshal(media["example"])
			if err != nil || media["example"] == nil {
				t.Errorf("%s %s has no example: %v", method, path, err)
				continue
			}
			c.valid(method+" "+path+" example", []string{"paths", path, method, "requestBody", "content", "application/json", "schema"}, raw)
		}
	}
}

func field(t testing.TB, g got, path ...string) any {
	t.Helper()
	var v any = g.json
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i >= len(x) {
				t.Fatalf("no %v in %s", path, g.body)
			}
			v = x[i]
		default:
			t.Fatalf("no %v in %s", path, g.body)
		}
	}
	return v
}
