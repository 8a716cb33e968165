// Package proxy performs the calls of the search service: it reserves their credits, asks backends in their order, and settles the cost.
package proxy

import (
	"bytes"
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/texts"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// MaxReloads is how often a request follows a reload to the new backend.
	MaxReloads = 16
)

// researchStore finds research ids that were stored.
type researchStore interface {
	// FindResearch returns the record of a research id that is not older than since.
	FindResearch(ctx context.Context, id string, since time.Time) (r audit.ResearchRecord, found bool, err error)
}

// Settings are the settings of the proxy.
type Settings struct {
	// CacheTTL is for how long an answer may be given again to a token that has no policy of its own.
	CacheTTL  time.Duration
	NextOn5xx bool
	LogBodies bool
	// ErrorWindow is how long the calls of a backend count for its error rate.
	ErrorWindow time.Duration
}

// Config is what a Proxy needs.
type Config struct {
	Tokens *access.Table
	Keys   *keys.Keys
	// Audit writes the rows of requests; nil keeps none.
	Audit    *audit.Writer
	Research researchStore
	Metrics  *Metrics
	Logger   hclog.Logger
	Now      func() time.Time
}

// Proxy performs calls: it reserves their credits, asks backends in their order with an upstream key if they need one,
// settles the cost and ends the audit.
type Proxy struct {
	tokens  *access.Table
	keys    *keys.Keys
	pool    *keys.Pool
	audit   *audit.Writer
	records researchStore
	metrics *Metrics
	log     hclog.Logger
	now     func() time.Time

	research *resources
	// calls counts the calls to each backend and those that failed.
	calls failures
	state atomic.Pointer[State]
}

// New makes a Proxy without backends: Use gives it some.
func New(cfg Config) *Proxy {
	return &Proxy{
		tokens: cfg.Tokens, keys: cfg.Keys, pool: cfg.Keys.Pool(), audit: cfg.Audit, records: cfg.Research, metrics: cfg.Metrics,
		log: cfg.Logger, now: cfg.Now,
		research: newResources(),
	}
}

// Call is one authenticated and parsed request of a client.
type Call struct {
	Token     *access.Token
	Op        Operation2
	In        Input
	Resource  string
	Query     string
	RequestID string
	Client    string
	Size      int
	// Project is the client's name for its project. It is not sent to the upstream.
	Project string
}

func (c *Call) keyCaller() keys.Caller { return keys.Caller{Token: c.Token.Id, Project: c.Project} }

// Perform admits the call against the token's quota, runs it and settles its cost. Its errors are faults that the
// client may see.
func (p *Proxy) Perform(ctx context.Context, st *State, c *Call) (*Answer, error) {
	began := p.now()
	run := &attempt{proxy: p, state: st, call: c, cachePolicy: st.cachePolicyFor(c)}
	first := st.candidatesFor(c)[0]
	if run.findCached(first) == nil {
		run.reserved = run.priceAt(first)
	}
	r := &audit.Record{Entry: audit.Entry{
		Time: began, RequestID: c.RequestID, TokenID: c.Token.Id, Operation: c.Op.Name, RequestBytes: c.Size, Client: c.Client,
		// Until the end is known the row holds the reservation: it is what a crash makes the call cost.
		Credits: run.reserved,
	}}
	counted, x, err := c.Token.Reserve(ctx, began, run.reserved)
	if err != nil {
		return nil, err
	}
	if run.counted = counted; x != nil {
		return nil, p.refuseCall(r, c, x, counted)
	}
	if p.audit != nil {
		p.audit.Begin(r)
		run.record = r
	}
	run.started = time.Now()
	ans, err := run.runAttempt(ctx)
	if ans != nil && ans.Stream != nil {
		ans.Finish = func(written int, err error) { p.settleCall(r, c, run, ans, written, err) }
		return ans, nil
	}
	written := 0
	if ans != nil {
		ans.CachePolicy = run.cachePolicy.enabled()
		written = len(ans.Body())
	}
	p.settleCall(r, c, run, ans, written, err)
	return ans, err
}

// refuseCall counts and audits a call that would exceed a limit, and returns its fault. at is when it was refused, by the clock of the limit.
func (p *Proxy) refuseCall(r *audit.Record, c *Call, x *access.Exceeded, at time.Time) error {
	c.Token.CountRefused(p.now(), r.Time)
	p.metrics.countRefusal(x)
	r.Outcome, r.Status, r.ErrorCode, r.Credits, r.Finished = audit.Refused, 429, string(fault.QuotaExhausted), 0, true
	r.Detail = x.ReachedLimit().Encode()
	if p.audit != nil {
		p.audit.Begin(r)
	}
	return x.AsFault(at)
}

// MaxLogged is how much of a body the audit keeps, in bytes: bodies wait in memory for their group commit.
const MaxLogged = 256 << 10

// truncateLogged returns the part of a body that the audit stores. The row has the size of the whole body.
func truncateLogged(body []byte) []byte {
	if len(body) > MaxLogged {
		return body[:MaxLogged:MaxLogged]
	}
	return body
}

// settleCall replaces the call's reservation by the credits that it used, and ends its audit record.
func (p *Proxy) settleCall(r *audit.Record, c *Call, run *attempt, ans *Answer, written int, err error) {
	outcome, credits := audit.Success, int64(0)
	status, upstream := 200, 0
	code, detail := "", ""
	switch {
	case ans != nil:
		status, upstream = ans.Head.Status, ans.Head.Status
		credits = run.spent + chargedCredits(ans, run.reserved-run.spent)
		if ans.Cached {
			upstream, credits = 0, run.spent
		}
		if status >= 400 {
			outcome, code, detail = audit.Failure, "upstream_error", run.errorText(ans)
		}
	case isOutcomeUnknown(err):
		credits = run.reserved
	default:
		credits = run.spent
	}
	if err == nil && run.clientCtx.Err() != nil {
		// The answer reaches nobody, but the upstream has worked for it.
		outcome, status, code = audit.Failure, fault.StatusClientClosedRequest, string(fault.ClientClosedRequest)
	}
	if err != nil {
		e := fault.As(err)
		outcome, code, detail = audit.Failure, string(e.Code), cmp.Or(run.lastKeyError, texts.OneLine(e.Message, audit.MaxDetail))
		if ans == nil {
			status = e.HTTPStatus()
		}
	}
	c.Token.Settle(p.now(), r.Time, run.counted, run.reserved, credits, outcome)
	took := time.Since(run.started)
	p.metrics.observeRequest(c.Op.Name, status, took, run.upstream, run.plugin, credits)
	if p.audit == nil {
		return
	}
	p.audit.End(r, func(r *audit.Record) {
		r.Outcome, r.Status, r.Upstream, r.Credits, r.ErrorCode = outcome, status, upstream, credits, code
		r.Duration, r.UpstreamTime, r.PluginTime = took, run.upstream, run.plugin
		r.KeyID, r.Backend, r.Attempts, r.ResponseBytes = run.keyID, run.backendRef(), run.attempts, written
		r.Cached, r.Detail = ans != nil && ans.Cached, detail
		if ans != nil && outcome == audit.Success && c.Op.Name == sdk.OpResearch {
			r.Research = ans.Head.ResourceID
		}
		if run.state.settings.LogBodies {
			r.RequestBody = truncateLogged(c.In.body)
			if ans != nil && ans.Reply != nil {
				r.ResponseBody = truncateLogged(bytes.Clone(ans.Body()))
			}
		}
	})
}

// Poll performs a call that costs nothing and counts nowhere: for the client it is part of an earlier one.
func (p *Proxy) Poll(ctx context.Context, c *Call) (*Answer, error) {
	run := &attempt{proxy: p, state: p.state.Load(), call: c, unmetered: true, started: time.Now()}
	return run.runAttempt(ctx)
}
