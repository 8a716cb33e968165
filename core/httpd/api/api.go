// Package api declares JSON endpoints: typed input and output, validation, and an OpenAPI 3.1 document with a page to
// read it. What comes out are ordinary routes of core/httpd, with the policies, limits and error bodies of all others.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

const keyAPI = "patchbay.api"

// Config describes an API.
type Config struct {
	Title, Version, Description string
	// BaseURL is where the API is mounted.
	BaseURL string
	// PagePath is where the page of the document is, relative to the mount; "" for /docs.
	PagePath string
	// Invalid is the code of a request that does not fit the document.
	Invalid fault.Code
	// Errors writes error bodies; nil means httpd.WriteError.
	Errors httpd.ErrorWriter
	// KnownQueryOnly refuses a request with a query parameter that its operation does not document.
	KnownQueryOnly bool
	// Tags are the groups of operations, in the order in which the page shows them.
	Tags []*huma.Tag
	// Security adds to the security schemes that the document names by itself.
	Security map[string]*huma.SecurityScheme
	// ForwardHeader is set where a reverse proxy alone tells who calls, in this header: the document names that, instead of API keys and
	// sessions.
	ForwardHeader string
}

// API collects endpoints. It is built once and serves through the routes that it returns.
type API struct {
	cfg    Config
	huma   huma.API
	routes []httpd.Route
}

// New makes an API without endpoints.
func New(cfg Config) *API {
	installErrors()
	cfg.PagePath = cmp.Or(cfg.PagePath, pagePath)
	if cfg.Errors == nil {
		cfg.Errors = httpd.WriteError
	}
	a := &API{cfg: cfg}
	format := huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}
	conf := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0", Info: &huma.Info{Title: cfg.Title, Version: cfg.Version, Description: cfg.Description},
			Servers: []*huma.Server{{URL: orRoot(cfg.BaseURL)}}, Tags: cfg.Tags,
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName), SecuritySchemes: cfg.securitySchemes()},
		},
		Formats: map[string]huma.Format{"application/json": format, "json": format}, DefaultFormat: "application/json",
	}
	// Members that a body has beyond the document are ignored.
	conf.AllowAdditionalPropertiesByDefault = true
	a.huma = huma.NewAPI(conf, adapter{a})
	return a
}

func orRoot(base string) string {
	return cmp.Or(base, "/")
}

// schemaName is the name of a type in the document: its Go name with a capital letter.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[Body]() {
		return "Error"
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// schemeForwarded names the security scheme of identities that a reverse proxy forwards.
const schemeForwarded = "forwardedIdentity"

// securitySchemes returns how callers can prove who they are.
func (cfg Config) securitySchemes() map[string]*huma.SecurityScheme {
	out := map[string]*huma.SecurityScheme{
		"apiKey":  {Type: "http", Scheme: "bearer", BearerFormat: "svc_ak_…", Description: "An API key whose scopes include this service."},
		"session": {Type: "apiKey", In: "cookie", Name: "patchbay_session", Description: "The session of a signed-in user."},
	}
	if cfg.ForwardHeader != "" {
		out = map[string]*huma.SecurityScheme{schemeForwarded: {
			Type: "apiKey", In: "header", Name: cfg.ForwardHeader,
			Description: "The user whom a trusted reverse proxy has signed in. The proxy sets this header, and believes none that a client sends; the user or a group of the user must be in the allowlist.",
		}}
	}
	maps.Copy(out, cfg.Security)
	return out
}

// Operation describes an endpoint for the table of routes and for the document.
type Operation struct {
	// ID names the operation in generated clients.
	ID string
	// Method and Path are those of the route; parameters of the path stand in braces.
	Method, Path string
	Policy       httpd.Policy
	// Confirm, Scoped and Audit are those of the route.
	Confirm     bool
	Scoped      bool
	Audit       string
	Tag         string
	Summary     string
	Description string
	// Status is that of success: 0 means 200, or 204 where there is no body.
	Status int
	// Also are further statuses of success, each with a value of the type of its body; nil stands for the body of Status.
	Also map[int]any
	// Files are the media types of an answer that the handler writes itself, each with a value of the type of its content.
	Files map[string]any
	// BodyLimit is the largest request body in bytes; 0 means httpd.DefaultBodyLimit.
	BodyLimit int64
	// Errors are the statuses that the operation answers with besides those of its policy and of validation.
	Errors []int
}

func (cfg Config) toHuma(o Operation) huma.Operation {
	op := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Description, DefaultStatus: o.Status,
		Security: cfg.securityFor(o.Policy, o.Confirm),
		Metadata: map[string]any{"policy": o.Policy, "limit": o.BodyLimit, "confirm": o.Confirm, "scoped": o.Scoped, "audit": o.Audit},
		// The route has its own limit.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
	}
	if o.Tag != "" {
		op.Tags = []string{o.Tag}
	}
	op.Errors = append(slices.Clone(o.Errors), http.StatusBadRequest, http.StatusInternalServerError)
	if len(op.Security) > 0 {
		op.Errors = append(op.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	}
	slices.Sort(op.Errors)
	op.Errors = slices.Compact(op.Errors)
	return op
}

// securityFor returns the security requirements of a route. Several entries are alternatives.
func (cfg Config) securityFor(p httpd.Policy, confirm bool) []map[string][]string {
	if cfg.ForwardHeader != "" && p != httpd.Public {
		return []map[string][]string{{schemeForwarded: {}}}
	}
	if confirm {
		p = httpd.Session
	}
	switch p {
	case httpd.Admin, httpd.APIKey, httpd.Forward:
		return []map[string][]string{{"apiKey": {}}, {"session": {}}}
	case httpd.Session:
		return []map[string][]string{{"session": {}}}
	case httpd.AccessToken:
		return []map[string][]string{{"accessToken": {}}}
	case httpd.Public:
		// An empty list says that nothing is asked for; no list leaves it open.
		return []map[string][]string{}
	}
	return nil
}

// Register adds an endpoint. Errors of the handler are faults, answered as everywhere.
func Register[I, O any](a *API, op Operation, handler func(context.Context, *I) (*O, error)) {
	h := a.cfg.toHuma(op)
	h.Errors = slices.DeleteFunc(h.Errors, func(s int) bool { return s == http.StatusBadRequest && !takesInput[I]() && !a.cfg.KnownQueryOnly })
	huma.Register(a.huma, h, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, &problem{c: ginContext(ctx), api: a, err: err}
		}
		return out, nil
	})
	// What validation finds is answered with 400.
	if doc := a.findOperation(op.Method, op.Path); doc != nil {
		delete(doc.Responses, strconv.Itoa(http.StatusUnprocessableEntity))
		if doc.RequestBody != nil {
			doc.Responses[strconv.Itoa(http.StatusRequestEntityTooLarge)] = a.ErrorResponse("The body is too large")
		}
		a.addResponses(doc, op)
	}
}

// addResponses adds the operation's further statuses and media types of success to the document.
func (a *API) addResponses(doc *huma.Operation, op Operation) {
	if len(op.Files) > 0 {
		content := map[string]*huma.MediaType{}
		for kind, v := range op.Files {
			content[kind] = &huma.MediaType{Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")}
		}
		doc.Responses["200"] = &huma.Response{Description: "The file", Content: content}
		delete(doc.Responses, strconv.Itoa(http.StatusNoContent))
	}
	for status, v := range op.Also {
		res := &huma.Response{Description: http.StatusText(status)}
		if v != nil {
			schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")
			res.Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
		} else if of := doc.Responses[strconv.Itoa(doc.DefaultStatus)]; of != nil {
			res.Content = of.Content
		}
		doc.Responses[strconv.Itoa(status)] = res
	}
}

func takesInput[I any]() bool { return reflect.TypeFor[I]().NumField() > 0 }

// findOperation returns an operation of the document, or nil.
func (a *API) findOperation(method, path string) *huma.Operation {
	item := a.huma.OpenAPI().Paths[path]
	if item == nil {
		return nil
	}
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	return nil
}

// Document adds an endpoint that a handler of its own serves: hot and streaming ones. The operation gives parameters, body and
// answers; method, path and policy come from the route. A hidden one is served and not in the document.
func (a *API) Document(r httpd.Route, op huma.Operation) {
	op.Method, op.Path = r.Method, openAPIPath(r.Path)
	if op.Security == nil {
		op.Security = a.cfg.securityFor(r.Policy, r.Confirm)
	}
	if a.cfg.KnownQueryOnly && op.Metadata[AnyQuery] == nil && op.Responses["400"] == nil {
		op.Responses["400"] = a.ErrorResponse("A query parameter is not known")
	}
	if !op.Hidden {
		a.huma.OpenAPI().AddOperation(&op)
	}
	a.routes = append(a.routes, r)
}

// Schema is the reference to the schema of a type, which joins the document.
func Schema[T any](a *API) *huma.Schema {
	return a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// JSON is the content of a body with a schema.
func JSON(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}

// ErrorResponse describes an error answer of a documented endpoint.
func (a *API) ErrorResponse(description string) *huma.Response {
	return &huma.Response{Description: description, Content: JSON(Schema[Body](a))}
}

// openAPIPath returns a gin path with its parameters in braces. routePath is its inverse.
func openAPIPath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "{" + p[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

func routePath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// adapter turns what huma serves into routes.
type adapter struct{ api *API }

// Handle implements huma.Adapter.
func (ad adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	policy, _ := op.Metadata["policy"].(httpd.Policy)
	limit, _ := op.Metadata["limit"].(int64)
	confirm, _ := op.Metadata["confirm"].(bool)
	scoped, _ := op.Metadata["scoped"].(bool)
	audit, _ := op.Metadata["audit"].(string)
	ad.api.routes = append(ad.api.routes, httpd.Route{
		Method: op.Method, Path: routePath(op.Path), Policy: policy, BodyLimit: limit, Confirm: confirm, Scoped: scoped, Audit: audit,
		Handler: func(c *gin.Context) {
			c.Set(keyAPI, ad.api)
			c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), ginKey{}, c))
			c.Header("Cache-Control", "no-store")
			if op.RequestBody != nil {
				body, err := httpd.ReadBody(c)
				if err != nil {
					ad.api.cfg.Errors(c, err)
					return
				}
				if err := ad.api.checkMembers(op, body); err != nil {
					ad.api.cfg.Errors(c, err)
					return
				}
				c.Request.Body = io.NopCloser(bytes.NewReader(body))
			}
			handler(humagin.NewContext(op, c))
		},
	})
}

// ServeHTTP implements huma.Adapter. Requests come through the routes alone.
func (adapter) ServeHTTP(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }

type ginKey struct{}

// ginContext is the request of a handler's context.
func ginContext(ctx context.Context) *gin.Context {
	c, _ := ctx.Value(ginKey{}).(*gin.Context)
	return c
}

// writeJSON writes a body as JSON. An error is answered like all errors.
func writeJSON(w io.Writer, v any) error {
	if p, ok := v.(*problem); ok {
		p.writeProblem()
		return nil
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
