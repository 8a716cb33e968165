package supervisor

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// identityHeader is where the proxy of these tests names its user.
const identityHeader = "X-Ops-User"

// contract holds the supervisor's routes, and its answers, against its OpenAPI document.
type contract struct {
	*testing.T
	site    *site
	mount   httpd.Mount
	pages   []httpd.Route
	base    string
	doc     map[string]any
	schemas *jsonschema.Compiler
}

// newContract serves a supervisor that lets the user ops in.
func newContract(t *testing.T) *contract {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	s := newSite(t)
	clients, err := httpd.NewClients([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	access := auth.Access{Forward: auth.Forward{UserHeader: identityHeader, AllowedUser: "ops"}, Trusted: clients}
	sup := s.supervise(t, nil)
	console, err := newPages(sup, "/supervisor", "1.2.3", access)
	if err != nil {
		t.Fatal(err)
	}
	c := &contract{T: t, site: s, mount: newMount(sup, console, identityHeader), pages: console.listRoutes(),
		schemas: jsonschema.NewCompiler()}
	server, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	if err := server.Mount([]httpd.Mount{c.mount},
		httpd.Options{Clients: clients, Guard: access.ForwardGuard(), Secure: access.Secure}); err != nil {
		t.Fatal(err)
	}
	server.Serve()
	c.base = "http://" + server.Addr() + "/supervisor"
	status, raw, _ := c.send(http.MethodGet, "/openapi.json", "", "")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil || status != http.StatusOK {
		t.Fatalf("the document: %d, %v", status, err)
	}
	c.doc = doc.(map[string]any)
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	if err := c.schemas.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// send makes a request as a user whom the proxy has signed in; "" for nobody.
func (c *contract) send(method, path, user, body string) (status int, answer []byte, contentType string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	if user != "" {
		req.Header.Set(identityHeader, user)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		c.Fatal(err)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return res.StatusCode, answer, kind
}

// operations returns the operations of the document by method and path.
func (c *contract) operations() map[string]map[string]any {
	out := map[string]map[string]any{}
	for path, item := range c.doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			out[strings.ToUpper(method)+" "+path] = op.(map[string]any)
		}
	}
	return out
}

// TestEveryRouteIsInTheDocument: nothing is served but what the document names, the document and its page, and the pages for people;
// and what the document names is served.
func TestEveryRouteIsInTheDocument(t *testing.T) {
	c := newContract(t)
	operations := c.operations()
	var routed []string
	for _, r := range c.mount.Routes {
		name := r.Method + " " + r.Path
		isPage := slices.ContainsFunc(c.pages, func(p httpd.Route) bool { return p.Method+" "+p.Path == name })
		isDocument := r.Method == http.MethodGet && (r.Path == "/openapi.json" || r.Path == "/docs" || strings.HasPrefix(r.Path, "/docs/"))
		switch op := operations[name]; {
		case op != nil:
			routed = append(routed, name)
			if (r.Policy == httpd.Public) != (len(op["security"].([]any)) == 0) {
				t.Errorf("%s: the document says %v of a route with the policy %s", name, op["security"], r.Policy)
			}
		case !isPage && !isDocument:
			t.Errorf("%s is not in the document", name)
		}
	}
	// What the interface names is there, whatever else is.
	for _, name := range []string{"GET /health", "GET /version", "GET /self-upgrade", "POST /self-upgrade", "POST /self-upgrade/rollback"} {
		if !slices.Contains(routed, name) {
			t.Errorf("there is no %s, or the document does not name it", name)
		}
	}
	for name := range operations {
		if !slices.Contains(routed, name) {
			t.Errorf("the document names %s, which is not routed", name)
		}
		method, path, _ := strings.Cut(name, " ")
		if status, _, _ := c.send(method, path, "", ""); status != http.StatusUnauthorized {
			t.Errorf("%s answers nobody with %d", name, status)
		}
	}
}

// TestEveryOperationIsDescribed: each has a group that is described, words, an answer of success with a schema, its errors, and the
// identity that the proxy forwards; the examples of bodies fit.
func TestEveryOperationIsDescribed(t *testing.T) {
	c := newContract(t)
	tags := map[string]bool{}
	for _, tag := range c.doc["tags"].([]any) {
		text, _ := tag.(map[string]any)["description"].(string)
		tags[tag.(map[string]any)["name"].(string)] = text != ""
	}
	schemes := c.doc["components"].(map[string]any)["securitySchemes"].(map[string]any)
	forwarded, _ := schemes["forwardedIdentity"].(map[string]any)
	if len(schemes) != 1 || forwarded["in"] != "header" || forwarded["name"] != identityHeader {
		t.Errorf("the security schemes are %v", schemes)
	}
	for name, op := range c.operations() {
		named, _ := op["tags"].([]any)
		if len(named) != 1 || !tags[named[0].(string)] {
			t.Errorf("%s has the groups %v, and described are %v", name, named, tags)
		}
		if op["summary"] == nil || op["description"] == nil {
			t.Errorf("%s has no words", name)
		}
		if asked, _ := op["security"].([]any); len(asked) != 1 || asked[0].(map[string]any)["forwardedIdentity"] == nil {
			t.Errorf("%s asks for %v", name, op["security"])
		}
		responses := op["responses"].(map[string]any)
		want := []string{"200", "401", "500"}
		method, path, _ := strings.Cut(name, " ")
		if method == http.MethodPost {
			want = append(want, "400", "413")
		}
		for _, status := range want {
			answer, _ := responses[status].(map[string]any)
			if content, _ := answer["content"].(map[string]any); content["application/json"].(map[string]any)["schema"] == nil {
				t.Errorf("%s: the answer %s has no schema", name, status)
			}
		}
		if body, ok := op["requestBody"].(map[string]any); ok {
			media := body["content"].(map[string]any)["application/json"].(map[string]any)
			c.checkValue(name+" example", media["example"], "paths", path, strings.ToLower(method), "requestBody", "content", "application/json",
				"schema")
		}
	}
}

// checkValue holds a value against the schema at a place of the document.
func (c *contract) checkValue(what string, v any, place ...string) {
	c.Helper()
	for i, p := range place {
		place[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
	}
	schema, err := c.schemas.Compile("openapi.json#/" + strings.Join(place, "/"))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		c.Errorf("%s: %v in %v", what, err, v)
	}
}

// TestAnswersFitTheDocument: what the endpoints answer, successes and refusals alike, fits the document.
func TestAnswersFitTheDocument(t *testing.T) {
	c := newContract(t)
	c.site.engine.Publish(repository+":latest", imageOfVersion("2"))
	for _, tt := range []struct {
		user, method, path, body string
		want                     int
	}{
		{"ops", "GET", "/health", "", 200},
		{"ops", "GET", "/version", "", 200},
		{"ops", "GET", "/self-upgrade", "", 200},
		{"", "GET", "/self-upgrade", "", 401},
		{"somebody", "POST", "/self-upgrade", `{"mode":"apply"}`, 401},
		{"ops", "POST", "/self-upgrade", `{"mode":"perhaps"}`, 400},
		{"ops", "POST", "/self-upgrade", `{"mode":"dry-run","target":{"tag":""}}`, 400},
		{"ops", "POST", "/self-upgrade/rollback", `{}`, 400},
		{"ops", "POST", "/self-upgrade", `{"mode":"dry-run"}`, 200},
		{"ops", "GET", "/self-upgrade", "", 200},
	} {
		what := tt.method + " " + tt.path + " " + strconv.Itoa(tt.want)
		status, raw, kind := c.send(tt.method, tt.path, tt.user, tt.body)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if status != tt.want || kind != "application/json" || err != nil {
			t.Errorf("%s: got %d, %s, %s: %v", what, status, kind, raw, err)
			continue
		}
		c.checkValue(what, v, "paths", tt.path, strings.ToLower(tt.method), "responses", strconv.Itoa(tt.want), "content", "application/json",
			"schema")
	}
}
