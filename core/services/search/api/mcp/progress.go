package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressParams are the parameters of a notification of progress. Progress is in seconds.
type progressParams struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Message  string          `json:"message"`
}

// reportProgress tells a client that asked for it, again and again, how long its call has taken. It serves every tool, so that none
// can forget it. Once stop has returned nothing is told any more.
func (x *exchange) reportProgress(ctx context.Context, req *sdk.CallToolRequest, message string) (stop func()) {
	token := x.progressToken(req)
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		tick := time.NewTicker(x.interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				x.sendProgress(ctx, progressParams{Token: token, Progress: time.Since(began).Seconds(), Message: message})
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// progressToken returns the client's token for the progress of a call, or nil.
func (x *exchange) progressToken(req *sdk.CallToolRequest) json.RawMessage {
	ours, _ := req.Params.GetProgressToken().(string)
	n, err := strconv.ParseInt(ours, 10, 64)
	if err != nil {
		return nil
	}
	return x.messages.clientCall(callID(n)).progress
}

func (x *exchange) sendProgress(ctx context.Context, p progressParams) {
	raw := encodeWire(p)
	select {
	case x.out <- &jsonrpc.Request{Method: methodProgress, Params: raw}:
	case <-ctx.Done():
	case <-x.ctx.Done():
	case <-x.closed:
	}
}
