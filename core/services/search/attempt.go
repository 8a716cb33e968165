package search

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
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// attempt performs one call with as many backends and keys as it needs and may have.
type attempt struct {
	service *Service
	state   *state
	call    *call

	started time.Time
	// client is the context of the client's request. It decides whether anything more is begun, nothing else.
	client context.Context
	// reserved are the credits that the token holds for the call; spent are those of them that belong to calls of backends
	// that were given up and whose end nobody saw. unmetered is a call that reserves none.
	reserved  int64
	spent     int64
	unmetered bool
	caching   caching
	link      *link
	attempts  int
	keyID     string
	key       schema.Secret
	upstream  time.Duration
	plugin    time.Duration
}

// ref is the name of the backend that was tried last.
func (a *attempt) ref() string {
	if a.link == nil {
		return ""
	}
	return a.link.ref
}

// price is what the call costs at a backend.
func (a *attempt) price(l *link) int64 {
	return price(l.operations[a.call.op.Name].Price, a.call.in.fields)
}

// run performs the call. client is the context of the client's request: once it has ended no further backend or key is
// tried, but a call that is under way goes on to its end, so that its cost is known.
func (a *attempt) run(client context.Context) (ans *answer, err error) {
	defer func() {
		// A reservation must never outlive its request, whatever went wrong.
		if v := recover(); v != nil {
			ans, err = nil, fault.Wrap(fmt.Errorf("panic: %v\n%s", v, debug.Stack()), fault.Internal, "Something went wrong on our side.")
		}
	}()
	a.client = client
	ctx := httpd.Detach(client)
	for range maxReloads {
		ans, err := a.tryBackends(ctx)
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

// tryBackends calls the backends of the chain, one after the other, until one answers.
func (a *attempt) tryBackends(ctx context.Context) (*answer, error) {
	if a.call.op.Name == sdk.OpResearchResult {
		return a.fetchResearch(ctx)
	}
	err := error(fault.New(fault.UpstreamUnavailable, "The search backend does not offer %s any more.", a.call.op.Name))
	var failed *failedAnswer
	for _, l := range a.state.candidates(a.call) {
		if k := a.kept(l); k != nil {
			failed.discard()
			return a.answerFromCache(l, k), nil
		}
		if x := a.reserve(l); x != nil {
			err = x
			continue
		}
		var ans *answer
		if ans, err = a.callBackend(ctx, l); err == nil {
			failed.discard()
			if a.mayTryNext(ans) {
				failed = a.setAside(ans)
				continue
			}
			a.keep(ans)
			return ans, nil
		}
		if errors.Is(err, catalog.ErrRetired) {
			failed.discard()
			return nil, err
		}
		// The next backend reserves its own price: what this one may have charged is settled here.
		a.chargeUnknown(err)
		if a.client.Err() != nil || !passesOn(err, a.call.op.Name == sdk.OpResearch) {
			break
		}
		a.service.cfg.Logger.Debug("a backend cannot answer", "backend", l.ref, "request_id", a.call.requestID, "error", err)
	}
	if failed != nil {
		return a.restore(failed), nil
	}
	return nil, err
}

// reserve holds the credits that a backend asks, in place of those that another one did.
func (a *attempt) reserve(l *link) error {
	next := a.price(l) + a.spent
	if a.unmetered || next == a.reserved {
		return nil
	}
	now := a.service.cfg.Now()
	if x := a.call.token.counter.exchange(now, a.reserved, next, a.call.token.limits); x != nil {
		return x.fault(now)
	}
	a.reserved = next
	return nil
}

// chargeUnknown adds the price of a call whose end nobody saw to what the request costs.
func (a *attempt) chargeUnknown(err error) {
	if !a.unmetered && isOutcomeUnknown(err) {
		a.spent = a.reserved
	}
}

// answerFromCache answers with what was kept of a backend.
func (a *attempt) answerFromCache(l *link, k *kept) *answer {
	a.begin(l)
	return k.again()
}

// begin forgets the call to another backend.
func (a *attempt) begin(l *link) {
	a.link, a.keyID, a.key, a.upstream, a.plugin = l, "", "", 0, 0
}

// callBackend calls one backend.
func (a *attempt) callBackend(ctx context.Context, l *link) (*answer, error) {
	a.begin(l)
	if l.credential {
		return a.callWithKeys(ctx)
	}
	return a.callWithoutCredential(ctx)
}

// callWithKeys shows one key after the other to the backend until one is accepted, none is usable, the client has gone
// or the time of one call is up.
func (a *attempt) callWithKeys(ctx context.Context) (*answer, error) {
	var tried []string
	pool, group := a.service.pool, a.link.keyGroup()
	for until := time.Now().Add(a.timeout()); len(tried) == 0 || a.client.Err() == nil && time.Now().Before(until); {
		id, value, ok := pool.pick(group, a.call.caller(), tried)
		if !ok && len(tried) == 0 {
			a.service.lookForKeys(ctx)
			id, value, ok = pool.pick(group, a.call.caller(), tried)
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
		if !pool.mark(id, ofKey(&ans.head)) {
			a.remember(ans)
			return ans, nil
		}
		ans.discard()
		tried = append(tried, id)
	}
	return nil, fault.Wrap(errNoKey, fault.UpstreamUnavailable, "No upstream key is available.").WithRetryAfter(pool.wait(group))
}

// timeout is how long one call to the backend may take.
func (a *attempt) timeout() time.Duration {
	if t := a.link.operations[a.call.op.Name].Timeout; t > 0 {
		return t
	}
	return client.DefaultTimeout
}

// callWithoutCredential calls a backend that needs no key.
func (a *attempt) callWithoutCredential(ctx context.Context) (*answer, error) {
	a.attempts++
	ans, err := a.callAndCount(ctx, &sdk.Request{})
	if err != nil {
		return nil, err
	}
	if ofKey(&ans.head).State != sdk.KeyUnknown {
		ans.discard()
		return nil, fault.Wrap(errBusy, fault.UpstreamUnavailable, "The upstream takes no requests at the moment.")
	}
	a.remember(ans)
	return ans, nil
}

// fetchResearch asks the backend that took the research, with the key that began it: no other can see it.
func (a *attempt) fetchResearch(ctx context.Context) (*answer, error) {
	r, err := a.service.resource(ctx, a.call.resource, a.call.token.id)
	if err != nil {
		return nil, err
	}
	for _, l := range a.state.candidates(a.call) {
		if r.Backend != "" && r.Backend != l.ref {
			continue
		}
		if err := a.reserve(l); err != nil {
			return nil, err
		}
		if !l.credential {
			return a.callBackend(ctx, l)
		}
		return a.callWithBoundKey(ctx, l, r.KeyID)
	}
	return nil, fault.New(fault.UpstreamUnavailable, "The search backend of this research is not in use any more.")
}

func (a *attempt) callWithBoundKey(ctx context.Context, l *link, id string) (*answer, error) {
	a.link = l
	value, ok := a.service.pool.get(id)
	if !ok {
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream key of this research is not available any more.")
	}
	a.keyID, a.key = id, value
	a.attempts++
	ans, err := a.callAndCount(ctx, &sdk.Request{Credential: value})
	if err != nil {
		return nil, err
	}
	if a.service.pool.mark(id, ofKey(&ans.head)) {
		ans.discard()
		return nil, fault.New(fault.UpstreamUnavailable, "The upstream key of this research is not available at the moment.")
	}
	return ans, nil
}

// callAndCount calls the backend, and counts how that ended.
func (a *attempt) callAndCount(ctx context.Context, req *sdk.Request) (*answer, error) {
	ans, err := a.invokePlugin(ctx, req)
	if counts, failed := countsForBackend(ans, err); counts {
		a.service.monitor.calls.note(a.link.ref, a.service.cfg.Now(), a.state.settings.alerts().ErrorWindow, failed)
	}
	return ans, err
}

func (a *attempt) invokePlugin(ctx context.Context, req *sdk.Request) (*answer, error) {
	req.Operation, req.ResourceID, req.Query, req.Body, req.RequestID = a.call.op.Name, a.call.resource, a.call.query, a.call.in.body, a.call.requestID
	if a.call.in.stream {
		return a.openStream(ctx, req)
	}
	began := time.Now()
	req.Timeout = a.link.operations[a.call.op.Name].Timeout
	reply, err := a.link.search.Invoke(ctx, req)
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
	reply.Head, reply.Body = a.headWithoutKey(reply.Head), a.withoutKey(reply.Body)
	return &answer{head: reply.Head, reply: reply}, nil
}

func (a *attempt) openStream(ctx context.Context, req *sdk.Request) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, streamLimit)
	began := time.Now()
	st, err := a.link.search.Stream(ctx, req)
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
	return &answer{head: a.headWithoutKey(head), stream: &boundStream{withoutKey(st, a.key), cancel}}, nil
}

// remember notes who may ask for a research result.
func (a *attempt) remember(ans *answer) {
	if a.call.op.Name == sdk.OpResearch && ans.head.Status < 300 && ans.head.ResourceID != "" {
		a.service.found.put(researchRecord{
			ResourceID: ans.head.ResourceID, TokenID: a.call.token.id, KeyID: a.keyID, Backend: a.link.ref, CreatedAt: a.service.cfg.Now().UnixMilli(),
		})
	}
}
