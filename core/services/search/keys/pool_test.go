package keys

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func poolOf(c *searchtest.Clock, ids ...string) *Pool {
	p := newPool(c.Now, func(string, KeyState, string, time.Time, time.Time) {})
	var keys []*key
	for _, id := range ids {
		keys = append(keys, &key{id: id, value: schema.Secret("value-" + id), state: KeyActive})
	}
	p.loadKeys(keys, nil)
	return p
}

func verdict(s sdk.KeyState, after time.Duration) sdk.KeyVerdict {
	return sdk.KeyVerdict{State: s, RetryAfter: after}
}

func picked(t testing.TB, p *Pool, token string, tried ...string) string {
	t.Helper()
	id, value, ok := p.PickKey("", Caller{Token: token}, tried)
	if ok && value != schema.Secret("value-"+id) {
		t.Fatalf("key %s came with the value of another", id)
	}
	return id
}

func TestPoolSharesKeysOutAndStaysWithThem(t *testing.T) {
	p := poolOf(searchtest.NewClock(searchtest.Noon), "a", "b", "c")
	first := []string{picked(t, p, "t1"), picked(t, p, "t2"), picked(t, p, "t3")}
	if want := []string{"a", "b", "c"}; !slices.Equal(first, want) {
		t.Errorf("the longest rested comes first: %v, want %v", first, want)
	}
	for range 5 {
		if got := picked(t, p, "t2"); got != "b" {
			t.Fatalf("a token stays with its key: %s", got)
		}
	}
	if got := picked(t, p, "t4"); got != "a" {
		t.Errorf("the least recently used is %s", got)
	}
	if got := picked(t, p, "t2", "b"); got != "c" {
		t.Errorf("beside a tried key %s was chosen", got)
	}
	if got := picked(t, p, "t2"); got != "c" {
		t.Errorf("after a failure the token stays with the new key, not %s", got)
	}
	if got := picked(t, p, "t1", "a", "b", "c"); got != "" {
		t.Errorf("nothing is left, yet %s", got)
	}
}

func TestPoolVerdicts(t *testing.T) {
	tests := []struct {
		name    string
		verdict sdk.KeyVerdict
		state   KeyState
		back    time.Duration // 0: never by itself
	}{
		{"rate limited", verdict(sdk.KeyRateLimited, 0), KeyCooling, time.Minute},
		{"rate limited with a time", verdict(sdk.KeyRateLimited, 90*time.Second), KeyCooling, 90 * time.Second},
		{"rate limited for too long", verdict(sdk.KeyRateLimited, time.Hour*24), KeyCooling, 10 * time.Minute},
		{"rate limited for no time", verdict(sdk.KeyRateLimited, time.Millisecond), KeyCooling, time.Second},
		{"exhausted", verdict(sdk.KeyExhausted, 0), KeyExhausted, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC).Sub(searchtest.Noon)},
		{"invalid", verdict(sdk.KeyInvalid, 0), KeyInvalid, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := searchtest.NewClock(searchtest.Noon)
			p := poolOf(c, "a")
			if !p.ApplyVerdict("a", tt.verdict) {
				t.Fatal("the key must be spent")
			}
			if p.CountStates()[tt.state] != 1 || picked(t, p, "t") != "" {
				t.Fatalf("%v", p.CountStates())
			}
			if tt.back == 0 {
				c.Advance(400 * 24 * time.Hour)
				if picked(t, p, "t") != "" {
					t.Error("it came back by itself")
				}
				return
			}
			c.Advance(tt.back - time.Millisecond)
			if picked(t, p, "t") != "" {
				t.Error("it came back too early")
			}
			c.Advance(time.Millisecond)
			if picked(t, p, "t") != "a" || p.CountStates()[KeyActive] != 1 {
				t.Error("it did not come back")
			}
		})
	}
}

func TestPoolLateVerdicts(t *testing.T) {
	tests := []struct {
		name        string
		first, then sdk.KeyVerdict
		want        KeyState
	}{
		{"invalid outlasts a rest", verdict(sdk.KeyInvalid, 0), verdict(sdk.KeyRateLimited, 0), KeyInvalid},
		{"invalid outlasts success", verdict(sdk.KeyInvalid, 0), verdict(sdk.KeyOK, 0), KeyInvalid},
		{"the longer rest stays", verdict(sdk.KeyExhausted, 0), verdict(sdk.KeyRateLimited, 0), KeyExhausted},
		{"exhaustion outlasts a rest", verdict(sdk.KeyRateLimited, 0), verdict(sdk.KeyExhausted, 0), KeyExhausted},
		{"invalid ends a rest", verdict(sdk.KeyExhausted, 0), verdict(sdk.KeyInvalid, 0), KeyInvalid},
		{"success ends no rest", verdict(sdk.KeyRateLimited, 0), verdict(sdk.KeyOK, 0), KeyCooling},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := poolOf(searchtest.NewClock(searchtest.Noon), "a")
			p.ApplyVerdict("a", tt.first)
			p.ApplyVerdict("a", tt.then)
			if p.CountStates()[tt.want] != 1 {
				t.Errorf("%v, want %s", p.CountStates(), tt.want)
			}
		})
	}
	p := poolOf(searchtest.NewClock(searchtest.Noon))
	if !p.ApplyVerdict("gone", verdict(sdk.KeyRateLimited, 0)) || p.ApplyVerdict("gone", verdict(sdk.KeyOK, 0)) {
		t.Error("the verdict on a key that was deleted meanwhile still decides on the answer")
	}
}

func TestPoolDisabledKeysAreLeftAlone(t *testing.T) {
	p := poolOf(searchtest.NewClock(searchtest.Noon), "a")
	p.loadKeys([]*key{{id: "a", value: "value-a", state: KeyDisabled, updated: 1}}, nil)
	p.ApplyVerdict("a", verdict(sdk.KeyExhausted, 0))
	if _, ok := p.FindValue("a"); ok || p.CountStates()[KeyDisabled] != 1 || picked(t, p, "t") != "" {
		t.Errorf("%v", p.CountStates())
	}
}

// TestStoredStateDoesNotUndoAnAnswer: what the database held before an answer changed a key must not bring it back.
func TestStoredStateDoesNotUndoAnAnswer(t *testing.T) {
	c := searchtest.NewClock(searchtest.Noon)
	p := poolOf(c, "a")
	p.ApplyVerdict("a", verdict(sdk.KeyInvalid, 0))
	stale := &key{id: "a", value: "value-a", state: KeyActive, updated: c.Now().Add(-time.Second).UnixMilli()}
	p.loadKeys([]*key{stale}, nil)
	if p.CountStates()[KeyInvalid] != 1 {
		t.Errorf("stale: %v", p.CountStates())
	}
	p.loadKeys([]*key{{id: "a", value: "value-a", state: KeyActive, updated: c.Now().Add(time.Second).UnixMilli()}}, nil)
	if p.CountStates()[KeyActive] != 1 {
		t.Errorf("restored by a person: %v", p.CountStates())
	}
}

// TestPoolKeepsItsPromises: whatever happens, a key that must not be used is not chosen, a usable one is found, and an
// affinity is kept while it can be.
func TestPoolKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := searchtest.NewClock(searchtest.Noon)
		ids := []string{"a", "b", "c", "d"}
		p := poolOf(c, ids...)
		last := map[string]string{}
		usable := func(id string) bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.byID[id].isUsable(c.Now())
		}
		t.Repeat(map[string]func(*rapid.T){
			"pick": func(t *rapid.T) {
				token := rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "token")
				tried := rapid.SliceOfDistinct(rapid.SampledFrom(ids), rapid.ID).Draw(t, "tried")
				free := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(tried, id) || !usable(id) })
				id, _, ok := p.PickKey("", Caller{Token: token}, tried)
				switch {
				case ok != (len(free) > 0):
					t.Fatalf("picked %q of %v", id, free)
				case ok && !slices.Contains(free, id):
					t.Fatalf("picked %s, usable are %v", id, free)
				case ok && slices.Contains(free, last[token]) && id != last[token]:
					t.Fatalf("%s left %s for %s", token, last[token], id)
				}
				if ok {
					last[token] = id
				}
			},
			"mark": func(t *rapid.T) {
				state := rapid.SampledFrom([]sdk.KeyState{sdk.KeyUnknown, sdk.KeyOK, sdk.KeyInvalid, sdk.KeyRateLimited, sdk.KeyExhausted}).Draw(t,
					"state")
				p.ApplyVerdict(rapid.SampledFrom(ids).Draw(t, "id"), sdk.KeyVerdict{State: state})
			},
			"wait": func(t *rapid.T) { c.Advance(searchtest.DrawStep(t)) },
		})
	})
}

func TestPoolUnderConcurrency(t *testing.T) {
	p := poolOf(searchtest.NewClock(searchtest.Noon), "a", "b", "c")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				id := picked(t, p, fmt.Sprint("t", w))
				p.ApplyVerdict(id, sdk.KeyVerdict{State: []sdk.KeyState{sdk.KeyOK, sdk.KeyRateLimited}[i%2]})
				p.CountStates()
			}
		})
	}
	wg.Wait()
}
