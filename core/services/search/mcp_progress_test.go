package search

import (
	"context"
	"testing"
	"time"

	gomcp "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestMCPProgressOfEveryTool: each tool that the backend offers tells its progress while its upstream works, a research also while
// its report is waited for.
func TestMCPProgressOfEveryTool(t *testing.T) {
	e, double := mcpEnv(t)
	token := e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 1000, CreditsDay: 1000, CreditsMonth: 1000})
	told := make(chan *gomcp.ProgressNotificationParams, 1<<16)
	s := e.connect("2025-11-25", "", bearing{token: token}, &gomcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *gomcp.ProgressNotificationClientRequest) { told <- r.Params },
	})
	list, err := s.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) != 5 {
		t.Fatalf("%v, %v", list, err)
	}
	heard := make(chan struct{}, 1)
	slow := fake.Answer{Do: func(ctx context.Context, req *sdk.Request) (*sdk.Response, error) {
		select {
		case <-heard:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return &sdk.Response{Head: sdk.Head{Status: 200, ContentType: "application/json", ResourceID: "r-" + req.Operation},
			Body: []byte(`{"status":"pending"}`)}, nil
	}}
	for _, op := range []string{sdk.OpSearch, sdk.OpExtract, sdk.OpCrawl, sdk.OpMap, sdk.OpResearch} {
		double.On(op, slow)
	}
	// The double has an answer to a first search.
	callTool(e, s, "web_search", map[string]any{"query": "q"})
	double.On(sdk.OpResearchResult, fake.Answer{Do: func(ctx context.Context, _ *sdk.Request) (*sdk.Response, error) {
		select {
		case <-heard:
		case <-ctx.Done():
		}
		return &sdk.Response{Head: sdk.Head{Status: 200, ContentType: "application/json"}, Body: []byte(`{"status":"completed"}`)}, nil
	}})
	for _, tool := range list.Tools {
		params := &gomcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{"query": "q", "urls": "u", "url": "u", "input": "i"}}
		params.SetProgressToken("of " + tool.Name)
		ended := make(chan *gomcp.CallToolResult, 1)
		go func() {
			res, _ := s.CallTool(context.Background(), params)
			ended <- res
		}()
		waits := 1
		if tool.Name == "web_research" {
			waits = 2
		}
		for range waits {
			hear(t, told, "of "+tool.Name)
			heard <- struct{}{}
		}
		if res := <-ended; res == nil || res.IsError {
			t.Errorf("%s: %+v", tool.Name, res)
		}
	}
}

// hear waits until progress was told by a token.
func hear(t *testing.T, told <-chan *gomcp.ProgressNotificationParams, token string) {
	t.Helper()
	for {
		select {
		case p := <-told:
			if p.ProgressToken == token && p.Message != "" && p.Progress > 0 {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no progress was told of %s", token)
		}
	}
}
