package search

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gomcp "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/search/api/mcp"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// withTools makes the operations of the backend tools.
func withTools(e *env) {
	for i := range e.backend.desc.Operations {
		if op := &e.backend.desc.Operations[i]; op.Name != sdk.OpResearchResult {
			op.Tool, op.Title, op.Description = "web_"+op.Name, "Title of "+op.Name, "What "+op.Name+" does."
			op.InputSchema = `{"type":"object","properties":{"query":{"type":"string","x-kept":1}}}`
		}
	}
}

// mcpEnv is a service on a double whose operations are tools with the prefix web_.
func mcpEnv(t *testing.T, change ...func(*env)) (*env, *fake.Search) {
	t.Helper()
	e := newEnv(t, change...)
	withTools(e)
	double := fake.NewSearch(e.backend.desc)
	double.On(sdk.OpSearch, fake.JSON(200, `{"results":[{"title":"one"}]}`))
	if err := e.svc.Reload(e.set, double); err != nil {
		t.Fatal(err)
	}
	e.svc.api.Proxy.ResearchPause = time.Millisecond
	var err error
	if e.svc.api.Proxy.Mcp, err = mcp.New(mcp.Config{Now: e.clock.Now, Progress: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	e.listen()
	return e, double
}

// bearing adds a token to every request; without sends no session id, as clients do that keep none.
type bearing struct {
	token   string
	without bool
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	if b.without {
		r.Header.Del("Mcp-Session-Id")
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connect makes a client of the SDK. An empty version takes its newest.
func (e *env) connect(version, query string, by bearing, opts *gomcp.ClientOptions) *gomcp.ClientSession {
	e.Helper()
	client := gomcp.NewClient(&gomcp.Implementation{Name: "test", Version: "1"}, opts)
	transport := &gomcp.StreamableClientTransport{Endpoint: e.base + "/search/mcp" + query, HTTPClient: &http.Client{Transport: by},
		MaxRetries: -1}
	session, err := client.Connect(context.Background(), transport, &gomcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = session.Close() })
	return session
}

func callTool(e *env, s *gomcp.ClientSession, name string, args any) *gomcp.CallToolResult {
	e.Helper()
	res, err := s.CallTool(context.Background(), &gomcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		e.Fatal(err)
	}
	return res
}

func contentText(r *gomcp.CallToolResult) string {
	if len(r.Content) != 1 {
		return ""
	}
	t, ok := r.Content[0].(*gomcp.TextContent)
	if !ok {
		return ""
	}
	return t.Text
}

func TestMCPClients(t *testing.T) {
	e, double := mcpEnv(t)
	token := e.token(nil)
	for _, tt := range []struct {
		name, version, query string
		by                   bearing
		session              bool
	}{
		{"session, header", "2025-11-25", "", bearing{token: token}, true},
		{"session, older version", "2025-03-26", "", bearing{token: token}, true},
		{"session, query", "2025-06-18", "?tavilyApiKey=" + token, bearing{}, true},
		{"session id not kept", "2025-11-25", "", bearing{token: token, without: true}, true},
		{"each call alone", "", "", bearing{token: token}, false},
		{"each call alone, query", "", "?TAVILYAPIKEY=" + token, bearing{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(double.Requests())
			s := e.connect(tt.version, tt.query, tt.by, nil)
			if got := s.ID() != ""; got != tt.session {
				t.Errorf("the session id is %q", s.ID())
			}
			list, err := s.ListTools(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if want := []string{"web_crawl", "web_extract", "web_map", "web_research", "web_search"}; !slices.Equal(names, want) {
				t.Errorf("tools %v", names)
			}
			schema, _ := json.Marshal(list.Tools[4].InputSchema)
			if list.Tools[4].Title != "Title of search" || list.Tools[4].Description != "What search does." ||
				!strings.Contains(string(schema), `"x-kept":1`) {
				t.Errorf("the tool is not as described: %+v %s", list.Tools[4], schema)
			}
			for _, name := range []string{"web_search", "web-search"} {
				res := callTool(e, s, name, map[string]any{"query": "q", "api_key": token})
				structured, _ := json.Marshal(res.StructuredContent)
				if want := `{"results":[{"title":"one"}]}`; res.IsError || contentText(res) != want || string(structured) != want {
					t.Errorf("%s: %q, %s", name, contentText(res), structured)
				}
			}
			if calls := double.Requests()[before:]; len(calls) != 2 || string(calls[0].Body) != `{"query":"q"}` {
				t.Errorf("the backend got %+v", calls)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	e.flush()
	if got := e.sums(idOf(token)); got != (sums{12, 12, 12, 12}) {
		t.Errorf("counted %+v", got)
	}
	var client, id string
	if err := e.store.DB(context.Background()).Raw("SELECT client, request_id FROM search_requests LIMIT 1").Row().Scan(&client,
		&id); err != nil || client != "127.0.0.1" || id == "" {
		t.Errorf("the row has %q, %q, %v", client, id, err)
	}
	if strings.Contains(e.logs.String(), token) {
		t.Error("the token is in the log")
	}
}

func TestMCPToolErrors(t *testing.T) {
	e, double := mcpEnv(t)
	token := e.token(nil)
	double.On(sdk.OpExtract, fake.JSON(422, `{"detail":{"error":"No such page."}}`))
	double.On(sdk.OpCrawl, fake.Answer{Do: func(context.Context, *sdk.Request) (*sdk.Response, error) { panic("as told") }})
	s := e.connect("2025-11-25", "", bearing{token: token}, nil)
	for _, tt := range []struct {
		tool string
		args any
		want string
	}{
		{"web_search", map[string]any{}, "The field query is missing."},
		{"web_search", nil, "The field query is missing."},
		{"web_search", []int{1}, "The body must be a JSON object."},
		{"web_search", map[string]any{"query": "q", "max_results": 21}, "max_results must be an integer from 0 to 20."},
		{"web_search", map[string]any{"query": token}, "Send the access token only in the field api_key."},
		{"web_research", map[string]any{"input": "i", "stream": true}, "A tool cannot stream: leave stream out."},
		{"web_extract", map[string]any{"urls": "u"}, "The upstream answered 422: No such page."},
		{"web_crawl", map[string]any{"url": "u"}, "Something went wrong on our side."},
	} {
		res := callTool(e, s, tt.tool, tt.args)
		if !res.IsError || contentText(res) != tt.want {
			t.Errorf("%s %v: error %v, %q", tt.tool, tt.args, res.IsError, contentText(res))
		}
	}
	if _, err := s.CallTool(context.Background(), &gomcp.CallToolParams{Name: "other"}); err == nil ||
		!strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("an unknown tool: %v", err)
	}
	e.flush()
	if got := e.sums(idOf(token)); got != (sums{2, 0, 2, 0}) {
		t.Errorf("counted %+v", got)
	}
}

func TestMCPToolsFollowTheBackend(t *testing.T) {
	e, _ := mcpEnv(t)
	s := e.connect("2025-11-25", "", bearing{token: e.token(nil)}, nil)
	next := fake.NewSearch(sdk.Descriptor{Operations: []sdk.Operation{{Name: sdk.OpSearch, Tool: "search", InputSchema: "no schema"}}})
	if err := e.svc.Reload(e.set, next); err != nil {
		t.Fatal(err)
	}
	list, err := s.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "search" {
		t.Fatalf("after a reload: %+v, %v", list, err)
	}
	if res := callTool(e, s, "search", map[string]any{"query": "q"}); res.IsError {
		t.Errorf("after a reload: %s", contentText(res))
	}
}

func TestMCPCancel(t *testing.T) {
	for _, version := range []string{"2025-11-25", ""} {
		e, double := mcpEnv(t)
		token := e.token(nil)
		entered, answer := make(chan struct{}), make(chan struct{})
		double.On(sdk.OpMap, answerWhen(entered, answer), fake.JSON(200, `{}`))
		s := e.connect(version, "", bearing{token: token}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &gomcp.CallToolParams{Name: "web_map", Arguments: map[string]any{"url": "u"}})
			ended <- err
		}()
		wait(t, entered)
		cancel()
		if err := <-ended; err == nil {
			t.Error("the cancelled call has a result")
		}
		close(answer)
		e.charged(token, 2)
		if res := callTool(e, s, "web_map", map[string]any{"url": "u"}); res.IsError {
			t.Errorf("after the cancellation: %s", contentText(res))
		}
	}
}

// answerWhen closes entered when it is called, and answers once answer is closed.
func answerWhen(entered, answer chan struct{}) fake.Answer {
	return fake.Answer{Do: func(ctx context.Context, _ *sdk.Request) (*sdk.Response, error) {
		close(entered)
		select {
		case <-answer:
			return &sdk.Response{Head: sdk.Head{Status: 200, ContentType: "application/json"}, Body: []byte(`{}`)}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("it did not happen within 10 seconds")
	}
}

func research(e *env, double *fake.Search, results ...fake.Answer) {
	started := fake.JSON(201, `{"request_id":"r-1","status":"pending"}`)
	started.Response.ResourceID = "r-1"
	double.On(sdk.OpResearch, started)
	double.On(sdk.OpResearchResult, results...)
}

func TestMCPResearch(t *testing.T) {
	pending, done := fake.JSON(202, `{"request_id":"r-1","status":"in_progress"}`), fake.JSON(200, `{"status":"completed","content":"report"}`)
	for _, tt := range []struct {
		name    string
		results []fake.Answer
		want    string
		failed  bool
		asked   int
	}{
		{"in the end", []fake.Answer{pending, fake.JSON(503, `{}`), pending, done}, `"content":"report"`, false, 4},
		{"failed", []fake.Answer{fake.JSON(200, `{"status":"failed"}`)}, "failed", true, 1},
		{"forgotten", []fake.Answer{fake.JSON(404, `{"detail":"No such task"}`)}, "The upstream answered 404: No such task", true, 1},
		{"never heard of again", []fake.Answer{fake.JSON(503, `{"error":"down"}`)}, "The upstream answered 503: down", true, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, double := mcpEnv(t)
			research(e, double, tt.results...)
			token := e.token(nil)
			s := e.connect("2025-11-25", "", bearing{token: token}, nil)
			res, err := s.CallTool(context.Background(), &gomcp.CallToolParams{Name: "web_research", Arguments: map[string]any{"input": "i"}})
			if err != nil || res.IsError != tt.failed || !strings.Contains(contentText(res), tt.want) {
				t.Fatalf("%v, %v", err, res)
			}
			if n := len(double.Requests()); n != 1+tt.asked {
				t.Errorf("the backend got %d requests", n)
			}
			e.flush()
			if got := e.sums(idOf(token)); got != (sums{1, 40, 1, 40}) {
				t.Errorf("counted %+v", got)
			}
		})
	}
}

func TestMCPResearchEndsWithTheServer(t *testing.T) {
	e, double := mcpEnv(t)
	asked := make(chan struct{}, 1<<16)
	research(e, double, fake.Answer{Do: func(context.Context, *sdk.Request) (*sdk.Response, error) {
		asked <- struct{}{}
		a := fake.JSON(202, `{"status":"pending"}`)
		return &a.Response, nil
	}})
	s := e.connect("2025-11-25", "", bearing{token: e.token(nil)}, nil)
	ended := make(chan *gomcp.CallToolResult, 1)
	go func() {
		res, _ := s.CallTool(context.Background(), &gomcp.CallToolParams{Name: "web_research", Arguments: map[string]any{"input": "i"}})
		ended <- res
	}()
	<-asked
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := e.server.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if res := <-ended; res == nil || !strings.Contains(contentText(res), `"pending"`) {
		t.Errorf("the research ended with %+v", res)
	}
}
