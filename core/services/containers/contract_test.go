package containers

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract holds requests and answers against the OpenAPI document of the service.
type contract struct {
	*env
	doc     map[string]any
	schemas *jsonschema.Compiler
	// seen are the statuses with which each operation was answered.
	seen map[string]map[int]bool
}

func newContract(e *env) *contract {
	e.Helper()
	g := e.raw("GET", "/openapi.json", "")
	if g.status != 200 {
		e.Fatalf("the document is answered with %d %s", g.status, g.body)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(g.body))
	e.must(err)
	c := &contract{env: e, doc: doc.(map[string]any), seen: map[string]map[int]bool{}, schemas: jsonschema.NewCompiler()}
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	c.schemas.AssertFormat()
	e.must(c.schemas.AddResource("openapi.json", doc))
	return c
}

func (c *contract) paths() map[string]any { return c.doc["paths"].(map[string]any) }

// operation finds what the document says about a call; of two patterns that fit, the one with fewer parameters.
func (c *contract) operation(method, path string) (pattern string, op map[string]any) {
	path, _, _ = strings.Cut(path, "?")
	for p := range c.paths() {
		if fitsPattern(p, path) && (pattern == "" || strings.Count(p, "{") < strings.Count(pattern, "{")) {
			pattern = p
		}
	}
	if pattern == "" {
		return "", nil
	}
	op, _ = c.paths()[pattern].(map[string]any)[strings.ToLower(method)].(map[string]any)
	return pattern, op
}

func fitsPattern(pattern, path string) bool {
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
func (c *contract) valid(what string, place []string, raw []byte) {
	c.Helper()
	escaped := make([]string, len(place))
	for i, p := range place {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~", "~0"), "/", "~1")
	}
	schema, err := c.schemas.Compile("openapi.json#/" + strings.Join(escaped, "/"))
	if err != nil {
		c.Errorf("%s: the schema is not valid: %v", what, err)
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		c.Errorf("%s: no JSON: %v in %q", what, err, raw)
		return
	}
	if err := schema.Validate(v); err != nil {
		c.Errorf("%s: %v\n%s", what, err, raw)
	}
}

// call makes a request, which fits the document unless it is to be refused, and holds the answer against it.
func (c *contract) call(want int, method, path, body string) got {
	c.Helper()
	pattern, op := c.operation(method, path)
	if op == nil {
		c.Fatalf("%s %s is not in the document", method, path)
	}
	what, where := method+" "+pattern, []string{"paths", pattern, strings.ToLower(method)}
	if body != "" && want < 400 {
		c.valid(what+" request", append(slices.Clone(where), "requestBody", "content", "application/json", "schema"), []byte(body))
	}
	g := c.send(method, path, body)
	if g.status != want {
		c.Errorf("%s %s: got %d, want %d: %s", method, path, g.status, want, g.body)
		return g
	}
	if c.seen[what] == nil {
		c.seen[what] = map[int]bool{}
	}
	c.seen[what][want] = true
	status := strconv.Itoa(want)
	answer, ok := op["responses"].(map[string]any)[status].(map[string]any)
	if !ok {
		c.Errorf("%s: the answer %d is not in the document: %s", what, want, g.body)
		return g
	}
	content, _ := answer["content"].(map[string]any)
	kind, _, _ := strings.Cut(g.header.Get("Content-Type"), ";")
	if content[kind] == nil {
		c.Errorf("%s: the type %q of the answer %d is not in the document", what, kind, want)
		return g
	}
	if kind == "application/json" {
		c.valid(fmt.Sprintf("%s answer %d", what, want), append(where, "responses", status, "content", kind, "schema"), []byte(g.body))
	}
	return g
}

// refused is a call that ends with an error: its code, and extension members as text.
func (c *contract) refused(status int, code, method, path, body string, members ...string) got {
	c.Helper()
	g := c.call(status, method, path, body)
	if g.json["code"] != code || g.json["message"] == "" || g.json["request_id"] == nil {
		c.Errorf("%s %s %s: want the code %s: %s", method, path, body, code, g.body)
	}
	for i := 0; i+1 < len(members); i += 2 {
		if fmt.Sprint(g.json[members[i]]) != members[i+1] {
			c.Errorf("%s %s %s: want %s = %s: %s", method, path, body, members[i], members[i+1], g.body)
		}
	}
	return g
}

// TestEveryRouteIsInTheDocument: nothing is served that the document does not name, and the other way round.
func TestEveryRouteIsInTheDocument(t *testing.T) {
	e := newEnv(t)
	c := newContract(e)
	mount := mountAPI(e.svc, e.svc.settings().BaseURL)
	documented, served := 0, 0
	for _, item := range c.paths() {
		documented += len(item.(map[string]any))
	}
	for _, r := range mount.Routes {
		if r.Path == "/openapi.json" || strings.HasPrefix(r.Path, "/docs") {
			continue
		}
		served++
		path := r.Path
		if _, op := c.operation(r.Method, path); op == nil {
			t.Errorf("%s %s is not in the document", r.Method, path)
		}
	}
	if documented != served {
		t.Errorf("the document names %d operations, %d are served", documented, served)
	}
}

// TestExamplesFit: every body of a request has an example that fits its own schema.
func TestExamplesFit(t *testing.T) {
	c := newContract(newEnv(t))
	for path, item := range c.paths() {
		for method, op := range item.(map[string]any) {
			request, ok := op.(map[string]any)["requestBody"].(map[string]any)
			if !ok || path == "/api/webhooks/host-packages" {
				continue
			}
			media := request["content"].(map[string]any)["application/json"].(map[string]any)
			if media["example"] == nil {
				t.Errorf("%s %s has no example", method, path)
				continue
			}
			c.valid(method+" "+path+" example", []string{"paths", path, method, "requestBody", "content", "application/json", "schema"},
				[]byte(body(media["example"])))
		}
	}
}
