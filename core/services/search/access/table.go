package access

import (
	"context"
	"crypto/subtle"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
)

const (
	tokenPrefix    = "th-"
	tokenIDLen     = 4
	tokenSecretLen = 24
	tokenLen       = len(tokenPrefix) + tokenIDLen + 1 + tokenSecretLen
	// UnknownFor is how long an unknown id is remembered as such.
	UnknownFor = time.Second
	// MaxUnknown bounds the unknown ids that are remembered.
	MaxUnknown = 4096
)

// Token is an access token in memory.
type Token struct {
	Id      string
	hash    [32]byte
	Enabled bool
	expires time.Time
	owner   string
	own     overrides
	// CacheTTL is the token's own, in seconds; nil takes the default.
	CacheTTL *int64
	Limits   Limits
	counter  *counter
	// lease is what this core may spend where several cores share the limits; nil for a core alone.
	lease *lease
	// updated is when its record was changed, in Unix milliseconds.
	updated int64
}

// usable reports whether the token may be used at a moment.
func (t *Token) usable(now time.Time) bool {
	return t.Enabled && (t.expires.IsZero() || now.Before(t.expires))
}

// Table is the table of access tokens in memory. It is loaded at start, follows writes of other processes, and looks
// an unknown id up once.
type Table struct {
	store    *Store
	defaults Limits
	now      func() time.Time
	// leases are nil for a core alone.
	leases *leasePool

	mu   sync.RWMutex
	byID map[string]*Token
	// barred are the owners who are disabled: their tokens are refused.
	barred  map[string]bool
	Unknown map[string]time.Time
	// deleted are the tokens that do not come back.
	deleted map[string]bool
}

func newTable(store *Store, defaults Limits, now func() time.Time) *Table {
	return &Table{store: store, defaults: defaults, now: now, byID: map[string]*Token{}, Unknown: map[string]time.Time{},
		deleted: map[string]bool{}}
}

// SetDefaults gives new limits to the tokens that have none of their own.
func (t *Table) SetDefaults(l Limits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.defaults = l
	for id, old := range t.byID {
		next := *old
		next.Limits = old.own.mergeOver(l)
		t.byID[id] = &next
	}
}

// storeRecords replaces tokens by their records, and removes deleted ones. A record that is older than the one which is there, of a
// change that was committed before another one, is left out.
func (t *Table) storeRecords(records []tokenRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		old := t.byID[r.ID]
		delete(t.Unknown, r.ID)
		if r.DeletedAt != 0 {
			delete(t.byID, r.ID)
			t.deleted[r.ID] = true
		}
		if t.deleted[r.ID] || old != nil && old.updated > r.UpdatedAt {
			continue
		}
		next := t.newTokenLocked(r)
		if old != nil {
			next.counter, next.lease = old.counter, old.lease
			if l := next.lease; l != nil && old.Limits != next.Limits {
				l.expire()
			}
		}
		t.byID[r.ID] = next
	}
}

// setDisabledOwners replaces the set of owners whose tokens are refused.
func (t *Table) setDisabledOwners(owners []string) {
	next := make(map[string]bool, len(owners))
	for _, id := range owners {
		next[id] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.barred = next
}

// Usable reports whether a token may be used now, by itself and by its owner.
func (t *Table) Usable(tok *Token) bool {
	if !tok.usable(t.now()) {
		return false
	}
	if tok.owner == "" {
		return true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return !t.barred[tok.owner]
}

// newToken returns a token that is not in the table yet: another process has just created it.
func (t *Table) newToken(r tokenRecord) *Token {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.newTokenLocked(r)
}

// newTokenLocked returns the token of a record, with a counter of its own. The caller holds the mutex.
func (t *Table) newTokenLocked(r tokenRecord) *Token {
	out := r.toToken(t.defaults)
	if t.leases != nil {
		out.lease = newLease(t.leases, r.ID)
	}
	return out
}

func (r tokenRecord) toToken(defaults Limits) *Token {
	out := &Token{Id: r.ID, Enabled: r.Enabled, owner: r.OwnerID, CacheTTL: r.CacheTTL, counter: &counter{}, updated: r.UpdatedAt}
	out.own = overrides{r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute}
	out.Limits = out.own.mergeOver(defaults)
	copy(out.hash[:], r.Hash)
	if r.ExpiresAt != 0 {
		out.expires = time.UnixMilli(r.ExpiresAt)
	}
	return out
}

// quotaState returns the widest window of the quota that is used up.
func (t *Token) quotaState(now time.Time) string {
	u, l := t.useOfAll(now).readSums(now), t.Limits
	switch {
	case u.MonthlyCredits >= l.CreditsMonth:
		return QuotaMonth
	case u.DailyCredits >= l.CreditsDay:
		return QuotaDay
	case u.HourlyCredits >= l.CreditsHour, u.HourlyRequests >= l.RequestsHour:
		return QuotaHour
	}
	return QuotaNormal
}

// overrides are a token's own limits; nil takes the default.
type overrides struct{ requests, hour, day, month, minute *int64 }

func (o overrides) mergeOver(l Limits) Limits {
	for _, x := range []struct{ from, to *int64 }{
		{o.requests, &l.RequestsHour}, {o.hour, &l.CreditsHour}, {o.day, &l.CreditsDay}, {o.month, &l.CreditsMonth},
		{o.minute, &l.RequestsMinute},
	} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	return l
}

// Get returns a token by its id, or nil if it is not in the table.
func (t *Table) Get(id string) *Token {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

// Unauthorized returns the one answer to every token that is not usable.
func Unauthorized(message string) error { return fault.New(fault.Unauthorized, "%s", message) }

// WellFormed reports whether a text has the shape of a token. What has not is never looked up.
func WellFormed(text string) bool {
	const dash = len(tokenPrefix) + tokenIDLen
	if len(text) != tokenLen || !strings.HasPrefix(text, tokenPrefix) {
		return false
	}
	for i := len(tokenPrefix); i < len(text); i++ {
		c := text[i]
		if alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; alnum == (i == dash) || !alnum && c != '-' {
			return false
		}
	}
	return true
}

// AuthenticateToken finds the token of a text. Its error is a fault.Unauthorized.
func (t *Table) AuthenticateToken(ctx context.Context, text string) (*Token, error) {
	if !WellFormed(text) {
		return nil, Unauthorized("The access token is invalid or disabled.")
	}
	id := text[len(tokenPrefix) : len(tokenPrefix)+tokenIDLen]
	found := t.Get(id)
	if found == nil {
		var err error
		if found, err = t.findOrLoad(ctx, id); err != nil {
			return nil, err
		}
	}
	if found == nil || subtle.ConstantTimeCompare(secret.HashToken(text), found.hash[:]) != 1 || !t.Usable(found) {
		return nil, Unauthorized("The access token is invalid or disabled.")
	}
	return found, nil
}

// findOrLoad returns a token by its id, from the database if it is not in the table. That there is no such token is remembered for
// a second. Requests that ask at the same moment each read the database, so that a new token is refused to none of them.
func (t *Table) findOrLoad(ctx context.Context, id string) (*Token, error) {
	now := t.now()
	t.mu.RLock()
	asked, known := t.Unknown[id]
	t.mu.RUnlock()
	if known && now.Sub(asked) < UnknownFor {
		return nil, nil
	}
	r, found, err := t.store.FindToken(ctx, id)
	if err == nil && (!found || r.DeletedAt != 0) {
		t.Forget(id, now)
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The access token could not be checked.")
	}
	t.storeRecords([]tokenRecord{r})
	return t.Get(id), nil
}

// Forget remembers that there was no such token.
func (t *Table) Forget(id string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.Unknown) >= MaxUnknown {
		clear(t.Unknown)
	}
	t.Unknown[id] = now
}

// BuiltinID is the token on which calls without one are counted in development. No real id looks like it.
const BuiltinID = "dev"

// BuiltinToken returns that token. It is made at its first use and never stored.
func (t *Table) BuiltinToken() *Token {
	if found := t.Get(BuiltinID); found != nil {
		return found
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.byID[BuiltinID]; found != nil {
		return found
	}
	made := t.newTokenLocked(tokenRecord{ID: BuiltinID, Enabled: true})
	t.byID[BuiltinID] = made
	return made
}

// TokenID returns the id that stands in the text of a token, "" for what is none.
func TokenID(text string) string {
	if !WellFormed(text) {
		return ""
	}
	return text[len(tokenPrefix) : len(tokenPrefix)+tokenIDLen]
}

// usedPeriods returns what each token has used in the current UTC day or month, by its id.
func (t *Table) usedPeriods(now time.Time, month bool) map[string]period {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make(map[string]period, len(t.byID))
	for id, tok := range t.byID {
		out[id] = tok.useOfAll(now).periodUse(now, month)
	}
	return out
}

// IsOwner reports whether a token belongs to a user.
func (t *Table) IsOwner(id, user string) bool {
	tok := t.Get(id)
	return tok != nil && tok.owner != "" && tok.owner == user
}
