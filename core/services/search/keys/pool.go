package keys

import (
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// coolDefault is how long a rate-limited key rests if the upstream states no time. coolMax bounds the time that
	// it states.
	coolDefault = time.Minute
	coolMax     = 10 * time.Minute
	// LongestRest is longer than any key rests: an exhausted one until the month ends.
	LongestRest = 32 * 24 * time.Hour
	// retrySoon is what a client is told to wait when keys are usable that its request had no time to try.
	retrySoon = time.Second
	// maxAffinity bounds the tokens whose key is remembered.
	maxAffinity = 10_000
)

// key is an upstream key in memory.
type key struct {
	id     string
	value  schema.Secret
	group  string
	state  KeyState
	reason string
	until  time.Time
	used   uint64
	// updated is when the state was stored or last changed here, in Unix milliseconds.
	updated int64
	// stored is when the state was stored that was loaded last, in Unix milliseconds.
	stored int64
}

// isBarred reports whether the key stays out of use until a person lets it in again.
func (k *key) isBarred() bool { return k.state == KeyInvalid || k.state == KeyDisabled }

// reactivate makes a cooling or exhausted key active again once its time has come.
func (k *key) reactivate(now time.Time) {
	if (k.state == KeyCooling || k.state == KeyExhausted) && !now.Before(k.until) {
		k.state, k.reason, k.until = KeyActive, "", time.Time{}
	}
}

// isUsable reports whether the key may be used now. It reactivates a key whose time has come.
func (k *key) isUsable(now time.Time) bool {
	k.reactivate(now)
	return k.state == KeyActive
}

// Pool selects the upstream key for each call: the one that the token used last if it is usable, else the usable key
// that was used least recently.
type Pool struct {
	now func() time.Time
	// changed is called with a state that an upstream's answer caused.
	changed func(id string, state KeyState, reason string, until, now time.Time)

	mu    sync.Mutex
	byID  map[string]*key
	order []*key
	// gone is when the deletion of each key that was deleted was stored, in Unix milliseconds.
	gone     map[string]int64
	clock    uint64
	affinity map[affine]string
	// bound are the groups that are names of backends; own are those of them that have keys.
	bound, own map[string]bool
}

// affine identifies who keeps a key: a caller at a backend.
type affine struct {
	group string
	who   Caller
}

// Caller identifies on whose behalf a key is picked. Calls of one project use the same key as long as it is usable.
type Caller struct{ Token, Project string }

func newPool(now func() time.Time, changed func(id string, state KeyState, reason string, until, now time.Time)) *Pool {
	return &Pool{now: now, changed: changed, byID: map[string]*key{}, gone: map[string]int64{}, affinity: map[affine]string{}}
}

// loadKeys adds or replaces keys and removes deleted ones, which come with the times of their updates. A stored state does not replace
// one that an answer has changed since, which is not in the database yet; one that was stored meanwhile and bars the key does. What was
// read before a key was deleted or restored changes nothing after that.
func (p *Pool) loadKeys(keys []*key, deleted map[string]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range keys {
		if at, gone := p.gone[k.id]; gone && k.updated <= at {
			continue
		}
		k.stored = k.updated
		if old := p.byID[k.id]; old != nil {
			k.used = old.used
			decided := k.stored > old.stored && k.isBarred()
			k.stored = max(k.stored, old.stored)
			if old.updated > k.updated && !decided {
				k.state, k.reason, k.until, k.updated = old.state, old.reason, old.until, old.updated
			}
		}
		p.byID[k.id] = k
	}
	for id, at := range deleted {
		p.gone[id] = max(p.gone[id], at)
		if old := p.byID[id]; old != nil && old.stored <= at {
			delete(p.byID, id)
		}
	}
	p.order = p.order[:0]
	for _, k := range p.byID {
		p.order = append(p.order, k)
	}
	p.findOwn()
}

// BindGroups sets the groups that are names of backends. A key of such a group serves that backend alone.
func (p *Pool) BindGroups(groups []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bound = map[string]bool{}
	for _, name := range groups {
		p.bound[name] = true
	}
	p.findOwn()
}

// findOwn updates which backends have keys of their own. The caller holds the mutex.
func (p *Pool) findOwn() {
	p.own = map[string]bool{}
	for _, k := range p.byID {
		if p.bound[k.group] {
			p.own[k.group] = true
		}
	}
}

// keyServesGroup reports whether a key may be used for a backend, whose name is group: one of its own keys if it has any,
// else a key that belongs to no backend. The caller holds the mutex.
func (p *Pool) keyServesGroup(k *key, group string) bool {
	return k.group == group || !p.own[group] && !p.bound[k.group]
}

// PickKey selects a key for a caller at a backend, whose name is group. tried holds ids that have failed for this
// request.
func (p *Pool) PickKey(group string, by Caller, tried []string) (id string, value schema.Secret, ok bool) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	who := affine{group, by}
	best := p.byID[p.affinity[who]]
	if best == nil || isTried(best.id, tried) || !p.keyServesGroup(best, group) || !best.isUsable(now) {
		best = p.nextUsableKey(now, group, tried)
	}
	if best == nil {
		return "", "", false
	}
	p.clock++
	best.used = p.clock
	if p.affinity[who] != best.id {
		if len(p.affinity) >= maxAffinity {
			clear(p.affinity)
		}
		p.affinity[who] = best.id
	}
	return best.id, best.value, true
}

// nextUsableKey returns the usable key of a backend that was used least recently, or nil. The caller holds the mutex.
func (p *Pool) nextUsableKey(now time.Time, group string, tried []string) *key {
	var best *key
	for _, k := range p.order {
		if isTried(k.id, tried) || !p.keyServesGroup(k, group) || !k.isUsable(now) {
			continue
		}
		if best == nil || k.used < best.used || k.used == best.used && k.id < best.id {
			best = k
		}
	}
	return best
}

// isTried reports whether id is one of tried.
func isTried(id string, tried []string) bool {
	for _, t := range tried {
		if t == id {
			return true
		}
	}
	return false
}

// FindValue returns the value of a key by its id unless the key is invalid or disabled. Research results need it.
func (p *Pool) FindValue(id string) (schema.Secret, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.byID[id]
	if k == nil || k.isBarred() {
		return "", false
	}
	return k.value, true
}

// ApplyVerdict applies an answer's verdict to a key, and reports whether the key is unusable at present.
func (p *Pool) ApplyVerdict(id string, v sdk.KeyVerdict) (spent bool) {
	now := p.now()
	p.mu.Lock()
	k := p.byID[id]
	if k == nil {
		p.mu.Unlock()
		return v.State == sdk.KeyInvalid || v.State == sdk.KeyRateLimited || v.State == sdk.KeyExhausted
	}
	state, until := k.state, k.until
	switch v.State {
	case sdk.KeyInvalid:
		state, until, spent = KeyInvalid, time.Time{}, true
	case sdk.KeyRateLimited:
		state, until, spent = KeyCooling, now.Add(coolingTime(v.RetryAfter)), true
	case sdk.KeyExhausted:
		state, until, spent = KeyExhausted, startOfNextMonth(now), true
	}
	// A person's decision and a verdict of "invalid" outlast late answers of calls that began before.
	if !spent || k.isBarred() {
		p.mu.Unlock()
		return spent
	}
	// So does the longer of two rests.
	if k.until.After(now) && until.Before(k.until) && state != KeyInvalid {
		p.mu.Unlock()
		return true
	}
	// An upstream may repeat the key; it belongs into no log and no alert.
	reason := strings.ReplaceAll(v.Reason, k.value.Reveal(), secret.Redacted)
	reason = texts.Valid(reason)
	k.state, k.reason, k.until, k.updated = state, reason, until, now.UnixMilli()
	p.mu.Unlock()
	p.changed(id, state, reason, until, now)
	return true
}

// coolingTime returns how long a rate-limited key rests. after is the time that the upstream states, or 0.
func coolingTime(after time.Duration) time.Duration {
	if after <= 0 {
		return coolDefault
	}
	return min(max(after, time.Second), coolMax)
}

// HasUsable reports whether a backend has a usable key.
func (p *Pool) HasUsable(group string) bool {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nextUsableKey(now, group, nil) != nil
}

// UsableAfter returns how long it takes until a backend has a usable key: retrySoon if it has one now, 0 if none
// becomes usable by itself.
func (p *Pool) UsableAfter(group string) time.Duration {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var shortest time.Duration
	for _, k := range p.byID {
		if !p.keyServesGroup(k, group) {
			continue
		}
		if k.isUsable(now) {
			return retrySoon
		}
		if k.until.IsZero() {
			continue
		}
		if d := k.until.Sub(now); shortest == 0 || d < shortest {
			shortest = d
		}
	}
	return shortest
}

// CountStates returns the number of keys in each state.
func (p *Pool) CountStates() map[KeyState]int {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[KeyState]int{KeyActive: 0, KeyCooling: 0, KeyExhausted: 0, KeyInvalid: 0, KeyDisabled: 0}
	for _, k := range p.byID {
		k.reactivate(now)
		out[k.state]++
	}
	return out
}

// startOfNextMonth returns when the UTC month after that of now begins: an exhausted key is tried again then.
func startOfNextMonth(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}
