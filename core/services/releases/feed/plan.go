package feed

import (
	"context"
	"sync"
	"time"
)

const (
	// planFor is how long the choice of a plan holds.
	planFor = time.Minute
	// maxPlans bounds the choices that are kept.
	maxPlans = 10_000
)

// plan is how the releases of a user are best found: by walking through all releases, or by looking through those of the user's
// repositories. It changes how long a query takes, and nothing else.
type plan struct {
	byRepo bool
	until  time.Time
}

// plans are the choices for users.
type plans struct {
	mu    sync.Mutex
	known map[string]plan
}

// find returns the choice for a user that still holds.
func (p *plans) find(userID string, now time.Time) (plan, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.known[userID]
	return found, ok && now.Before(found.until)
}

// keep keeps the choice for a user.
func (p *plans) keep(userID string, chosen plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxPlans {
		clear(p.known)
	}
	p.known[userID] = chosen
}

// narrowByRepo returns the condition that has the database begin with the user's repositories, where that is less work than
// walking through all releases.
func (s *Store) narrowByRepo(ctx context.Context, q Query) (condition string, values []any, err error) {
	now := time.Now()
	chosen, ok := s.plans.find(q.UserID, now)
	if !ok {
		var n struct{ Mine, Total int64 }
		// The highest id is about how many releases there are: to add them up reads all repositories.
		err := s.store.DB(ctx).Raw("SELECT (SELECT COALESCE(MAX(id), 0) FROM release_entries) AS total, COALESCE(SUM(release_count), 0) AS mine FROM release_repos "+
			"WHERE id IN (SELECT repo_id FROM release_links WHERE user_id IN (?, '') AND visible)", q.UserID).Scan(&n).Error
		if err != nil {
			return "", nil, err
		}
		// Of all releases, one in total/mine is the user's.
		chosen = plan{byRepo: n.Mine*n.Mine < int64(q.Limit)*n.Total, until: now.Add(planFor)}
		s.plans.keep(q.UserID, chosen)
	}
	if !chosen.byRepo {
		return "", nil, nil
	}
	return " AND e.repo_id IN (SELECT l.repo_id FROM release_links l WHERE l.user_id IN (?, '') AND l.visible)", []any{q.UserID}, nil
}
