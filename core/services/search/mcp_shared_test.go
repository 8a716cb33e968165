package search

import (
	"context"
	"net/http"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// endMCP ends a session and returns the status of the answer.
func (e *env) endMCP(token, session string) int {
	e.Helper()
	return e.send(http.MethodDelete, "/search/mcp", "", "Authorization", "Bearer "+token, "Mcp-Session-Id", session).status
}

// listMCP lists the tools in a session and returns the status of the answer.
func (e *env) listMCP(token, session string) int {
	e.Helper()
	return e.rpc(token, listTools, "Mcp-Session-Id", session).status
}

// TestMCPSessionsOfNodes checks that a session which one core has begun goes on at another, and that its end holds at both at once, also at
// one that gets no news.
func TestMCPSessionsOfNodes(t *testing.T) {
	a, b := newDeafNode(t, withTools)
	token, other := a.token(nil), a.token(nil)
	begin := func() string { return a.rpc(token, welcome).header.Get("Mcp-Session-Id") }
	known, unknown := begin(), begin()
	if got := b.listMCP(token, known); got != 200 {
		t.Errorf("the session of another core: %d", got)
	}
	if got := b.listMCP(other, unknown); got != 404 {
		t.Errorf("the session of another core, with another token: %d", got)
	}
	for _, session := range []string{known, unknown} {
		if got := a.endMCP(token, session); got != 204 {
			t.Errorf("end: %d", got)
		}
	}
	if got := b.listMCP(token, unknown); got != 404 {
		t.Errorf("a session that was ended before this core knew it: %d", got)
	}
	if got := b.listMCP(token, known); got != 404 {
		t.Errorf("a session that was ended at another core just now: %d", got)
	}
}

// TestMCPSessionRestsAtANode: a session that is used at one core is not over at another, where it has rested for long.
func TestMCPSessionRestsAtANode(t *testing.T) {
	nodes := newNodes(t, 2, withTools)
	token := nodes[0].token(nil)
	session := nodes[0].rpc(token, welcome).header.Get("Mcp-Session-Id")
	for i := range 4 {
		for _, n := range nodes {
			n.clock.Advance(40 * 60e9)
		}
		if got := nodes[(i+1)%2].listMCP(token, session); got != 200 {
			t.Errorf("call %d: %d", i, got)
		}
	}
}

// heldCall is a call in an MCP session that runs at the core a of two. Its status comes when it has ended; answer lets the backend answer it.
type heldCall struct {
	a, b           *env
	token, session string
	status         chan int
	answer         chan struct{}
}

// holdCall begins a call, and returns when the backend has it.
func holdCall(t *testing.T) heldCall {
	t.Helper()
	c, entered := heldCall{status: make(chan int, 1), answer: make(chan struct{})}, make(chan struct{})
	nodes := newNodes(t, 2, withTools, func(e *env) {
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
			close(entered)
			<-c.answer
			return reply(200, `{}`), nil
		}
	})
	c.a, c.b = nodes[0], nodes[1]
	c.token = c.a.token(nil)
	c.session = c.a.rpc(c.token, welcome).header.Get("Mcp-Session-Id")
	go func() { c.status <- c.a.rpc(c.token, callSearch, "Mcp-Session-Id", c.session).status }()
	<-entered
	return c
}

// TestMCPEndAtAnotherNode: what runs in a session ends when the session is ended at another core.
func TestMCPEndAtAnotherNode(t *testing.T) {
	call := holdCall(t)
	if got := call.b.endMCP(call.token, call.session); got != 204 {
		t.Errorf("end: %d", got)
	}
	if got := <-call.status; got != 499 {
		t.Errorf("the call of the session: %d", got)
	}
	close(call.answer)
	call.a.flush()
}

// TestMCPCancelAtAnotherNode: a cancellation reaches the call at the core where it runs.
func TestMCPCancelAtAnotherNode(t *testing.T) {
	call := holdCall(t)
	got := call.b.rpc(call.token, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "Mcp-Session-Id", call.session)
	if got.status != 202 {
		t.Errorf("the cancellation: %d %s", got.status, got.body)
	}
	if got := <-call.status; got != 202 {
		t.Errorf("the cancelled call: %d", got)
	}
	close(call.answer)
	call.a.flush()
}

// TestMCPSessionsAfterARestart: sessions go on after a restart of a core, and those that were ended do not.
func TestMCPSessionsAfterARestart(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), Migrations())
	before := newEnvOn(t, st, withTools)
	token := before.token(nil)
	open := before.rpc(token, welcome).header.Get("Mcp-Session-Id")
	ended := before.rpc(token, welcome).header.Get("Mcp-Session-Id")
	if got := before.endMCP(token, ended); got != 204 {
		t.Errorf("end: %d", got)
	}
	before.svc.Close()
	after := newEnvOn(t, st, withTools)
	if got := after.listMCP(token, open); got != 200 {
		t.Errorf("an open session: %d", got)
	}
	if got := after.listMCP(token, ended); got != 404 {
		t.Errorf("an ended session: %d", got)
	}
	after.clock.Advance(7 * 24 * 60 * 60e9)
	if got := after.listMCP(token, open); got != 404 {
		t.Errorf("a session of a week ago: %d", got)
	}
}
