package search

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// maxAttempts is how many keys are tried for one request.
	maxAttempts = 3
	// maxBackends is how often a request follows a reload to the new backend.
	maxBackends = 3
	// researchFor is how long a research id is remembered.
	researchFor = 7 * 24 * time.Hour
	// streamLimit bounds a streamed answer as a whole.
	streamLimit = 30 * time.Minute
)

// call is one request of a client that is authenticated and parsed.
type call struct {
	token     *token
	op        operation
	in        input
	resource  string
	query     string
	requestID string
	client    string
	size      int
}

// proxy admits the call, performs it and settles it. Errors are faults that the client may see.
func (s *Service) proxy(ctx context.Context, st *state, c *call) (*answer, error) {
	began := s.cfg.Now()
	cost := price(c.op.Price, c.in.fields)
	r := &record{entry: entry{
		Time: began, RequestID: c.requestID, TokenID: c.token.id, Operation: c.op.Name, RequestBytes: c.size, Client: c.client,
	}}
	if x := c.token.counter.reserve(began, cost, c.token.limits); x != nil {
		return nil, s.refuse(r, c, x)
	}
	if s.audit != nil {
		s.audit.begin(r)
	}
	run := &attempt{service: s, state: st, call: c, started: time.Now()}
	ans, err := run.do(ctx)
	if ans != nil && ans.stream != nil {
		ans.finish = func(written int, err error) { s.settle(r, c, run, cost, ans, written, err) }
		return ans, nil
	}
	written := 0
	if ans != nil {
		written = len(ans.body())
	}
	s.settle(r, c, run, cost, ans, written, err)
	return ans, err
}

// refuse answers a call that would exceed a limit.
func (s *Service) refuse(r *record, c *call, x *Exceeded) error {
	now := s.cfg.Now()
	c.token.counter.refuse(now, r.Time)
	s.cfg.Metrics.refused(x)
	r.Outcome, r.Status, r.ErrorCode, r.finished = Refused, 429, string(fault.QuotaExhausted), true
	if s.audit != nil {
		s.audit.begin(r)
	}
	return fault.New(fault.QuotaExhausted, "The access token has used its %s of %d %s.", windowName[x.Window], x.Limit, x.Scope).
		WithRetryAfter(x.ResetAt.Sub(now)).
		With("scope", x.Scope).With("window", x.Window).With("limit", x.Limit).With("used", x.Used).
		With("reset_at", x.ResetAt.Format("2006-01-02T15:04:05.000Z"))
}

var windowName = map[string]string{"hour": "hourly limit", "day": "daily limit", "month": "monthly limit"}

// settle replaces the reservation by the real use and ends the audit record.
func (s *Service) settle(r *record, c *call, run *attempt, cost int64, ans *answer, written int, err error) {
	outcome, credits := Success, int64(0)
	status, upstream := 200, 0
	code := ""
	switch {
	case ans != nil:
		status, upstream = ans.head.Status, ans.head.Status
		credits = charged(ans, cost, err)
		if status >= 400 {
			outcome, code = Failure, "upstream_error"
		}
	}
	if err != nil {
		e := fault.As(err)
		outcome, code = Failure, string(e.Code)
		if ans == nil {
			status = e.HTTPStatus()
		}
	}
	c.token.counter.settle(s.cfg.Now(), r.Time, cost, credits, outcome)
	took := time.Since(run.started)
	s.cfg.Metrics.ended(c.op.Name, status, took, run.upstream, run.plugin, credits)
	if s.audit == nil {
		return
	}
	s.audit.end(r, func(r *record) {
		r.Outcome, r.Status, r.Upstream, r.Credits, r.ErrorCode = outcome, status, upstream, credits, code
		r.Duration, r.UpstreamTime, r.PluginTime = took, run.upstream, run.plugin
		r.KeyID, r.Backend, r.Attempts, r.ResponseBytes = run.keyID, run.state.settings.Backend, run.attempts, written
		if ans != nil && outcome == Success && c.op.Name == sdk.OpResearch {
			r.research = ans.head.ResourceID
		}
		if run.state.settings.LogBodies {
			r.RequestBody = c.in.body
			if ans != nil && ans.reply != nil {
				r.ResponseBody = run.withoutKey(ans.body())
			}
		}
	})
}

// attempt performs one call with as many keys as it needs and may have.
type attempt struct {
	service  *Service
	state    *state
	call     *call
	started  time.Time
	attempts int
	keyID    string
	key      schema.Secret
	upstream time.Duration
	plugin   time.Duration
}

func (a *attempt) do(ctx context.Context) (ans *answer, err error) {
	defer func() {
		// A reservation must never outlive its request, whatever went wrong.
		if v := recover(); v != nil {
			ans, err = nil, fault.Wrap(fmt.Errorf("panic: %v\n%s", v, debug.Stack()), fault.Internal, "Something went wrong on our side.")
		}
	}()
	for range maxBackends {
		ans, err := a.withKeys(ctx)
		if !errors.Is(err, catalog.ErrRetired) {
			if err != nil {
				err = asProxyFault(err)
			}
			return ans, err
		}
		// A reload took the backend away before anything was sent: the call goes to the new one.
		a.state = a.service.state.Load()
	}
	return nil, fault.New(fault.UpstreamUnavailable, "The search backend is being replaced.")
}

// asProxyFault gives a plugin that is down the status that the proxy promises.
func asProxyFault(err error) error {
	if e := fault.As(err); e.Code == fault.PluginUnavailable {
		return e.WithStatus(502)
	}
	return err
}

func (a *attempt) withKeys(ctx context.Context) (*answer, error) {
	if !a.state.credential {
		return a.withoutCredential(ctx)
	}
	if a.call.op.Name == sdk.OpResearchResult {
		return a.withBoundKey(ctx)
	}
	var tried []string
	for range maxAttempts {
		id, value, ok := a.service.pool.pick(a.call.token.id, tried)
		if !ok && len(tried) == 0 {
			a.service.lookForKeys(ctx)
			id, value, ok = a.service.pool.pick(a.call.token.id, tried)
		}
		if !ok {
			break
		}
		a.keyID, a.key = id, value
		a.attempts++
		ans, err := a.once(ctx, &sdk.Request{Credential: value})
		if err != nil {
			return nil, err
		}
		if !a.service.pool.mark(id, ofKey(&ans.head)) {
			a.remember(ans)
			return ans, nil
		}
		ans.discard()
		tried = append(tried, id)
	}
	return nil, fault.New(fault.UpstreamUnavailable, "No upstream key is available.").WithRetryAfter(a.service.pool.wait())
}

// withoutCredential calls a backend that needs no key.
func (a *attempt) withoutCredential(ctx context.Context) (*answer, error) {
	a.attempts++
	ans, err := a.once(ctx, &sdk.Request{})
	if err != nil {
		return nil, err
	}
	if ofKey(&ans.head).State != sdk.KeyUnknown {
		ans.discard()
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream takes no requests at the moment.")
	}
	a.remember(ans)
	return ans, nil
}

// withBoundKey asks for a research result with the key that began it; no other key can see it.
func (a *attempt) withBoundKey(ctx context.Context) (*answer, error) {
	r, err := a.service.resource(ctx, a.call.resource, a.call.token.id)
	if err != nil {
		return nil, err
	}
	value, ok := a.service.pool.get(r.KeyID)
	if !ok {
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream key of this research is not available any more.")
	}
	a.keyID, a.key = r.KeyID, value
	a.attempts++
	ans, err := a.once(ctx, &sdk.Request{Credential: value})
	if err != nil {
		return nil, err
	}
	if a.service.pool.mark(r.KeyID, ofKey(&ans.head)) {
		ans.discard()
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream key of this research is not available at the moment.")
	}
	return ans, nil
}

// once calls the backend.
func (a *attempt) once(ctx context.Context, req *sdk.Request) (*answer, error) {
	req.Operation, req.ResourceID, req.Query, req.Body, req.RequestID = a.call.op.Name, a.call.resource, a.call.query, a.call.in.body, a.call.requestID
	if a.call.in.stream {
		return a.open(ctx, req)
	}
	began := time.Now()
	req.Timeout = a.call.op.Timeout
	reply, err := a.state.search.Invoke(ctx, req)
	if err != nil {
		a.plugin = time.Since(began)
		return nil, err
	}
	a.upstream = reply.Upstream
	a.plugin = max(0, time.Since(began)-reply.Upstream)
	if err := sound(&reply.Head); err != nil {
		reply.Release()
		return nil, err
	}
	return &answer{head: reply.Head, reply: reply}, nil
}

func (a *attempt) open(ctx context.Context, req *sdk.Request) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, streamLimit)
	began := time.Now()
	st, err := a.state.search.Stream(ctx, req)
	if err != nil {
		cancel()
		return nil, err
	}
	a.upstream = st.Head().Upstream
	a.plugin = max(0, time.Since(began)-a.upstream)
	head := st.Head()
	if err := sound(&head); err != nil {
		st.Close()
		cancel()
		return nil, err
	}
	return &answer{head: head, stream: &boundStream{st, cancel}}, nil
}

// remember notes who may ask for a research result.
func (a *attempt) remember(ans *answer) {
	if a.call.op.Name == sdk.OpResearch && ans.head.Status < 300 && ans.head.ResourceID != "" {
		a.service.found.put(researchRecord{
			ResourceID: ans.head.ResourceID, TokenID: a.call.token.id, KeyID: a.keyID, CreatedAt: a.service.cfg.Now().UnixMilli(),
		})
	}
}
