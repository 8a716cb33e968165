package mail_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// modelBox is what the model knows of the mailbox that has an address.
type modelBox struct {
	id string
	// ends is the zero time for a mailbox that does not expire.
	ends time.Time
	mine bool
}

// mailboxModel is a small number of addresses that two members make, extend and destroy mailboxes of while time goes by.
type mailboxModel struct {
	s     *server
	boxes map[string]*modelBox
}

func (m *mailboxModel) expired(b *modelBox) bool {
	return !b.ends.IsZero() && !b.ends.After(m.s.clock.now())
}

// address and member draw what an action is about.
func (m *mailboxModel) address(r *rapid.T) string {
	return rapid.SampledFrom([]string{"a@mail.localhost", "b@mail.localhost", "a@x.mail.localhost"}).Draw(r, "address")
}

func (m *mailboxModel) member(r *rapid.T) (key string, mine bool) {
	mine = rapid.Bool().Draw(r, "mine")
	if mine {
		return m.s.ada, true
	}
	return m.s.bob, false
}

// ensure makes or extends a mailbox.
func (m *mailboxModel) ensure(r *rapid.T) {
	at, minutes := m.address(r), rapid.SampledFrom([]any{60, 180, nil}).Draw(r, "minutes")
	key, mine := m.member(r)
	var ends time.Time
	if n, ok := minutes.(int); ok {
		ends = m.s.clock.now().Add(time.Duration(n) * time.Minute)
	}
	status, got := m.s.call(key, "POST", "/api/mailboxes/ensure", dict{"address": at, "expiresInMinutes": minutes})
	b := m.boxes[at]
	switch {
	case b == nil:
		if status != 201 {
			r.Fatalf("making %s: %d %v", at, status, got)
		}
		m.boxes[at] = &modelBox{got["id"].(string), ends, mine}
	case b.mine != mine:
		if status != 409 || got["mailbox"] != nil {
			r.Fatalf("the mailbox of somebody else, %s: %d %v", at, status, got)
		}
	default:
		if !b.ends.IsZero() && (ends.IsZero() || ends.After(b.ends)) {
			b.ends = ends
		}
		if status != 200 || got["id"] != b.id {
			r.Fatalf("extending %s: %d %v", at, status, got)
		}
	}
}

// destroy deletes a mailbox.
func (m *mailboxModel) destroy(r *rapid.T) {
	at := m.address(r)
	key, mine := m.member(r)
	b := m.boxes[at]
	if b == nil {
		return
	}
	status, got := m.s.call(key, "DELETE", "/api/mailboxes/"+b.id, nil)
	if want := map[bool]int{true: 200, false: 404}[b.mine == mine]; status != want {
		r.Fatalf("deleting %s: %d %v, want %d", at, status, got, want)
	}
	if b.mine == mine {
		delete(m.boxes, at)
	}
}

// wait lets time go by, and the clean-up work.
func (m *mailboxModel) wait(r *rapid.T) {
	m.s.clock.advance(time.Duration(rapid.SampledFrom([]int{1, 61, 600, 1500}).Draw(r, "minutes")) * time.Minute)
	m.s.cleanUp()
	for at, b := range m.boxes {
		if !b.ends.IsZero() && !b.ends.Add(24*time.Hour).After(m.s.clock.now()) {
			delete(m.boxes, at)
		}
	}
}

// check compares what the service says with the model, after each action.
func (m *mailboxModel) check(r *rapid.T) {
	_, list := m.s.call(m.s.admin, "GET", "/api/mailboxes", nil)
	there := map[string]dict{}
	for _, box := range list["mailboxes"].([]any) {
		there[text(m.s.t, box.(dict), "address")] = box.(dict)
	}
	for _, at := range []string{"a@mail.localhost", "b@mail.localhost", "a@x.mail.localhost"} {
		_, refused := m.s.service.FindRecipient(r.Context(), at)
		got, b := there[at], m.boxes[at]
		if b == nil {
			if got != nil || refused == nil {
				r.Fatalf("%s is there: %v, %v", at, got, refused)
			}
			continue
		}
		want := map[bool]string{true: "expired", false: "active"}[m.expired(b)]
		if got["id"] != b.id || got["status"] != want || (refused == nil) != (want == "active") {
			r.Fatalf("%s: got %v, %v, want it %s until %s", at, got, refused, want, b.ends)
		}
	}
}

// TestMailboxModel: whatever members do in whatever order, mailboxes are there as long as they should be.
func TestMailboxModel(t *testing.T) {
	s := startServer(t, testkit.SQLiteConfig(t), client.DNSAbilities{Manual: true})
	rapid.Check(t, func(r *rapid.T) {
		m := &mailboxModel{s: s, boxes: map[string]*modelBox{}}
		r.Repeat(map[string]func(*rapid.T){"ensure": m.ensure, "destroy": m.destroy, "wait": m.wait, "": m.check})
		for _, b := range m.boxes {
			s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+b.id, nil)
		}
	})
}
