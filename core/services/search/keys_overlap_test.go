package search

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// holdKeyEvents stops each change of a key's state where it is added to the history, which comes last.
const holdKeyEvents = "LOCK TABLE search_key_events IN SHARE MODE"

// TestKeyIsDisabledWhileAnAnswerMarksIt: what a person has decided stays.
func TestKeyIsDisabledWhileAnAnswerMarksIt(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
	ctx := t.Context()
	mark := func(id string) func() error {
		return func() error {
			now := e.clock.Now().Add(time.Second).UnixMilli()
			_, err := e.svc.Keys.Store.SetKeyState(ctx, id, keys.KeyCooling, "slow down", now+1000, now)
			return err
		}
	}
	for _, tc := range []struct {
		name   string
		decide func(id string) error
		want   keys.KeyState
	}{
		{"disabled", func(id string) error { return e.svc.SetKeyEnabled(ctx, id, false) }, keys.KeyDisabled},
		{"quarantined", func(id string) error { return e.svc.QuarantineKey(ctx, id, "published") }, keys.KeyInvalid},
		{"deleted", func(id string) error { return e.svc.DeleteKey(ctx, id) }, keys.KeyDisabled},
	} {
		for _, decidedFirst := range []bool{true, false} {
			name := tc.name + " after"
			if decidedFirst {
				name = tc.name + " before"
			}
			t.Run(name, func(t *testing.T) {
				id := e.addKeys("key-of-" + strings.ReplaceAll(name, " ", "-"))[0]
				first, second := mark(id), func() error { return tc.decide(id) }
				before := keys.KeyCooling
				if decidedFirst {
					first, second, before = second, first, keys.KeyActive
				}
				firstErr, secondErr := testkit.Overlap(t, cfg, holdKeyEvents, first, second)
				testkit.Must(t, firstErr)
				testkit.Must(t, secondErr)
				var k keys.KeyRecord
				testkit.Must(t, e.store.DB(ctx).Where("id = ?", id).Take(&k).Error)
				if k.State != tc.want {
					t.Errorf("the key is %s, want %s", k.State, tc.want)
				}
				history, err := e.svc.KeyHistory(ctx, id, "", 1)
				testkit.Must(t, err)
				if last := history.Items[0]; last.After != tc.want || last.Before != before {
					t.Errorf("the last change is from %s to %s, want from %s to %s", last.Before, last.After, before, tc.want)
				}
			})
		}
	}
}

// TestKeyIsDisabledWhileItIsAskedAbout: an upstream that reports quota again does not bring a key back that was disabled meanwhile.
func TestKeyIsDisabledWhileItIsAskedAbout(t *testing.T) {
	e := newEnv(t, withKeys)
	id := e.addKeys("good")[0]
	e.svc.Pool().ApplyVerdict(id, sdk.KeyVerdict{State: sdk.KeyExhausted, Reason: "used up"})
	e.svc.Keys.Wait()
	e.backend.keyStatus = func(ctx context.Context, _ schema.Secret) (*sdk.KeyStatus, error) {
		return &sdk.KeyStatus{Key: sdk.KeyVerdict{State: sdk.KeyOK}, Used: 3, Limit: 1000}, e.svc.SetKeyEnabled(ctx, id, false)
	}
	testkit.Must(t, e.svc.SyncKey(t.Context(), id))
	if k, err := e.svc.Key(t.Context(), id); err != nil || k.Status != keys.KeyDisabled {
		t.Errorf("got %+v, %v", k, err)
	}
}

// TestSameKeyIsAddedTwiceAtOnce: the second is told that it exists.
func TestSameKeyIsAddedTwiceAtOnce(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
	add := func(added *[]keys.AddedKey, values ...string) func() error {
		return func() (err error) {
			*added, err = e.svc.AddKeys(t.Context(), "", values)
			return err
		}
	}
	var made, found []keys.AddedKey
	first, second := testkit.Overlap(t, cfg, holdKeyEvents, add(&made, "one", "two"), add(&found, "two", "one"))
	testkit.Must(t, first)
	testkit.Must(t, second)
	for i := range 2 {
		if made[i].Status != "created" || found[i].Status != "exists" || made[i].ID != found[1-i].ID {
			t.Errorf("got %+v, then %+v", made, found)
		}
	}
}

// TestInvalidKeyIsDisabledWhileItIsAdded: adding a key again brings back one that is invalid, not one that was disabled meanwhile.
func TestInvalidKeyIsDisabledWhileItIsAdded(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
	id := e.addKeys("one")[0]
	testkit.Must(t, e.svc.QuarantineKey(t.Context(), id, "published"))
	first, second := testkit.Overlap(t, cfg, holdKeyEvents,
		func() error { return e.svc.SetKeyEnabled(t.Context(), id, false) },
		func() error { _, err := e.svc.AddKeys(t.Context(), "", []string{"one"}); return err })
	testkit.Must(t, first)
	testkit.Must(t, second)
	if k, err := e.svc.Key(t.Context(), id); err != nil || k.Status != keys.KeyDisabled {
		t.Errorf("got %+v, %v", k, err)
	}
}
