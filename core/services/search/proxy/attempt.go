package proxy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// attempt is the execution of one call, with as many backends and keys as it needs and may use.
type attempt struct {
	proxy *Proxy
	state *State
	call  *Call

	started time.Time
	// counted is in the windows of the quota in which the call counts.
	counted time.Time
	// clientCtx is the context of the client's request. It decides whether another backend or key is tried, nothing
	// else.
	clientCtx context.Context
	// reserved is the number of credits that the token holds for the call. spent is the part of them that is charged
	// already: for backends that were given up with an unknown outcome, and for failed answers that were set aside.
	// unmetered says that the call reserves no credits.
	reserved    int64
	spent       int64
	unmetered   bool
	cachePolicy cachePolicy
	link        *chainedBackend
	attempts    int
	keyID       string
	key         schema.Secret
	upstream    time.Duration
	plugin      time.Duration
	// record is the audit record of the call, or nil for one that has none.
	record *audit.Record
	// lastKeyError is the error of the last upstream key that was refused, in the upstream's words.
	lastKeyError string
}

// backendRef returns the reference of the backend that was tried last, or "" before the first.
func (a *attempt) backendRef() string {
	if a.link == nil {
		return ""
	}
	return a.link.ref
}

// priceAt returns the credits that the call costs at a backend.
func (a *attempt) priceAt(l *chainedBackend) int64 {
	return callPrice(l.operations[a.call.Op.Name].Price, a.call.In.fields)
}

// runAttempt performs the call. client is the context of the client's request. Once it has ended, no further backend or key
// is tried, but a call that is under way runs to its end, so that its cost is known.
func (a *attempt) runAttempt(client context.Context) (ans *Answer, err error) {
	defer func() {
		// A reservation must never outlive its request, whatever went wrong.
		if v := recover(); v != nil {
			ans, err = nil, fault.Wrap(fmt.Errorf("panic: %v\n%s", v, debug.Stack()), fault.Internal, "Something went wrong on our side.")
		}
	}()
	a.clientCtx = client
	ctx := httpd.Detach(client)
	for range MaxReloads {
		ans, err := a.tryBackends(ctx)
		if !errors.Is(err, catalog.ErrRetired) {
			if err != nil {
				err = asProxyFault(err)
			}
			return ans, err
		}
		// A reload took the backend away before anything was sent: the call goes to the new one.
		a.state = a.proxy.state.Load()
	}
	return nil, fault.New(fault.UpstreamUnavailable, "The search backend is being replaced.")
}

// asProxyFault gives the fault of a plugin that is down the HTTP status 502, which the proxy promises.
func asProxyFault(err error) error {
	if e := fault.As(err); e.Code == fault.PluginUnavailable {
		return e.WithStatus(502)
	}
	return err
}

// tryBackends calls the backends that offer the operation, in order, until one answers.
func (a *attempt) tryBackends(ctx context.Context) (*Answer, error) {
	if a.call.Op.Name == sdk.OpResearchResult {
		return a.fetchResearch(ctx)
	}
	err := error(fault.New(fault.UpstreamUnavailable, "The search backend does not offer %s anymore.", a.call.Op.Name))
	var failed *failedAnswer
	for _, l := range a.state.candidatesFor(a.call) {
		if k := a.findCached(l); k != nil {
			failed.discard()
			return a.answerFromCache(l, k), nil
		}
		if err = a.reserveCredits(ctx, l); err != nil {
			continue
		}
		var ans *Answer
		if ans, err = a.callBackend(ctx, l); err == nil {
			failed.discard()
			if a.mayTryNext(ans) {
				failed = a.deferAnswer(ans)
				continue
			}
			a.storeInCache(ans)
			return ans, nil
		}
		if errors.Is(err, catalog.ErrRetired) {
			failed.discard()
			return nil, err
		}
		// The next backend reserves its own price: what this one may have charged is settled here.
		a.chargeUnknown(err)
		if a.clientCtx.Err() != nil || !allowsNextBackend(err, a.call.Op.Name == sdk.OpResearch) {
			break
		}
		a.proxy.log.Debug("a backend cannot answer", "backend", l.ref, "request_id", a.call.RequestID, "error", err)
	}
	if failed != nil {
		return a.restoreAnswer(failed), nil
	}
	return nil, err
}

// reserveCredits replaces the credits that the call has reserved by those that a backend asks for.
func (a *attempt) reserveCredits(ctx context.Context, l *chainedBackend) error {
	next := a.priceAt(l) + a.spent
	if a.unmetered || next == a.reserved {
		return nil
	}
	now := a.proxy.now()
	x, err := a.call.Token.ReplaceReservation(ctx, now, a.counted, a.reserved, next)
	switch {
	case err != nil:
		return err
	case x != nil:
		return x.AsFault(now)
	}
	a.reserved = next
	return nil
}

// chargeUnknown charges the reserved credits if err leaves open what the upstream did.
func (a *attempt) chargeUnknown(err error) {
	if !a.unmetered && isOutcomeUnknown(err) {
		a.spent = a.reserved
	}
}

// answerFromCache returns a backend's cached answer as the answer of the call.
func (a *attempt) answerFromCache(l *chainedBackend, k *cachedAnswer) *Answer {
	a.selectBackend(l)
	return k.toAnswer()
}

// selectBackend makes l the backend of the call and clears what was measured at the one before.
func (a *attempt) selectBackend(l *chainedBackend) {
	a.link, a.keyID, a.key, a.upstream, a.plugin = l, "", "", 0, 0
}

// callBackend calls one backend, with an upstream key if it needs one.
func (a *attempt) callBackend(ctx context.Context, l *chainedBackend) (*Answer, error) {
	a.selectBackend(l)
	if l.credential {
		return a.callWithKeys(ctx)
	}
	return a.callWithoutCredential(ctx)
}

// callWithKeys calls the backend with one upstream key after the other until a key is accepted, none is usable, the
// client has gone or the time of one call is over.
func (a *attempt) callWithKeys(ctx context.Context) (*Answer, error) {
	var tried []string
	pool, group := a.proxy.pool, a.link.keyGroup()
	for until := time.Now().Add(a.callTimeout()); len(tried) == 0 || a.clientCtx.Err() == nil && time.Now().Before(until); {
		id, value, ok := pool.PickKey(group, a.call.keyCaller(), tried)
		if !ok && len(tried) == 0 {
			a.proxy.keys.LoadNewKeys(ctx)
			id, value, ok = pool.PickKey(group, a.call.keyCaller(), tried)
		}
		if !ok {
			break
		}
		a.keyID, a.key = id, value
		a.attempts++
		ans, err := a.callAndCount(ctx, &sdk.Request{Credential: value})
		if err != nil {
			return nil, err
		}
		if !pool.ApplyVerdict(id, newKeyVerdict(&ans.Head)) {
			a.recordResearch(ans)
			return ans, nil
		}
		a.lastKeyError = a.errorText(ans)
		ans.discardStream()
		tried = append(tried, id)
	}
	return nil, fault.Wrap(errNoKey, fault.UpstreamUnavailable, "No upstream key is available.").WithRetryAfter(pool.UsableAfter(group))
}

// errorText returns what an answer says of its error, or "".
func (a *attempt) errorText(ans *Answer) string {
	return errorSentence(ans.Head.ContentType, ans.Body(), a.call.In.body)
}

// callTimeout returns how long one call to the backend may take.
func (a *attempt) callTimeout() time.Duration {
	if t := a.link.operations[a.call.Op.Name].Timeout; t > 0 {
		return t
	}
	return client.DefaultTimeout
}

// callWithoutCredential calls a backend that needs no upstream key.
func (a *attempt) callWithoutCredential(ctx context.Context) (*Answer, error) {
	a.attempts++
	ans, err := a.callAndCount(ctx, &sdk.Request{})
	if err != nil {
		return nil, err
	}
	if newKeyVerdict(&ans.Head).State != sdk.KeyUnknown {
		ans.discardStream()
		return nil, fault.Wrap(errBusy, fault.UpstreamUnavailable, "Rate limited: every upstream key waits for a limit to end.")
	}
	a.recordResearch(ans)
	return ans, nil
}

// fetchResearch asks the backend that accepted the research, with the key that started it. No other key can see the
// result.
func (a *attempt) fetchResearch(ctx context.Context) (*Answer, error) {
	r, err := a.proxy.FindResearch(ctx, a.call.Resource, a.call.Token.Id)
	if err != nil {
		return nil, err
	}
	for _, l := range a.state.candidatesFor(a.call) {
		if r.Backend != "" && r.Backend != l.ref {
			continue
		}
		if err := a.reserveCredits(ctx, l); err != nil {
			return nil, err
		}
		if !l.credential {
			return a.callBackend(ctx, l)
		}
		return a.callWithBoundKey(ctx, l, r.KeyID)
	}
	return nil, fault.New(fault.UpstreamUnavailable, "The search backend of this research is not configured anymore.")
}

// callWithBoundKey calls a backend with the upstream key of the given id, and with no other.
func (a *attempt) callWithBoundKey(ctx context.Context, l *chainedBackend, id string) (*Answer, error) {
	a.link = l
	value, ok := a.proxy.pool.FindValue(id)
	if !ok {
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream key of this research was deleted.")
	}
	a.keyID, a.key = id, value
	a.attempts++
	ans, err := a.callAndCount(ctx, &sdk.Request{Credential: value})
	if err != nil {
		return nil, err
	}
	if a.proxy.pool.ApplyVerdict(id, newKeyVerdict(&ans.Head)) {
		ans.discardStream()
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream key of this research is not available at the moment.")
	}
	return ans, nil
}

// callAndCount calls the backend and counts the outcome for its error rate. What is called stands in the audit before, so that it is
// known of a call whose end nobody sees.
func (a *attempt) callAndCount(ctx context.Context, req *sdk.Request) (*Answer, error) {
	if a.record != nil {
		a.proxy.audit.Annotate(a.record, func(r *audit.Record) { r.KeyID, r.Backend, r.Attempts = a.keyID, a.backendRef(), a.attempts })
	}
	ans, err := a.invokePlugin(ctx, req)
	if counts, failed := countsForBackend(ans, err); counts {
		a.proxy.calls.countCall(a.link.ref, a.proxy.now(), a.state.settings.ErrorWindow, failed)
	}
	return ans, err
}

// invokePlugin sends the request to the backend's plugin, whole or as a stream, and measures the time of upstream and
// plugin.
func (a *attempt) invokePlugin(ctx context.Context, req *sdk.Request) (*Answer, error) {
	req.Operation, req.ResourceID, req.Query, req.Body, req.RequestID = a.call.Op.Name, a.call.Resource, a.call.Query, a.call.In.body,
		a.call.RequestID
	if a.call.In.Stream {
		return a.openStream(ctx, req)
	}
	began := time.Now()
	req.Timeout = a.link.operations[a.call.Op.Name].Timeout
	reply, err := a.link.search.Invoke(ctx, req)
	if err != nil {
		a.plugin = time.Since(began)
		return nil, err
	}
	a.upstream = reply.Upstream
	a.plugin = max(0, time.Since(began)-reply.Upstream)
	if err := validateHead(&reply.Head); err != nil {
		reply.Release()
		return nil, err
	}
	reply.Head, reply.Body = a.headWithoutKey(reply.Head), a.withoutKey(reply.Body)
	return &Answer{Head: reply.Head, Reply: reply}, nil
}

// openStream sends the request to the backend's plugin and returns a streamed answer. The stream ends after
// audit.StreamLimit.
func (a *attempt) openStream(ctx context.Context, req *sdk.Request) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, audit.StreamLimit)
	began := time.Now()
	st, err := a.link.search.Stream(ctx, req)
	if err != nil {
		cancel()
		return nil, err
	}
	a.upstream = st.Head().Upstream
	a.plugin = max(0, time.Since(began)-a.upstream)
	head := st.Head()
	if err := validateHead(&head); err != nil {
		st.Close()
		cancel()
		return nil, err
	}
	return &Answer{Head: a.headWithoutKey(head), Stream: &boundStream{withoutKey(st, a.key), cancel}}, nil
}

// recordResearch stores which token and key belong to a research that has started, so that its result can be fetched.
func (a *attempt) recordResearch(ans *Answer) {
	if a.call.Op.Name == sdk.OpResearch && ans.Head.Status < 300 && ans.Head.ResourceID != "" {
		a.proxy.research.put(audit.ResearchRecord{
			ResourceID: ans.Head.ResourceID, TokenID: a.call.Token.Id, KeyID: a.keyID, Backend: a.link.ref, CreatedAt: a.proxy.now().UnixMilli(),
		})
	}
}
