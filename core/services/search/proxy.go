package search

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// maxReloads is how often a request follows a reload to the new backend.
	maxReloads = 16
	// researchFor is how long a research id is remembered.
	researchFor = 7 * 24 * time.Hour
	// streamLimit bounds a streamed answer as a whole.
	streamLimit = 30 * time.Minute
)

// call is one authenticated and parsed request of a client.
type call struct {
	token     *token
	op        operation
	in        input
	resource  string
	query     string
	requestID string
	client    string
	size      int
	// project is the client's name for its project. It is not sent to the upstream.
	project string
}

func (c *call) caller() caller { return caller{c.token.id, c.project} }

// performCall admits the call against the token's quota, runs it and settles its cost. Its errors are faults that the
// client may see.
func (s *Service) performCall(ctx context.Context, st *state, c *call) (*answer, error) {
	began := s.cfg.Now()
	run := &attempt{service: s, state: st, call: c, cachePolicy: st.cachePolicyFor(c)}
	first := st.candidatesFor(c)[0]
	if run.findCached(first) == nil {
		run.reserved = run.priceAt(first)
	}
	r := &record{entry: entry{
		Time: began, RequestID: c.requestID, TokenID: c.token.id, Operation: c.op.Name, RequestBytes: c.size, Client: c.client,
		// Until the end is known the row holds the reservation: it is what a crash makes the call cost.
		Credits: run.reserved,
	}}
	if x := c.token.counter.reserve(began, run.reserved, c.token.limits); x != nil {
		return nil, s.refuseCall(r, c, x)
	}
	if s.audit != nil {
		s.audit.begin(r)
		run.record = r
	}
	run.started = time.Now()
	ans, err := run.runAttempt(ctx)
	if ans != nil && ans.stream != nil {
		ans.finish = func(written int, err error) { s.settleCall(r, c, run, ans, written, err) }
		return ans, nil
	}
	written := 0
	if ans != nil {
		ans.policy = run.cachePolicy.enabled()
		written = len(ans.body())
	}
	s.settleCall(r, c, run, ans, written, err)
	return ans, err
}

// refuseCall counts and audits a call that would exceed a limit, and returns its fault.
func (s *Service) refuseCall(r *record, c *call, x *Exceeded) error {
	now := s.cfg.Now()
	c.token.counter.countRefused(now, r.Time)
	s.cfg.Metrics.countRefusal(x)
	r.Outcome, r.Status, r.ErrorCode, r.Credits, r.finished = Refused, 429, string(fault.QuotaExhausted), 0, true
	r.Detail = x.encodeLimit()
	if s.audit != nil {
		s.audit.begin(r)
	}
	return x.asFault(now)
}

// asFault returns the fault that the client gets.
func (x *Exceeded) asFault(now time.Time) error {
	out := fault.New(fault.QuotaExhausted, "%s", x.refusalText()).
		WithRetryAfter(x.ResetAt.Sub(now)).
		With("scope", x.Scope).With("window", x.Window).With("limit", x.Limit).With("used", x.Used).
		With("reset_at", x.ResetAt.Format("2006-01-02T15:04:05.000Z"))
	if x.Needed > 0 {
		out = out.With("needed", x.Needed)
	}
	return out
}

// refusalText returns a sentence with the limit that is used up, or that the call does not fit into.
func (x *Exceeded) refusalText() string {
	limit := fmt.Sprintf("%s of %d %s", windowName[x.Window], x.Limit, x.Scope)
	switch {
	case x.Needed == 0:
		return fmt.Sprintf("The access token has used its %s.", limit)
	case x.Needed > x.Limit:
		return fmt.Sprintf("The call reserves %d credits, more than the access token's %s.", x.Needed, limit)
	}
	return fmt.Sprintf("The call reserves %d credits, and %d are used or reserved of the access token's %s.", x.Needed, x.Used, limit)
}

var windowName = map[string]string{"minute": "limit by the minute", "hour": "hourly limit", "day": "daily limit", "month": "monthly limit"}

// maxLogged is how much of a body the audit keeps, in bytes: bodies wait in memory for their group commit.
const maxLogged = 256 << 10

// truncateLogged returns the part of a body that the audit stores. The row has the size of the whole body.
func truncateLogged(body []byte) []byte {
	if len(body) > maxLogged {
		return body[:maxLogged:maxLogged]
	}
	return body
}

// settleCall replaces the call's reservation by the credits that it used, and ends its audit record.
func (s *Service) settleCall(r *record, c *call, run *attempt, ans *answer, written int, err error) {
	outcome, credits := Success, int64(0)
	status, upstream := 200, 0
	code, detail := "", ""
	switch {
	case ans != nil:
		status, upstream = ans.head.Status, ans.head.Status
		credits = run.spent + chargedCredits(ans, run.reserved-run.spent)
		if ans.cached {
			upstream, credits = 0, run.spent
		}
		if status >= 400 {
			outcome, code, detail = Failure, "upstream_error", run.errorOf(ans)
		}
	case isOutcomeUnknown(err):
		credits = run.reserved
	default:
		credits = run.spent
	}
	if err == nil && run.clientCtx.Err() != nil {
		// The answer reaches nobody, but the upstream has worked for it.
		outcome, status, code = Failure, fault.StatusClientClosedRequest, string(fault.ClientClosedRequest)
	}
	if err != nil {
		e := fault.As(err)
		outcome, code, detail = Failure, string(e.Code), cmp.Or(run.said, texts.OneLine(e.Message, maxDetail))
		if ans == nil {
			status = e.HTTPStatus()
		}
	}
	c.token.counter.settle(s.cfg.Now(), r.Time, run.reserved, credits, outcome)
	took := time.Since(run.started)
	s.cfg.Metrics.observeRequest(c.op.Name, status, took, run.upstream, run.plugin, credits)
	if s.audit == nil {
		return
	}
	s.audit.end(r, func(r *record) {
		r.Outcome, r.Status, r.Upstream, r.Credits, r.ErrorCode = outcome, status, upstream, credits, code
		r.Duration, r.UpstreamTime, r.PluginTime = took, run.upstream, run.plugin
		r.KeyID, r.Backend, r.Attempts, r.ResponseBytes = run.keyID, run.backendRef(), run.attempts, written
		r.Cached, r.Detail = ans != nil && ans.cached, detail
		if ans != nil && outcome == Success && c.op.Name == sdk.OpResearch {
			r.research = ans.head.ResourceID
		}
		if run.state.settings.LogBodies {
			r.RequestBody = truncateLogged(c.in.body)
			if ans != nil && ans.reply != nil {
				r.ResponseBody = truncateLogged(bytes.Clone(ans.body()))
			}
		}
	})
}
