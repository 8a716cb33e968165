package mcp

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// session is what is kept of a client between its requests. The fields below running belong to sessions.
type session struct {
	id, token, version string
	// hash is what other cores know the session by.
	hash string

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

// sessions keeps sessions by id, bounded in number and in idle time. What is over time goes when somebody looks. A session that was made by
// another core, or before a restart, is taken in by its id, which only a core with the same master key can make.
type sessions struct {
	cfg Config

	mu   sync.Mutex
	byID map[string]*session
	held map[string]int // by token
	// rest has the session that was used last at its front.
	rest *list.List
	// gone has the hashes of sessions that are over, the oldest of which are forgotten.
	gone      map[string]bool
	goneOrder []string
}

func newSessions(cfg Config) *sessions {
	return &sessions{cfg: cfg, byID: map[string]*session{}, held: map[string]int{}, rest: list.New(), gone: map[string]bool{}}
}

// beginSession makes a session.
func (s *sessions) beginSession(token, version string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addSession(s.cfg.sealID(token, version, s.cfg.Now()), token, version)
}

// addSession keeps a session. The caller holds the mutex.
func (s *sessions) addSession(id, token, version string) *session {
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
	made := &session{id: id, hash: hashID(id), token: token, version: version, running: map[string]runningCall{}, used: now}
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

// removeSession ends a session and what runs in it. Where it may go on at other cores, it can come back from there.
func (s *sessions) removeSession(x *session) {
	if s.byID[x.id] != x {
		return
	}
	delete(s.byID, x.id)
	if !s.cfg.Shared.HasOthers() {
		s.markGone(x.hash)
	}
	s.rest.Remove(x.place)
	if s.held[x.token]--; s.held[x.token] == 0 {
		delete(s.held, x.token)
	}
	for _, run := range x.running {
		run.exchange.cancel()
	}
}

// markGone notes that a session is over. The caller holds the mutex.
func (s *sessions) markGone(hash string) {
	if s.gone[hash] {
		return
	}
	s.gone[hash] = true
	if s.goneOrder = append(s.goneOrder, hash); len(s.goneOrder) > s.cfg.MaxSessions {
		delete(s.gone, s.goneOrder[0])
		s.goneOrder = s.goneOrder[1:]
	}
}

// findSession gives the session of an id if it is the token's and not over, and notes that it is used. A session that another core has
// ended is over here at once, also if this core has not heard of it.
func (s *sessions) findSession(ctx context.Context, id, token string) (*session, error) {
	if x, known := s.findKept(id, token); known && (x == nil || !s.cfg.Shared.HasOthers()) {
		return x, nil
	}
	version, ok := s.cfg.openID(id, token)
	if !ok {
		return nil, nil
	}
	ended, err := s.cfg.Shared.IsEnded(ctx, hashID(id))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if ended {
		s.markGone(hashID(id))
	}
	switch {
	case ended && x != nil:
		s.removeSession(x)
		return nil, nil
	case x == nil && !s.gone[hashID(id)]:
		return s.addSession(id, token, version), nil
	}
	return x, nil
}

// findKept is findSession for what is known here; known says that there is nothing else to ask.
func (s *sessions) findKept(id, token string) (x *session, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x = s.byID[id]; x == nil {
		return nil, s.gone[hashID(id)]
	}
	if x.token != token {
		return nil, true
	}
	x = s.touchUnlessOver(x)
	return x, x != nil || s.gone[hashID(id)]
}

// touchUnlessOver notes that a session is used, or returns nil if it is over. The caller holds the mutex.
func (s *sessions) touchUnlessOver(x *session) *session {
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

// endSession ends a session of a token, for all cores; false if there is none.
func (s *sessions) endSession(ctx context.Context, id, token string) (bool, error) {
	x, err := s.findSession(ctx, id, token)
	if x == nil || err != nil {
		return false, err
	}
	if err := s.cfg.Shared.End(ctx, x.hash, s.cfg.Now().Add(SessionLifetime)); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.markGone(x.hash)
	s.removeSession(x)
	return true, nil
}

// dropEnded ends the sessions here that another core has ended.
func (s *sessions) dropEnded(hashes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := map[string]bool{}
	for _, h := range hashes {
		ended[h] = true
		s.markGone(h)
	}
	for _, x := range s.byID {
		if ended[x.hash] {
			s.removeSession(x)
		}
	}
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

// cancelHashed passes a cancellation on that came to another core.
func (s *sessions) cancelHashed(session, call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.byID {
		if x.hash != session {
			continue
		}
		for key, run := range x.running {
			if hashID(key) == call {
				run.exchange.cancelCall(run.id)
			}
		}
	}
}

// cancelCall passes a cancellation on to the call that it names, if that still runs, here or at another core.
func (s *sessions) cancelCall(x *session, n *jsonrpc.Request) {
	var params map[string]json.RawMessage
	if json.Unmarshal(n.Params, &params) != nil || len(params["requestId"]) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := idKey(params["requestId"])
	if run := x.running[key]; run.exchange != nil {
		run.exchange.cancelCall(run.id)
		return
	}
	s.cfg.Shared.Cancel(x.hash, hashID(key))
}
