package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

type thing struct {
	Name  string `json:"name" maxLength:"5" doc:"Name of the thing."`
	Count int64  `json:"count" minimum:"0" maximum:"9" required:"false"`
}

type input struct {
	ID    string `path:"id" maxLength:"8"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Body  thing
}

type output struct{ Body thing }

// start serves an API with one typed endpoint and one of its own.
func start(t *testing.T) (base string) {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	a := api.New(api.Config{Title: "Things", Version: "1", BaseURL: "/t", Invalid: "invalid_argument", Tags: []*huma.Tag{{Name: "Things"}},
		Security: map[string]*huma.SecurityScheme{"accessToken": {Type: "http", Scheme: "bearer"}}})
	api.Register(a, api.Operation{ID: "put-thing", Method: http.MethodPut, Path: "/things/{id}", Policy: httpd.Public, Tag: "Things",
		Summary: "Put <a> thing", BodyLimit: 100, Errors: []int{404, 409}},
		func(_ context.Context, in *input) (*output, error) {
			switch in.ID {
			case "busy":
				return nil, fault.New(fault.Conflict, "It is busy.").With("existingJobId", "job_1").WithRetryAfter(1500e6)
			case "broken":
				return nil, io.ErrUnexpectedEOF
			case "panic":
				panic("boom")
			}
			in.Body.Count += int64(in.Limit)
			return &output{in.Body}, nil
		})
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/own/:id", Policy: httpd.AccessToken,
		Handler: func(c *gin.Context) { c.String(200, "own") }},
		huma.Operation{OperationID: "own", Summary: "Own", Tags: []string{"Things"},
			Responses: map[string]*huma.Response{"200": {Description: "Text"}, "401": a.ErrorResponse("No token")}})
	s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mount([]httpd.Mount{{Service: "t", BaseURL: "/t", Routes: a.Routes()}}, httpd.Options{}); err != nil {
		t.Fatal(err)
	}
	s.Serve()
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	return "http://" + s.Addr() + "/t"
}

func call(t *testing.T, method, url, body string) (*http.Response, map[string]any) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	req.RequestURI = ""
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	_ = json.Unmarshal(raw, &out)
	return res, out
}

func TestTypedEndpoint(t *testing.T) {
	base := start(t)
	for _, tc := range []struct {
		name, path, body string
		status           int
		code, field      string
	}{
		{"OK", "/things/a", `{"name":"n","count":1,"unknown":{"x":1}}`, 200, "", ""},
		{"ErrTooLong", "/things/a", `{"name":"longer"}`, 400, "invalid_argument", "name"},
		{"ErrType", "/things/a", `{"name":1}`, 400, "invalid_argument", "name"},
		{"ErrMissing", "/things/a", `{}`, 400, "invalid_argument", ""},
		{"ErrQuery", "/things/a?limit=101", `{"name":"n"}`, 400, "invalid_argument", "limit"},
		{"ErrQueryType", "/things/a?limit=x", `{"name":"n"}`, 400, "invalid_argument", "limit"},
		{"ErrPath", "/things/longerthan8", `{"name":"n"}`, 400, "invalid_argument", "id"},
		{"ErrJSON", "/things/a", `{"name":`, 400, "invalid_argument", ""},
		{"ErrEmpty", "/things/a", ``, 400, "invalid_argument", ""},
		{"ErrSize", "/things/a", `{"name":"` + strings.Repeat("x", 200) + `"}`, 413, "payload_too_large", ""},
		{"ErrConflict", "/things/busy", `{"name":"n"}`, 409, "conflict", ""},
		{"ErrInternal", "/things/broken", `{"name":"n"}`, 500, "internal", ""},
		{"ErrPanic", "/things/panic", `{"name":"n"}`, 500, "internal", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, got := call(t, http.MethodPut, base+tc.path, tc.body)
			if res.StatusCode != tc.status || tc.code != "" && got["code"] != tc.code {
				t.Fatalf("got %d %v", res.StatusCode, got)
			}
			if res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got the type %q", res.Header.Get("Content-Type"))
			}
			if tc.code == "" {
				if got["count"] != 21.0 || got["$schema"] != nil {
					t.Fatalf("got %v", got)
				}
				return
			}
			if got["message"] == "" || got["request_id"] == nil || tc.field != "" && got["field"] != tc.field {
				t.Fatalf("got %v", got)
			}
			if tc.name == "ErrConflict" && (got["existingJobId"] != "job_1" || res.Header.Get("Retry-After") != "2") {
				t.Fatalf("got %v, %v", got, res.Header)
			}
		})
	}
}

func TestBodyOfUnknownLengthHasTheLimitToo(t *testing.T) {
	base := start(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+"/things/a",
		io.MultiReader(strings.NewReader(`{"name":"n"}`), strings.NewReader(strings.Repeat(" ", 200))))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("got %d", res.StatusCode)
	}
}

func TestDocument(t *testing.T) {
	base := start(t)
	res, doc := call(t, http.MethodGet, base+"/openapi.json", "")
	if res.StatusCode != 200 || doc["openapi"] != "3.1.0" {
		t.Fatalf("got %d %v", res.StatusCode, doc["openapi"])
	}
	paths := doc["paths"].(map[string]any)
	put := paths["/things/{id}"].(map[string]any)["put"].(map[string]any)
	answers := put["responses"].(map[string]any)
	for _, status := range []string{"200", "400", "404", "409", "500"} {
		if answers[status] == nil {
			t.Errorf("the answer %s is not in the document", status)
		}
	}
	if none, listed := put["security"].([]any); answers["422"] != nil || !listed || len(none) != 0 {
		t.Errorf("got %v", put)
	}
	own := paths["/own/{id}"].(map[string]any)["get"].(map[string]any)
	if len(own["security"].([]any)) != 1 {
		t.Errorf("got %v", own)
	}
	tag := res.Header.Get("ETag")
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", nil)
	req.RequestURI = ""
	req.Header.Set("If-None-Match", tag)
	again, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Body.Close()
	if tag == "" || again.StatusCode != http.StatusNotModified {
		t.Fatalf("got %d for %q", again.StatusCode, tag)
	}
}

func TestPage(t *testing.T) {
	base := start(t)
	res, err := http.Get(base + "/docs")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, _ := io.ReadAll(res.Body)
	page := string(raw)
	for _, want := range []string{"/t/things/{id}", "Put &lt;a&gt; thing", "At most 5 characters.", `href="/t/docs/style.css"`,
		"$PATCHBAY/t/own/{id}", "1 to 100. Default 20."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("got the policy %q", csp)
	}
}
