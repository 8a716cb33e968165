package ui

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/secret"
)

// TestOnceAtAnotherNode: a secret that a form of one core has made is shown, once, by another.
func TestOnceAtAnotherNode(t *testing.T) {
	url := testkit.Postgres(t)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	testkit.Must(t, err)
	a := &Secrets{Store: testkit.SharedStore(t, url), Keyring: ring}
	b := &Secrets{Store: testkit.SharedStore(t, url), Keyring: ring}
	made := Secret{Of: "token/1", Name: "scripts", Text: "a secret"}
	id := a.addSecret("usr_ada", made, time.Now())
	var plain int
	testkit.Must(t, b.Store.DB(t.Context()).Raw("SELECT count(*) FROM core_values WHERE value LIKE '%secret%'").Scan(&plain).Error)
	if plain > 0 {
		t.Error("the secret is stored as it is")
	}
	for _, wrong := range [][2]string{{"usr_bob", "token/1"}, {"usr_ada", "token/2"}} {
		if _, found := b.takeSecret(id, wrong[0], wrong[1], time.Now()); found {
			t.Errorf("shown to %v", wrong)
		}
	}
	if got, found := b.takeSecret(id, "usr_ada", "token/1", time.Now()); !found || got != made {
		t.Errorf("got %v %v", got, found)
	}
	if _, found := a.takeSecret(id, "usr_ada", "token/1", time.Now()); found {
		t.Error("shown twice")
	}
}
