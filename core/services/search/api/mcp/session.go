package mcp

import (
	"container/list"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// session is what is kept of a client between its requests. The fields below running belong to sessions.
type session struct {
	id, token, version string

	// running has the calls under way by the key of the client's id.
	running map[string]runningCall
	used    time.Time
	place   *list.Element
}

// runningCall is a call by the id that it has in its exchange.
type runningCall struct {
	exchange *exchange
	id       jsonrpc.ID
}

// sessions keeps sessions by id, bounded in number and in idle time. What is over time goes when somebody looks.
type sessions struct {
	cfg Config

	mu   sync.Mutex
	byID map[string]*session
	held map[string]int // by token
	// rest has the session that was used last at its front.
	rest *list.List
}

func newSessions(cfg Config) *sessions {
	return &sessions{cfg: cfg, byID: map[string]*session{}, held: map[string]int{}, rest: list.New()}
}

// beginSession makes a session.
func (s *sessions) beginSession(token, version string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	for last := s.rest.Back(); last != nil && s.isOver(last.Value.(*session), now); last = s.rest.Back() {
		s.removeSession(last.Value.(*session))
	}
	if s.held[token] >= max(1, s.cfg.MaxSessions/10) {
		s.removeOldest(token)
	}
	if len(s.byID) >= s.cfg.MaxSessions {
		s.removeSession(s.rest.Back().Value.(*session))
	}
	made := &session{id: s.cfg.NewID(), token: token, version: version, running: map[string]runningCall{}, used: now}
	made.place = s.rest.PushFront(made)
	s.byID[made.id] = made
	s.held[token]++
	return made
}

func (s *sessions) isOver(x *session, now time.Time) bool {
	return len(x.running) == 0 && now.Sub(x.used) >= s.cfg.Idle
}

func (s *sessions) removeOldest(token string) {
	for at := s.rest.Back(); at != nil; at = at.Prev() {
		if x := at.Value.(*session); x.token == token {
			s.removeSession(x)
			return
		}
	}
}

// removeSession ends a session and what runs in it.
func (s *sessions) removeSession(x *session) {
	if s.byID[x.id] != x {
		return
	}
	delete(s.byID, x.id)
	s.rest.Remove(x.place)
	if s.held[x.token]--; s.held[x.token] == 0 {
		delete(s.held, x.token)
	}
	for _, run := range x.running {
		run.exchange.cancel()
	}
}

// findSession gives the session of an id if it is the token's and not over, and notes that it is used.
func (s *sessions) findSession(id, token string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if x == nil || x.token != token {
		return nil
	}
	now := s.cfg.Now()
	if s.isOver(x, now) {
		s.removeSession(x)
		return nil
	}
	s.touchSession(x, now)
	return x
}

func (s *sessions) touchSession(x *session, now time.Time) {
	if s.byID[x.id] == x {
		x.used = now
		s.rest.MoveToFront(x.place)
	}
}

// endSession ends a session of a token; false if there is none.
func (s *sessions) endSession(id, token string) bool {
	x := s.findSession(id, token)
	if x == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeSession(x)
	return true
}

// startCalls notes that calls run in a session; false if one of their ids is in use.
func (s *sessions) startCalls(x *session, run *exchange, m *messages) bool {
	if x == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range m.clients {
		if x.running[c.key].exchange != nil {
			return false
		}
	}
	for i, c := range m.clients {
		x.running[c.key] = runningCall{run, m.calls[i].ID}
	}
	return true
}

func (s *sessions) endCalls(x *session, m *messages) {
	if x == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range m.clients {
		delete(x.running, c.key)
	}
	s.touchSession(x, s.cfg.Now())
}

// cancelCall passes a cancellation on to the call that it names, if that still runs.
func (s *sessions) cancelCall(x *session, n *jsonrpc.Request) {
	var params map[string]json.RawMessage
	if json.Unmarshal(n.Params, &params) != nil || len(params["requestId"]) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := x.running[idKey(params["requestId"])]; run.exchange != nil {
		run.exchange.cancelCall(run.id)
	}
}
