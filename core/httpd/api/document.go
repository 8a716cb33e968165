package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

//go:embed page
var pageFiles embed.FS

// Paths of the document and of its page, relative to the mount, and of the style below the page.
const (
	documentPath = "/openapi.json"
	pagePath     = "/docs"
	styleName    = "/style.css"
)

// Routes are the endpoints, the document and its page. The document is complete then: nothing may be added afterwards. It is written
// when it is asked for first.
func (a *API) Routes() []httpd.Route {
	a.fillExamples()
	a.addCodeSamples()
	routes := slices.Clone(a.routes)
	if a.cfg.KnownQueryOnly {
		for i := range routes {
			routes[i].Handler = a.checkQuery(routes[i])
		}
	}
	return append(routes,
		staticRoute(documentPath, "application/json", func() ([]byte, error) { return json.Marshal(a.huma.OpenAPI()) }),
		staticRoute(a.cfg.PagePath, "text/html; charset=utf-8", a.renderPage),
		staticRoute(a.cfg.PagePath+styleName, "text/css; charset=utf-8", func() ([]byte, error) { return pageFiles.ReadFile("page/style.css") }),
	)
}

// staticRoute returns a route that serves what write returns, which is called once, at the first request.
func staticRoute(path, contentType string, write func() ([]byte, error)) httpd.Route {
	file := sync.OnceValues(func() (httpd.File, error) {
		content, err := write()
		return httpd.NewFile(contentType, content), err
	})
	return httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.Public, Handler: func(c *gin.Context) {
		f, err := file()
		if err != nil {
			httpd.WriteError(c, fmt.Errorf("write %s: %w", path, err))
			return
		}
		h := c.Writer.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		f.Write(c)
	}}
}

// pageData is what the template of the page shows.
type pageData struct {
	Title, Description, Base, Style string
	Groups                          []pageGroup
	Schemes                         []pageScheme
}

type pageGroup struct {
	Name, Description string
	Operations        []pageOperation
}

type pageScheme struct{ Name, Text string }

type pageOperation struct {
	ID, Method, Path, Summary, Description string
	Access                                 []string
	Parameters                             []pageField
	Body                                   []pageField
	Answers                                []pageAnswer
	Curl                                   string
}

type pageField struct {
	Name, In, Type, Text string
	Required             bool
}

type pageAnswer struct {
	Status, Text string
	Fields       []pageField
}

func (a *API) renderPage() ([]byte, error) {
	t, err := template.ParseFS(pageFiles, "page/page.html")
	if err != nil {
		return nil, err
	}
	doc := a.huma.OpenAPI()
	base := strings.TrimSuffix(doc.Servers[0].URL, "/")
	data := pageData{Title: doc.Info.Title, Description: doc.Info.Description, Base: base, Style: base + a.cfg.PagePath + styleName}
	for name, s := range doc.Components.SecuritySchemes {
		data.Schemes = append(data.Schemes, pageScheme{name, s.Description})
	}
	slices.SortFunc(data.Schemes, func(x, y pageScheme) int { return strings.Compare(x.Name, y.Name) })
	for _, tag := range doc.Tags {
		g := pageGroup{Name: tag.Name, Description: tag.Description}
		for _, r := range a.routes {
			op := a.findOperation(r.Method, openAPIPath(r.Path))
			if op != nil && slices.Contains(op.Tags, tag.Name) {
				g.Operations = append(g.Operations, a.pageOperation(op, base))
			}
		}
		data.Groups = append(data.Groups, g)
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

func (a *API) pageOperation(op *huma.Operation, base string) pageOperation {
	out := pageOperation{ID: op.OperationID, Method: op.Method, Path: base + op.Path, Summary: op.Summary, Description: op.Description,
		Curl: a.curlCommand(op, base)}
	for _, alternative := range op.Security {
		for name := range alternative {
			out.Access = append(out.Access, name)
		}
	}
	for _, p := range op.Parameters {
		out.Parameters = append(out.Parameters, pageField{p.Name, p.In, typeName(p.Schema), joinSentences(p.Description, p.Schema), p.Required})
	}
	if op.RequestBody != nil {
		out.Body = a.listFields(op.RequestBody.Content["application/json"])
	}
	for status, r := range op.Responses {
		ans := pageAnswer{Status: status, Text: r.Description}
		if strings.HasPrefix(status, "2") {
			ans.Fields = a.listFields(r.Content["application/json"])
		}
		out.Answers = append(out.Answers, ans)
	}
	slices.SortFunc(out.Answers, func(x, y pageAnswer) int { return strings.Compare(x.Status, y.Status) })
	return out
}

// listFields returns the members of a body in the order of its type.
func (a *API) listFields(m *huma.MediaType) []pageField {
	if m == nil || m.Schema == nil {
		return nil
	}
	s := a.resolveSchema(m.Schema)
	if s.Type == huma.TypeArray {
		s = a.resolveSchema(s.Items)
	}
	names := make([]string, 0, len(s.Properties))
	for n := range s.Properties {
		names = append(names, n)
	}
	slices.SortFunc(names, func(x, y string) int {
		if rx, ry := slices.Contains(s.Required, x), slices.Contains(s.Required, y); rx != ry {
			if rx {
				return -1
			}
			return 1
		}
		return strings.Compare(x, y)
	})
	var out []pageField
	for _, n := range names {
		p := s.Properties[n]
		out = append(out, pageField{Name: n, Type: typeName(p), Text: joinSentences("", a.resolveSchema(p), p),
			Required: slices.Contains(s.Required, n)})
	}
	return out
}

func (a *API) resolveSchema(s *huma.Schema) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = a.huma.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return &huma.Schema{}
	}
	return s
}

func typeName(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Type == huma.TypeArray:
		return "array of " + typeName(s.Items)
	case s.Nullable:
		return s.Type + " or null"
	case s.Type == "":
		return "any"
	}
	return s.Type
}

// joinSentences returns the description of a field followed by the limits of its schemas.
func joinSentences(text string, schemas ...*huma.Schema) string {
	parts := []string{text}
	for _, s := range schemas {
		if s == nil {
			continue
		}
		if text == "" && s.Description != "" && !slices.Contains(parts, s.Description) {
			parts = append(parts, s.Description)
		}
		if len(s.Enum) > 0 {
			parts = append(parts, fmt.Sprintf("One of %v.", s.Enum))
		}
		if s.Minimum != nil && s.Maximum != nil {
			parts = append(parts, fmt.Sprintf("%v to %v.", *s.Minimum, *s.Maximum))
		}
		if s.MaxLength != nil {
			parts = append(parts, fmt.Sprintf("At most %d characters.", *s.MaxLength))
		}
		if s.MaxItems != nil {
			parts = append(parts, fmt.Sprintf("At most %d items.", *s.MaxItems))
		}
		if s.Default != nil {
			parts = append(parts, fmt.Sprintf("Default %v.", s.Default))
		}
	}
	return strings.TrimSpace(strings.Join(slices.Compact(parts), " "))
}

// curlCommand returns a curl command that calls an operation.
func (a *API) curlCommand(op *huma.Operation, base string) string {
	var b strings.Builder
	b.WriteString("curl ")
	if op.Method != http.MethodGet {
		b.WriteString("-X " + op.Method + " ")
	}
	if len(op.Security) > 0 && a.cfg.ForwardHeader != "" {
		b.WriteString(`-H "` + a.cfg.ForwardHeader + `: $ALLOWED_USER" `)
	} else if len(op.Security) > 0 {
		name := "$API_KEY"
		if _, token := op.Security[0]["accessToken"]; token {
			name = "$TOKEN"
		}
		b.WriteString(`-H "Authorization: Bearer ` + name + `" `)
	}
	if op.RequestBody != nil {
		if m := op.RequestBody.Content["application/json"]; m != nil {
			b.WriteString(`-H "Content-Type: application/json" `)
			if m.Example != nil {
				raw, err := json.Marshal(m.Example)
				if err == nil {
					b.WriteString("-d '" + strings.ReplaceAll(string(raw), "'", `'\''`) + "' ")
				}
			}
		}
	}
	return b.String() + `"$PATCHBAY` + base + op.Path + `"`
}
