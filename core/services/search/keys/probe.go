package keys

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// probes is how many keys are asked about at once, probeTime how long one may take.
	probes    = 8
	probeTime = 20 * time.Second
	// hotFor is how long a key that was used is hot: its quota is asked for every 15 minutes; that of the others once a day.
	hotFor    = 2 * time.Hour
	hotEvery  = 14 * time.Minute
	coldEvery = 24 * time.Hour
)

// The results of asking about a key.
const (
	ProbeOK           = "ok"
	ProbeExhausted    = "ok_exhausted"
	ProbeUnauthorized = "unauthorized"
	ProbeInvalid      = "invalid"
	ProbeError        = "error"
	ProbeExists       = "already_exists"
	ProbeDuplicate    = "duplicate_in_input"
)

// Probe is what an upstream says about a key that is not in the pool yet. The key itself is not part of it.
type Probe struct {
	Line           int    `json:"line" doc:"Its place in the request, from 1."`
	Key            string `json:"key" doc:"The key, masked."`
	Status         string `json:"status" enum:"ok,ok_exhausted,unauthorized,invalid,error,already_exists,duplicate_in_input"`
	QuotaLimit     *int64 `json:"quota_limit" example:"1000"`
	QuotaRemaining *int64 `json:"quota_remaining" example:"997"`
	Detail         string `json:"detail" doc:"Why, in words; empty if there is nothing to say."`
}

// ValidateKeys asks the upstream about keys without adding them. each is called for every line as soon as its result is
// known, one call at a time.
func (k *Keys) ValidateKeys(ctx context.Context, values []string, group string, each func(Probe)) error {
	l := k.cfg.Backend(group)
	if l == nil {
		return fault.New(fault.Conflict, "No backend of this service needs upstream keys.")
	}
	known, err := k.Store.knownKeys(ctx, values)
	if err != nil {
		return err
	}
	var reporting sync.Mutex
	report := func(p Probe) {
		reporting.Lock()
		defer reporting.Unlock()
		each(p)
	}
	seen := map[string]bool{}
	slots := make(chan struct{}, probes)
	var all sync.WaitGroup
	for i, v := range values {
		p := Probe{Line: i + 1, Key: secret.Mask(v)}
		switch problem := KeyProblem(v); {
		case problem != "":
			p.Status, p.Detail = ProbeInvalid, problem
		case seen[v]:
			p.Status = ProbeDuplicate
		case known[string(secret.HashToken(v))]:
			p.Status = ProbeExists
		}
		seen[v] = true
		if p.Status != "" {
			report(p)
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			all.Wait()
			return ctx.Err()
		}
		all.Go(func() {
			defer func() { <-slots }()
			k.probeKey(ctx, l, v, &p)
			report(p)
		})
	}
	all.Wait()
	return ctx.Err()
}

func (k *Keys) probeKey(ctx context.Context, l Upstream, value string, p *Probe) {
	st, err := askKey(ctx, l, schema.Secret(value))
	switch {
	case err != nil:
		p.Status, p.Detail = ProbeError, fault.As(err).Message
		return
	case st.Key.State == sdk.KeyInvalid:
		p.Status, p.Detail = ProbeUnauthorized, texts.Valid(st.Key.Reason)
		return
	case st.Key.State == sdk.KeyExhausted, st.Limit > 0 && st.Used >= st.Limit:
		p.Status = ProbeExhausted
	default:
		p.Status = ProbeOK
	}
	if st.Limit > 0 {
		left := max(0, st.Limit-st.Used)
		p.QuotaLimit, p.QuotaRemaining = &st.Limit, &left
	}
}

func askKey(ctx context.Context, l Upstream, value schema.Secret) (*sdk.KeyStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	return l.KeyStatus(ctx, value)
}

// SyncKey asks the upstream for the quota of a key of the pool and stores it. What the answer says about the key's state
// counts as that of any call.
func (k *Keys) SyncKey(ctx context.Context, id string) error {
	r, err := k.Store.liveKey(ctx, id)
	if err != nil {
		return err
	}
	l := k.cfg.Backend(r.GroupName)
	if l == nil {
		return fault.New(fault.Conflict, "No backend of this service needs upstream keys.")
	}
	plain, err := k.keyring.Open(r.Sealed, "search_keys", r.ID, "sealed")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "The upstream key cannot be decrypted with the current master key.")
	}
	st, err := askKey(ctx, l, schema.Secret(plain))
	now := k.now().UnixMilli()
	if err != nil {
		problem := fault.As(err)
		return errors.Join(problem, k.Store.setKeyQuota(ctx, id, 0, 0, now, problem.Message))
	}
	spent := k.pool.ApplyVerdict(id, st.Key)
	if err := k.Store.setKeyQuota(ctx, id, st.Limit, st.Used, now, ""); err != nil {
		return err
	}
	if r.State == KeyExhausted && !spent && st.Limit > 0 && st.Used < st.Limit {
		// The plan was raised, or reset before its month was over.
		return k.changeKey(ctx, id, keyChange{operation: KeyMarked, reason: "The upstream reports that quota is left.", from: KeyExhausted,
			to: KeyActive})
	}
	return nil
}

// SyncDue asks for the quotas that are due. It is the handler of a job.
func (k *Keys) SyncDue(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
	if !k.NeedsKeys() {
		return nil, nil
	}
	ids, err := k.Store.KeysToSync(ctx, k.now())
	if err != nil {
		return nil, err
	}
	failed := 0
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := k.SyncKey(ctx, id); err != nil {
			failed++
			p.Log(ctx, "key %s: %s", id, fault.As(err).Message)
		}
		p.Percent(ctx, (i+1)*100/len(ids))
	}
	return map[string]int{"synced": len(ids) - failed, "failed": failed}, nil
}

// NeedsKeys reports whether any backend needs upstream keys.
func (k *Keys) NeedsKeys() bool { return k.cfg.Backend("") != nil }
