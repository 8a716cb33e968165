package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func poolOf(c *clock, ids ...string) *Pool {
	p := newPool(c.now, func(string, KeyState, string, time.Time, time.Time) {})
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
	id, value, ok := p.pickKey("", caller{token: token}, tried)
	if ok && value != schema.Secret("value-"+id) {
		t.Fatalf("key %s came with the value of another", id)
	}
	return id
}

func TestPoolSharesKeysOutAndStaysWithThem(t *testing.T) {
	p := poolOf(newClock(noon), "a", "b", "c")
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
		{"exhausted", verdict(sdk.KeyExhausted, 0), KeyExhausted, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC).Sub(noon)},
		{"invalid", verdict(sdk.KeyInvalid, 0), KeyInvalid, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock(noon)
			p := poolOf(c, "a")
			if !p.applyVerdict("a", tt.verdict) {
				t.Fatal("the key must be spent")
			}
			if p.countStates()[tt.state] != 1 || picked(t, p, "t") != "" {
				t.Fatalf("%v", p.countStates())
			}
			if tt.back == 0 {
				c.advance(400 * 24 * time.Hour)
				if picked(t, p, "t") != "" {
					t.Error("it came back by itself")
				}
				return
			}
			c.advance(tt.back - time.Millisecond)
			if picked(t, p, "t") != "" {
				t.Error("it came back too early")
			}
			c.advance(time.Millisecond)
			if picked(t, p, "t") != "a" || p.countStates()[KeyActive] != 1 {
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
			p := poolOf(newClock(noon), "a")
			p.applyVerdict("a", tt.first)
			p.applyVerdict("a", tt.then)
			if p.countStates()[tt.want] != 1 {
				t.Errorf("%v, want %s", p.countStates(), tt.want)
			}
		})
	}
	p := poolOf(newClock(noon))
	if !p.applyVerdict("gone", verdict(sdk.KeyRateLimited, 0)) || p.applyVerdict("gone", verdict(sdk.KeyOK, 0)) {
		t.Error("the verdict on a key that was deleted meanwhile still decides on the answer")
	}
}

func TestPoolDisabledKeysAreLeftAlone(t *testing.T) {
	p := poolOf(newClock(noon), "a")
	p.loadKeys([]*key{{id: "a", value: "value-a", state: KeyDisabled, updated: 1}}, nil)
	p.applyVerdict("a", verdict(sdk.KeyExhausted, 0))
	if _, ok := p.findValue("a"); ok || p.countStates()[KeyDisabled] != 1 || picked(t, p, "t") != "" {
		t.Errorf("%v", p.countStates())
	}
}

// TestStoredStateDoesNotUndoAnAnswer: what the database held before an answer changed a key must not bring it back.
func TestStoredStateDoesNotUndoAnAnswer(t *testing.T) {
	c := newClock(noon)
	p := poolOf(c, "a")
	p.applyVerdict("a", verdict(sdk.KeyInvalid, 0))
	stale := &key{id: "a", value: "value-a", state: KeyActive, updated: c.now().Add(-time.Second).UnixMilli()}
	p.loadKeys([]*key{stale}, nil)
	if p.countStates()[KeyInvalid] != 1 {
		t.Errorf("stale: %v", p.countStates())
	}
	p.loadKeys([]*key{{id: "a", value: "value-a", state: KeyActive, updated: c.now().Add(time.Second).UnixMilli()}}, nil)
	if p.countStates()[KeyActive] != 1 {
		t.Errorf("restored by a person: %v", p.countStates())
	}
}

// TestPoolKeepsItsPromises: whatever happens, a key that must not be used is not chosen, a usable one is found, and an
// affinity is kept while it can be.
func TestPoolKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock(noon)
		ids := []string{"a", "b", "c", "d"}
		p := poolOf(c, ids...)
		last := map[string]string{}
		usable := func(id string) bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.byID[id].isUsable(c.now())
		}
		t.Repeat(map[string]func(*rapid.T){
			"pick": func(t *rapid.T) {
				token := rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "token")
				tried := rapid.SliceOfDistinct(rapid.SampledFrom(ids), rapid.ID).Draw(t, "tried")
				free := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(tried, id) || !usable(id) })
				id, _, ok := p.pickKey("", caller{token: token}, tried)
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
				state := rapid.SampledFrom([]sdk.KeyState{sdk.KeyUnknown, sdk.KeyOK, sdk.KeyInvalid, sdk.KeyRateLimited, sdk.KeyExhausted}).Draw(t, "state")
				p.applyVerdict(rapid.SampledFrom(ids).Draw(t, "id"), sdk.KeyVerdict{State: state})
			},
			"wait": func(t *rapid.T) { c.advance(drawStep(t)) },
		})
	})
}

func TestKeyStatesAreStoredAndRestored(t *testing.T) {
	e := newEnv(t, withKeys)
	ids := e.addKeys("key-one", "key-two", "key-three")
	e.svc.Keys.pool.applyVerdict(ids[0], sdk.KeyVerdict{State: sdk.KeyInvalid, Reason: "revoked\x00"})
	e.svc.Keys.pool.applyVerdict(ids[1], verdict(sdk.KeyExhausted, 0))
	e.svc.Keys.background.Wait()
	second := e.start()
	got := second.Pool().countStates()
	if got[KeyInvalid] != 1 || got[KeyExhausted] != 1 || got[KeyActive] != 1 {
		t.Fatalf("%v", got)
	}
	// A key that was found invalid is restored by adding it again.
	added, err := second.AddKeys(context.Background(), "", []string{"key-one", "key-two", "", "with space", "key-four", "key-four"})
	if err != nil {
		t.Fatal(err)
	}
	var status []string
	for _, a := range added {
		status = append(status, a.Status)
	}
	if want := []string{"restored", "exists", "invalid", "invalid", "created", "exists"}; !slices.Equal(status, want) {
		t.Errorf("%v, want %v", status, want)
	}
	if got := second.Pool().countStates(); got[KeyActive] != 3 || got[KeyInvalid] != 0 {
		t.Errorf("%v", got)
	}
}

func TestPoolUnderConcurrency(t *testing.T) {
	p := poolOf(newClock(noon), "a", "b", "c")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				id := picked(t, p, fmt.Sprint("t", w))
				p.applyVerdict(id, sdk.KeyVerdict{State: []sdk.KeyState{sdk.KeyOK, sdk.KeyRateLimited}[i%2]})
				p.countStates()
			}
		})
	}
	wg.Wait()
}

func TestKeyValuesAreSealed(t *testing.T) {
	e := newEnv(t, withKeys)
	e.addKeys("upstream-key-in-clear")
	token := e.token(nil)
	for _, table := range []string{"search_keys", "search_tokens"} {
		var rows []map[string]any
		if err := e.store.DB(context.Background()).Table(table).Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"upstream-key-in-clear", token} {
			if text := fmt.Sprintf("%s", rows); len(rows) == 0 || strings.Contains(text, secret) {
				t.Errorf("%s holds a secret in clear, or nothing", table)
			}
		}
	}
}

// TestProjectsKeepTheirKeys: the calls of one project go to one key, whatever other projects of the token do.
func TestProjectsKeepTheirKeys(t *testing.T) {
	e := newEnv(t, withKeys)
	e.addKeys("k1", "k2", "k3")
	token := e.token(nil)
	seen := map[string]map[string]bool{}
	for range 4 {
		for _, project := range []string{"", "a", "b", strings.Repeat("x", maxProject+1)} {
			e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+token, "X-Project-ID", project)
			calls := e.backend.seen()
			name := project[:min(len(project), 1)]
			if seen[name] == nil {
				seen[name] = map[string]bool{}
			}
			seen[name][calls[len(calls)-1].Credential.Reveal()] = true
		}
	}
	for project, keys := range seen {
		if len(keys) != 1 {
			t.Errorf("the project %q used %v", project, keys)
		}
	}
	if fmt.Sprint(seen["a"]) == fmt.Sprint(seen["b"]) || fmt.Sprint(seen["a"]) == fmt.Sprint(seen[""]) {
		t.Errorf("projects share a key although there is one for each: %v", seen)
	}
	if fmt.Sprint(seen["x"]) != fmt.Sprint(seen[""]) {
		t.Errorf("a name that is too long is no project: %v", seen)
	}
}
