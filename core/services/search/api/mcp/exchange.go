package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// exchange is the calls of one POST while they run. To the SDK's server it is a connection of its own; what a session
// has to remember between two of them is in session.
type exchange struct {
	caller Caller
	// ctx ends when the client leaves, when its session ends, or when everything is answered.
	ctx    context.Context
	cancel context.CancelFunc
	in     chan jsonrpc.Message
	out    chan jsonrpc.Message

	once   sync.Once
	closed chan struct{}

	// messages are those that the exchange answers, interval is the pause between two notifications of progress.
	messages *messages
	interval time.Duration

	mu      sync.Mutex
	refusal error
	// cancelled has the calls that get no response.
	cancelled map[jsonrpc.ID]bool
}

func newExchange(ctx context.Context, p *post) *exchange {
	x := &exchange{
		caller: p.caller, messages: &p.messages, interval: p.endpoint.cfg.Progress, cancelled: map[jsonrpc.ID]bool{},
		// There is room for a cancellation of each call.
		in: make(chan jsonrpc.Message, 2*len(p.calls)), out: make(chan jsonrpc.Message), closed: make(chan struct{}),
	}
	x.ctx, x.cancel = context.WithCancel(ctx)
	for _, r := range p.calls {
		x.in <- r
	}
	return x
}

// Connect implements the SDK's Transport.
func (x *exchange) Connect(context.Context) (sdk.Connection, error) { return x, nil }

// SessionID implements the SDK's Connection. Sessions are kept here, not by the SDK.
func (x *exchange) SessionID() string { return "" }

// Read implements the SDK's Connection.
func (x *exchange) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-x.in:
		return m, nil
	case <-x.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements the SDK's Connection. What comes after the end is dropped.
func (x *exchange) Write(_ context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		return errors.New("there is no way to ask the client")
	}
	select {
	case x.out <- m:
	case <-x.ctx.Done():
	case <-x.closed:
	}
	return nil
}

// Close implements the SDK's Connection.
func (x *exchange) Close() error {
	x.once.Do(func() { close(x.closed) })
	return nil
}

// cancelCall has the SDK's server cancel a call, which then gets no response.
func (x *exchange) cancelCall(id jsonrpc.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cancelled[id] {
		return
	}
	x.cancelled[id] = true
	raw, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err == nil {
		x.in <- &jsonrpc.Request{Method: methodCancelled, Params: raw}
	}
}

// isCancelled reports whether the client has taken a call back.
func (x *exchange) isCancelled(id jsonrpc.ID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cancelled[id]
}

// keepRefusal keeps the error that shall be the whole answer.
func (x *exchange) keepRefusal(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refusal = err
}

func (x *exchange) firstRefusal() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refusal
}

// exchangeKey finds the exchange in the context of a tool.
type exchangeKey struct{}

// exchangeCalls runs the calls and answers them.
func (p *post) exchangeCalls() error {
	x := newExchange(p.c.Request.Context(), p)
	defer x.cancel()
	sessions := p.endpoint.sessions
	if !sessions.startCalls(p.session, x, &p.messages) {
		writeRPCError(p.c, http.StatusBadRequest, p.onlyID(), invalidRequest("a call with this id is under way"))
		return nil
	}
	defer sessions.endCalls(p.session, &p.messages)
	server, err := p.tools.server.Connect(context.WithValue(p.c.Request.Context(), exchangeKey{}, x), x,
		&sdk.ServerSessionOptions{State: p.sessionState()})
	if err != nil {
		return fault.Wrap(err, fault.Internal, "The request could not be taken.")
	}
	defer func() {
		// What still runs ends, and is waited for: nothing outlives its request.
		x.cancel()
		_ = server.Close()
	}()
	a := &answer{post: p, waiting: len(p.calls)}
	for _, r := range p.refused {
		a.responses = append(a.responses, encodeResponse(nil, r))
	}
	return a.runExchange(x)
}

// sessionState is what the SDK has to know of what went before.
func (p *post) sessionState() *sdk.ServerSessionState {
	if p.initialize || p.version >= versionPerCall {
		return &sdk.ServerSessionState{}
	}
	return &sdk.ServerSessionState{
		InitializeParams:          &sdk.InitializeParams{ProtocolVersion: p.version, Capabilities: &sdk.ClientCapabilities{}},
		InitializedParams:         &sdk.InitializedParams{},
		NegotiatedProtocolVersion: p.version,
	}
}

// answer collects what comes back and writes it: as JSON, or as events once something has to be said before the end.
type answer struct {
	*post
	waiting   int
	responses []json.RawMessage
	status    int
	events    *httpd.Events
}

func (a *answer) runExchange(x *exchange) error {
	beat := time.NewTicker(a.endpoint.cfg.Heartbeat)
	defer beat.Stop()
	for a.waiting > 0 {
		select {
		case m := <-x.out:
			if err := a.takeMessage(m, x); err != nil {
				return err
			}
		case <-beat.C:
			if !a.asEvents {
				continue
			}
			if a.openStream(); a.events.Beat() != nil {
				return nil
			}
		case <-x.ctx.Done():
			return a.cutOff()
		}
	}
	return a.finishAnswer()
}

// cutOff answers when the session was ended, or nobody is there any more.
func (a *answer) cutOff() error {
	if a.events != nil {
		return nil
	}
	return fault.New(fault.ClientClosedRequest, "The request was cancelled.")
}

// takeMessage handles one message of the server. An error is the answer.
func (a *answer) takeMessage(m jsonrpc.Message, x *exchange) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		if a.asEvents {
			a.openStream()
			a.sendEvent(encodeMessage(m))
		}
		return nil
	}
	a.waiting--
	if x.isCancelled(r.ID) {
		return nil
	}
	if err := x.firstRefusal(); err != nil && !a.batch && a.events == nil {
		a.caller.Headers(a.c.Writer.Header())
		return err
	}
	if a.initialize && r.Error == nil {
		a.beginSession(r)
	}
	a.status = a.responseStatus(r)
	raw := encodeResponse(a.clientCall(r.ID).id, r)
	if a.events != nil || !a.asJSON && a.status == http.StatusOK {
		a.openStream()
		a.sendEvent(raw)
		return nil
	}
	a.responses = append(a.responses, raw)
	return nil
}

// beginSession makes the session of a client that has been welcomed.
func (a *answer) beginSession(r *jsonrpc.Response) {
	var welcome struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(r.Result, &welcome) == nil {
		made := a.endpoint.sessions.beginSession(a.caller.Token(), welcome.ProtocolVersion)
		a.c.Header(headerSession, made.id)
	}
}

// responseStatus is 200, save for errors that the newer versions show in the status too.
func (a *answer) responseStatus(r *jsonrpc.Response) int {
	var e *jsonrpc.Error
	if a.version < versionPerCall || a.batch || !errors.As(r.Error, &e) {
		return http.StatusOK
	}
	switch e.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, sdk.CodeUnsupportedProtocolVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func (a *answer) openStream() {
	if a.events == nil {
		a.setLimitHeaders()
		a.events = httpd.NewEvents(a.c)
		for _, early := range a.responses {
			a.sendEvent(early)
		}
		a.responses = nil
	}
}

func (a *answer) setLimitHeaders() {
	if a.spendsQuota() {
		a.caller.Headers(a.c.Writer.Header())
	}
}

// sendEvent writes an event. A client that is gone shows in its context.
func (a *answer) sendEvent(raw []byte) { _ = a.events.Send(0, "message", raw) }

// finishAnswer writes what has been collected. Where nothing is left to say, because the calls were cancelled, the status is
// that of a notification.
func (a *answer) finishAnswer() error {
	if a.events == nil && !a.asJSON && len(a.responses) > 0 && a.status <= http.StatusOK {
		a.openStream()
	}
	if a.events != nil {
		return nil
	}
	a.setLimitHeaders()
	a.c.Header("Cache-Control", "no-store")
	if len(a.responses) == 0 {
		a.c.Status(http.StatusAccepted)
		a.c.Writer.WriteHeaderNow()
		return nil
	}
	body := []byte(a.responses[0])
	if a.batch {
		body = encodeWire(a.responses)
	}
	httpd.WriteBody(a.c, max(a.status, http.StatusOK), "application/json", body)
	return nil
}
