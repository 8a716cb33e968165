package search

import (
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// coolDefault is how long a rate-limited key rests where the upstream names no time; coolMax bounds what it names.
	coolDefault = time.Minute
	coolMax     = 10 * time.Minute
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
}

// usable brings a key back whose time has come, and tells whether it may be used.
func (k *key) usable(now time.Time) bool {
	if (k.state == KeyCooling || k.state == KeyExhausted) && !now.Before(k.until) {
		k.state, k.reason, k.until = KeyActive, "", time.Time{}
	}
	return k.state == KeyActive
}

// pool chooses the upstream key for each call: the one that the token used last if it can be used, else the one that
// has rested longest.
type pool struct {
	now func() time.Time
	// changed hears of a state that an upstream's answer brought about.
	changed func(id string, state KeyState, reason string, until, now time.Time)

	mu       sync.Mutex
	byID     map[string]*key
	order    []*key
	clock    uint64
	affinity map[affine]string
	// bound are the groups that are names of backends; own are those of them that have keys.
	bound, own map[string]bool
}

// affine is who keeps a key: a token at a backend, or one of its projects.
type affine struct {
	group string
	who   caller
}

// caller is on whose behalf a key is picked. Calls of one project go to one key, as far as it can be used.
type caller struct{ token, project string }

func newPool(now func() time.Time, changed func(id string, state KeyState, reason string, until, now time.Time)) *pool {
	return &pool{now: now, changed: changed, byID: map[string]*key{}, affinity: map[affine]string{}}
}

// load takes keys in. The state of a key that is there already is replaced by what was stored, unless an answer has
// changed it since: that is still on its way to the database.
func (p *pool) load(keys []*key, deleted []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range keys {
		if old := p.byID[k.id]; old != nil {
			k.used = old.used
			if old.updated > k.updated {
				k.state, k.reason, k.until, k.updated = old.state, old.reason, old.until, old.updated
			}
		}
		p.byID[k.id] = k
	}
	for _, id := range deleted {
		delete(p.byID, id)
	}
	p.order = p.order[:0]
	for _, k := range p.byID {
		p.order = append(p.order, k)
	}
	p.findOwn()
}

// bind takes in which backends there are: a key whose group is the name of one of them serves that one alone.
func (p *pool) bind(chain []*link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bound = map[string]bool{}
	for _, l := range chain {
		if l.credential {
			p.bound[l.keyGroup()] = true
		}
	}
	p.findOwn()
}

// findOwn notes which backends have keys of their own. The caller holds the mutex.
func (p *pool) findOwn() {
	p.own = map[string]bool{}
	for _, k := range p.byID {
		if p.bound[k.group] {
			p.own[k.group] = true
		}
	}
}

// serves tells whether a key may be shown to a backend, whose name is group: its own keys if it has any, else those that
// belong to no other. The caller holds the mutex.
func (p *pool) serves(k *key, group string) bool {
	return k.group == group || !p.own[group] && !p.bound[k.group]
}

// pick chooses a key for a token at a backend, whose name is group. tried are ids that have failed for this request
// already. The result is a copy.
func (p *pool) pick(group string, by caller, tried []string) (id string, value schema.Secret, ok bool) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	who := affine{group, by}
	best := p.byID[p.affinity[who]]
	if best == nil || isTried(best.id, tried) || !p.serves(best, group) || !best.usable(now) {
		best = p.rested(now, group, tried)
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

func (p *pool) rested(now time.Time, group string, tried []string) *key {
	var best *key
	for _, k := range p.order {
		if isTried(k.id, tried) || !p.serves(k, group) || !k.usable(now) {
			continue
		}
		if best == nil || k.used < best.used || k.used == best.used && k.id < best.id {
			best = k
		}
	}
	return best
}

func isTried(id string, tried []string) bool {
	for _, t := range tried {
		if t == id {
			return true
		}
	}
	return false
}

// get returns a key by its id if it may be used: what a research result needs.
func (p *pool) get(id string) (schema.Secret, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.byID[id]
	if k == nil || k.state == KeyInvalid || k.state == KeyDisabled {
		return "", false
	}
	return k.value, true
}

// mark applies what an answer says about a key, and tells whether the key cannot be used at present.
func (p *pool) mark(id string, v sdk.KeyVerdict) (spent bool) {
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
		state, until, spent = KeyCooling, now.Add(rest(v.RetryAfter)), true
	case sdk.KeyExhausted:
		state, until, spent = KeyExhausted, nextMonth(now), true
	}
	// A person's decision and a verdict of "invalid" outlast late answers of calls that began before.
	if !spent || k.state == KeyDisabled || k.state == KeyInvalid {
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
	reason = tidy(reason)
	k.state, k.reason, k.until, k.updated = state, reason, until, now.UnixMilli()
	p.mu.Unlock()
	p.changed(id, state, reason, until, now)
	return true
}

func rest(after time.Duration) time.Duration {
	if after <= 0 {
		return coolDefault
	}
	return min(max(after, time.Second), coolMax)
}

// hasUsable tells whether a backend has a key that may be used now.
func (p *pool) hasUsable(group string) bool {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rested(now, group, nil) != nil
}

// wait returns how long it takes until a backend has a usable key: retrySoon if it has one now, 0 if none comes back by
// itself.
func (p *pool) wait(group string) time.Duration {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var shortest time.Duration
	for _, k := range p.byID {
		if !p.serves(k, group) {
			continue
		}
		if k.usable(now) {
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

// states counts the keys by state, for metrics.
func (p *pool) states() map[KeyState]int {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[KeyState]int{KeyActive: 0, KeyCooling: 0, KeyExhausted: 0, KeyInvalid: 0, KeyDisabled: 0}
	for _, k := range p.byID {
		k.usable(now)
		out[k.state]++
	}
	return out
}

// tidy makes a text that a database takes: valid UTF-8 without NUL.
func tidy(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }
