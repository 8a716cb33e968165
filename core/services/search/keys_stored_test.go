package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestKeyStatesAreStoredAndRestored(t *testing.T) {
	e := newEnv(t, withKeys)
	ids := e.addKeys("key-one", "key-two", "key-three")
	e.svc.Pool().ApplyVerdict(ids[0], sdk.KeyVerdict{State: sdk.KeyInvalid, Reason: "revoked\x00"})
	e.svc.Pool().ApplyVerdict(ids[1], sdk.KeyVerdict{State: sdk.KeyExhausted})
	e.svc.Keys.Wait()
	second := e.start()
	got := second.Pool().CountStates()
	if got[keys.KeyInvalid] != 1 || got[keys.KeyExhausted] != 1 || got[keys.KeyActive] != 1 {
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
	if got := second.Pool().CountStates(); got[keys.KeyActive] != 3 || got[keys.KeyInvalid] != 0 {
		t.Errorf("%v", got)
	}
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
		for _, project := range []string{"", "a", "b", strings.Repeat("x", api.MaxProject+1)} {
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
