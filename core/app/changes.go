package app

import (
	"slices"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/settings"
)

const (
	// changeFor is how long a checked change waits to be applied, and its outcome to be looked at.
	changeFor = 30 * time.Minute
	// maxChanges is how many are kept; more drop the oldest.
	maxChanges = 64
)

// change is a proposed change of plugin.hcl with what came of it.
type change struct {
	console.Change
	user string
	// base is the digest of the file for which the change was checked; text is the file with the change.
	base     string
	text     []byte
	proposal settings.Proposal
	until    time.Time
}

// changes keeps the changes that were proposed, in memory: they may hold secrets.
type changes struct {
	mu   sync.Mutex
	list []change
}

// add keeps a change.
func (s *changes) add(c change, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(c change) bool { return now.After(c.until) })
	if len(s.list) == maxChanges {
		s.list = slices.Delete(s.list, 0, 1)
	}
	s.list = append(s.list, c)
}

// find returns a change of a user.
func (s *changes) find(user, id string, now time.Time) (change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.list {
		if c.ID == id && c.user == user && !now.After(c.until) {
			return c, nil
		}
	}
	return change{}, fault.New(fault.NotFound, "This change has expired: fill in the form again.")
}

// finish sets what came of a change, whose secrets and text are forgotten.
func (s *changes) finish(id string, outcome console.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		if s.list[i].ID == id {
			s.list[i].Change, s.list[i].text, s.list[i].proposal.Secrets = outcome, nil, nil
		}
	}
}
