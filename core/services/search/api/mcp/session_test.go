package mcp

import (
	"fmt"
	"testing"
	"time"
)

func TestSessionsAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	e, err := New(Config{MaxSessions: 20, Idle: time.Hour, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	s := e.sessions
	find := func(id, token string) *session {
		x, err := s.findSession(t.Context(), id, token)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	end := func(id, token string) bool {
		ended, err := s.endSession(t.Context(), id, token)
		if err != nil {
			t.Fatal(err)
		}
		return ended
	}
	first, second := s.beginSession("a", "v"), s.beginSession("a", "v")
	if find(first.id, "b") != nil || find("none", "a") != nil {
		t.Error("a session that is not the token's was found")
	}
	// The first was used last, so the third takes the place of the second: a tenth of all is one token's.
	if find(first.id, "a") == nil {
		t.Fatal("the first session is gone")
	}
	s.beginSession("a", "v")
	if find(first.id, "a") == nil || find(second.id, "a") != nil {
		t.Error("the wrong session made room")
	}
	for i := range 40 {
		s.beginSession(fmt.Sprint("t", i), "v")
	}
	if len(s.byID) != 20 || s.rest.Len() != 20 || len(s.held) != 20 {
		t.Errorf("%d sessions, %d in line, %d tokens", len(s.byID), s.rest.Len(), len(s.held))
	}
	now = now.Add(time.Hour)
	last := s.beginSession("z", "v")
	if len(s.byID) != 1 || !end(last.id, "z") || end(last.id, "z") || len(s.held) != 0 {
		t.Errorf("%d sessions after an idle hour", len(s.byID))
	}
}

func TestToolsThatCannotBeOffered(t *testing.T) {
	if _, err := NewTools([]Tool{{Name: "x",
		InputSchema: `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":7}}}`}}); err == nil {
		t.Error("a schema that the SDK does not take has passed")
	}
	if _, err := NewTools([]Tool{{Name: "x", InputSchema: `[]`}, {Name: "y"}}); err != nil {
		t.Errorf("tools without a schema: %v", err)
	}
}
