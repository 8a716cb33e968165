package ui

import (
	"testing"
	"time"
)

func TestSecrets(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var s Secrets
	id := s.addSecret("usr_a", Secret{Of: "x", Text: "text"}, now)
	if _, ok := s.takeSecret(id, "usr_b", "x", now); ok {
		t.Error("another user gets the secret")
	}
	if _, ok := s.takeSecret(id, "usr_a", "y", now); ok {
		t.Error("another page gets the secret")
	}
	if got, ok := s.takeSecret(id, "usr_a", "x", now); !ok || got.Text != "text" || got.Of != "x" {
		t.Errorf("got %+v, %t", got, ok)
	}
	if _, ok := s.takeSecret(id, "usr_a", "x", now); ok {
		t.Error("the secret is there twice")
	}
	id = s.addSecret("usr_a", Secret{Text: "late"}, now)
	if _, ok := s.takeSecret(id, "usr_a", "", now.Add(onceFor+time.Second)); ok {
		t.Error("the secret waits for longer than a minute")
	}
	first := s.addSecret("usr_a", Secret{}, now)
	for range maxOnce {
		s.addSecret("usr_a", Secret{}, now)
	}
	if _, ok := s.takeSecret(first, "usr_a", "", now); ok || len(s.waiting) != maxOnce {
		t.Errorf("%d secrets wait", len(s.waiting))
	}
}
