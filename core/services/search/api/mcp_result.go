package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/api/mcp"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// researchWait is how long a tool waits for its research; what is not finished then is handed over as it is.
	researchWait = 5 * time.Minute
	// researchPause is the pause between two questions for it.
	researchPause = 2 * time.Second
	// researchMisses is how many questions in a row may fail.
	researchMisses = 3
	// maxMessage bounds what is said of an upstream's error, in bytes.
	maxMessage = 2000
)

// newResult takes an answer over and frees it.
func newResult(ans *proxy.Answer) *mcp.Result {
	defer ans.Reply.Release()
	if ans.Head.Status >= 400 {
		text := fmt.Sprintf("The upstream answered %d: %s", ans.Head.Status, upstreamMessage(ans.Body()))
		return &mcp.Result{Body: []byte(text), Failed: true}
	}
	return &mcp.Result{Body: bytes.Clone(ans.Body())}
}

// upstreamMessage returns the sentence in an error body, wherever such bodies have it, else the body.
func upstreamMessage(body []byte) string {
	var shape struct {
		Detail  json.RawMessage `json:"detail"`
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(body, &shape) == nil {
		var detail struct {
			Error json.RawMessage `json:"error"`
		}
		_ = json.Unmarshal(shape.Detail, &detail)
		for _, raw := range []json.RawMessage{detail.Error, shape.Detail, shape.Error, shape.Message} {
			if said := proxy.StringValue(raw); said != "" {
				return said
			}
		}
	}
	return string(bytes.ToValidUTF8(body[:min(len(body), maxMessage)], nil))
}

// awaitResult asks for the result of a research until it is there. The questions cost nothing and count nowhere: for the
// client they are part of the one call.
func (m *mcpCaller) awaitResult(ctx context.Context, c *proxy.Call, id string, pending *mcp.Result) (*mcp.Result, error) {
	if !isUnfinished(pending.Body) {
		return pending, nil
	}
	op, offered := m.handlers.proxy.State().Operation(sdk.OpResearchResult)
	if !offered {
		return pending, nil
	}
	question := &proxy.Call{Token: c.Token, Op: op, Resource: id, RequestID: c.RequestID, Client: c.Client}
	end := time.NewTimer(researchWait)
	defer end.Stop()
	again := time.NewTicker(m.handlers.ResearchPause)
	defer again.Stop()
	for misses := 0; ; {
		select {
		case <-ctx.Done():
			return nil, fault.FromContext(ctx.Err())
		case <-end.C:
			return pending, nil
		case <-httpd.Draining(ctx):
			return pending, nil
		case <-again.C:
		}
		out, err := m.pollResult(ctx, question)
		switch {
		case err == nil && !isUnfinished(out.Body):
			return out, nil
		case err == nil:
			misses, pending = 0, out
		default:
			if misses++; misses >= researchMisses || fault.CodeOf(err) == fault.ClientClosedRequest {
				return nil, err
			}
		}
	}
}

// pollResult asks once for the result of a research.
func (m *mcpCaller) pollResult(ctx context.Context, question *proxy.Call) (*mcp.Result, error) {
	ans, err := m.handlers.proxy.Poll(ctx, question)
	if err != nil {
		return nil, err
	}
	status := ans.Head.Status
	out := newResult(ans)
	if status >= 500 {
		return nil, fault.Wrap(errors.New(string(out.Body)), fault.UpstreamUnavailable, "%s", out.Body)
	}
	out.Failed = out.Failed || researchStatus(out.Body) == "failed"
	return out, nil
}

func researchStatus(body []byte) string {
	var shape struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal(body, &shape)
	return shape.Status
}

func isUnfinished(body []byte) bool {
	switch researchStatus(body) {
	case "pending", "queued", "in_progress", "running":
		return true
	}
	return false
}
