// Package mcp is the endpoint of the search service for clients of the Model Context Protocol: Streamable HTTP with and
// without sessions. It reads messages, keeps sessions and writes answers; what a tool does is its caller's business.
package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/secret"
)

// Names of headers, and versions of the protocol between which something changes.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"

	// versionUnknown is assumed of a client that names none.
	versionUnknown = "2025-03-26"
	// versionNoBatch is the first without batches.
	versionNoBatch = "2025-06-18"
	// versionPerCall is the first in which each call stands alone, without initialize.
	versionPerCall = "2026-07-28"
)

// Defaults of Config.
const (
	DefaultMaxSessions = 10_000
	DefaultIdle        = time.Hour
	DefaultProgress    = 2 * time.Second
)

// Config is what an endpoint needs. The zero value is complete.
type Config struct {
	// MaxSessions bounds the sessions in memory, a tenth of them for one token; the one that rested longest makes room.
	MaxSessions int
	// Idle is how long a session without calls is kept.
	Idle time.Duration
	// Heartbeat is the pause after which an answer that is not there yet becomes a stream with comments.
	Heartbeat time.Duration
	// Progress is the pause after which a client that asked for it is told how long its call has taken, again and again.
	Progress time.Duration
	// Now is the clock; nil means the real one.
	Now func() time.Time
	// Keyring seals the ids of sessions; nil means a key of this process alone.
	Keyring *secret.Keyring
	// Shared is what the endpoints of all cores know together; nil for the only one.
	Shared Shared
}

// Caller is who sent a request. Its methods are called concurrently when the request is a batch.
type Caller interface {
	// Token identifies the access token; sessions belong to it.
	Token() string
	// Call performs a tool. Its error is a fault; fault.QuotaExhausted becomes the HTTP answer where that is possible, any
	// other the result of the tool.
	Call(ctx context.Context, call Call) (*Result, error)
	// Headers adds what the answer to a request with a tool call says about the token's limits.
	Headers(h http.Header)
}

// Endpoint serves /mcp. It is safe for concurrent use and starts nothing that outlives a request.
type Endpoint struct {
	cfg      Config
	sessions *sessions
}

// New makes an endpoint.
func New(cfg Config) (*Endpoint, error) {
	if cfg.MaxSessions <= 0 {
		cfg.MaxSessions = DefaultMaxSessions
	}
	if cfg.Idle <= 0 {
		cfg.Idle = DefaultIdle
	}
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = httpd.Heartbeat
	}
	if cfg.Progress <= 0 {
		cfg.Progress = DefaultProgress
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Shared == nil {
		cfg.Shared = alone{}
	}
	if cfg.Keyring == nil {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		ring, err := secret.NewKeyring(key)
		if err != nil {
			return nil, err
		}
		cfg.Keyring = ring
	}
	return &Endpoint{cfg: cfg, sessions: newSessions(cfg)}, nil
}

// Delete ends a session. Its error is a fault that nothing has been written for.
func (e *Endpoint) Delete(c *gin.Context, caller Caller) error {
	id := c.GetHeader(headerSession)
	if id == "" {
		return fault.New(fault.InvalidRequest, "The header %s is missing.", headerSession)
	}
	ended, err := e.sessions.endSession(c.Request.Context(), id, caller.Token())
	if err == nil && !ended {
		err = errSession()
	}
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

func errSession() error {
	return fault.New(
		"session_not_found", "There is no such session: it has ended or belongs to another token. Connect again.").WithStatus(http.StatusNotFound)
}

// Post takes messages. Its error is a fault that nothing has been written for; errors of JSON-RPC are written.
func (e *Endpoint) Post(c *gin.Context, tools *Tools, caller Caller) error {
	if kind, _, err := mime.ParseMediaType(c.GetHeader("Content-Type")); err != nil || kind != "application/json" {
		return fault.New(fault.InvalidRequest, "The Content-Type must be application/json.").WithStatus(http.StatusUnsupportedMediaType)
	}
	asJSON, asEvents := readAccept(c.Request.Header.Values("Accept"))
	if !asJSON && !asEvents {
		return fault.New(fault.InvalidRequest, "Accept must allow application/json or text/event-stream.").WithStatus(http.StatusNotAcceptable)
	}
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return err
	}
	p := &post{endpoint: e, c: c, tools: tools, caller: caller, asJSON: asJSON, asEvents: asEvents}
	if refusal := p.readBody(raw); refusal != nil {
		writeRPCError(c, http.StatusBadRequest, p.onlyID(), refusal)
		return nil
	}
	return p.serveMessages()
}

// readAccept reads the header Accept; a client that sends none takes anything.
func readAccept(values []string) (asJSON, asEvents bool) {
	if len(values) == 0 {
		return true, true
	}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "*/*":
			asJSON, asEvents = true, true
		case "application/json", "application/*":
			asJSON = true
		case "text/event-stream", "text/*":
			asEvents = true
		}
	}
	return asJSON, asEvents
}

// post is one POST.
type post struct {
	endpoint         *Endpoint
	c                *gin.Context
	tools            *Tools
	caller           Caller
	asJSON, asEvents bool
	messages
	version string
	session *session
}

// readBody takes the body apart and finds out about the version of the protocol.
func (p *post) readBody(raw []byte) *jsonrpc.Error {
	var refusal *jsonrpc.Error
	if p.messages, refusal = parseMessages(raw); refusal != nil {
		return refusal
	}
	p.version = p.c.GetHeader(headerVersion)
	if p.version != "" && !slices.Contains(sdk.SupportedProtocolVersions(), p.version) {
		data, _ := json.Marshal(sdk.UnsupportedProtocolVersionData{Supported: sdk.SupportedProtocolVersions(), Requested: p.version})
		return &jsonrpc.Error{Code: sdk.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data}
	}
	if p.version == "" {
		p.version = versionUnknown
	}
	return p.checkHeaders(p.c.Request.Header)
}

// serveMessages answers messages that can be understood.
func (p *post) serveMessages() error {
	if id := p.c.GetHeader(headerSession); id != "" && p.version < versionPerCall && !p.initialize {
		var err error
		if p.session, err = p.endpoint.sessions.findSession(p.c.Request.Context(), id, p.caller.Token()); err != nil {
			return err
		}
		if p.session == nil {
			return errSession()
		}
		if p.c.GetHeader(headerVersion) == "" {
			p.version = p.session.version
		}
	}
	if p.batch && p.version >= versionNoBatch {
		writeRPCError(p.c, http.StatusBadRequest, nil, invalidRequest("batches ended with protocol version "+versionNoBatch))
		return nil
	}
	p.cancelCalls()
	if len(p.calls) == 0 && len(p.refused) == 0 {
		p.c.Status(http.StatusAccepted)
		p.c.Writer.WriteHeaderNow()
		return nil
	}
	return p.exchangeCalls()
}

// cancelCalls passes the client's cancellations on to the requests that they are about.
func (p *post) cancelCalls() {
	if p.session == nil {
		return
	}
	for _, n := range p.notifications {
		if n.Method == methodCancelled {
			p.endpoint.sessions.cancelCall(p.session, n)
		}
	}
}
