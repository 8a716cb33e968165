// Package search is the token-gated search proxy: it checks the client's token and quota, chooses an upstream key,
// calls the search backend that the operator configured, and keeps an audit of all of it.
package search

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/mcp"
	"github.com/patchbay-dev/patchbay/core/store"
)

//go:embed migrations
var migrations embed.FS

// Config is what the service needs.
type Config struct {
	Store    *store.Store
	Keyring  *secret.Keyring
	Logger   hclog.Logger
	Settings Settings
	// Backends are those that Settings.Backend names, in that order.
	Backends []client.Search
	Metrics  *Metrics
	// People tells about users, whom tokens may belong to; nil where there are none.
	People People
	// Sessions ends sign-ins; nil where there are none.
	Sessions Sessions
	// Version is the core's own, for the API document.
	Version string
	// PublicURL is the absolute URL under which browsers see the core; empty if that is not known.
	PublicURL string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service is the search service.
type Service struct {
	*Admin
	cfg     Config
	tokens  *tokens
	pool    *pool
	audit   *audit
	rollups *rollups
	// live carries requests as they end.
	live     *event.Bus
	research *resources
	// guessed counts tokens that were not valid.
	guessed *limit.Limiter
	monitor *monitor
	mcp     *mcp.Endpoint
	state   atomic.Pointer[state]
	seen    atomic.Int64
	client  *firstClient
	// researchPause is the pause between two questions for a research that a tool waits for.
	researchPause time.Duration
	// looked is when a call without a usable key last asked the database for new ones.
	looking sync.Mutex
	looked  time.Time

	background sync.WaitGroup
}

// state is what a reload replaces at once.
type state struct {
	settings Settings
	chain    []*link
	// cache belongs to the chain: what other backends, or other settings of them, have answered is forgotten.
	cache      *cache
	operations map[string]operation
	routes     map[string]route
	tools      *mcp.Tools
	origins    *mcp.Origins
}

// New loads tokens, keys and counters, and ends what a crash left open. The migrations have run.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	s := &Service{Admin: NewAdmin(cfg.Store, cfg.Keyring, cfg.Now), cfg: cfg, research: newResources(), researchPause: researchPause}
	s.monitor = newMonitor(s)
	s.tokenChanged = func(r tokenRecord) { s.tokens.storeRecords([]tokenRecord{r}) }
	s.keysChanged = s.Refresh
	s.live = event.NewBus()
	s.client = &firstClient{repo: s.repo}
	s.rollups = newRollups(s.repo, cfg.Logger, cfg.Now)
	s.tokens = newTokens(s.repo, cfg.Settings.defaultLimits(), cfg.Now)
	s.pool = newPool(cfg.Now, s.keyChanged)
	var err error
	if s.guessed, err = newGuesses(cfg.Now); err != nil {
		return nil, err
	}
	if s.mcp, err = mcp.New(mcp.Config{Now: cfg.Now}); err != nil {
		return nil, fmt.Errorf("make the MCP endpoint: %w", err)
	}
	if err := s.Reload(cfg.Settings, cfg.Backends...); err != nil {
		return nil, err
	}
	if err := s.restoreState(ctx); err != nil {
		return nil, err
	}
	cfg.Metrics.watchKeys(s.pool.countStates)
	return s, nil
}

// Migrations are the schema of the service.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations("search", migrations,
		store.StoredTime{Table: "search_keys", Column: "until", Where: "deleted_at = 0", Longest: longestRest},
		store.StoredTime{Table: "search_keys", Column: "quota_synced_at", Where: "deleted_at = 0"})
}

// Reload puts new settings and the backends that they name, in that order, into use. Requests that are under way keep the
// old ones.
func (s *Service) Reload(set Settings, backends ...client.Search) error {
	commit, err := s.Prepare(set, backends...)
	if err != nil {
		return err
	}
	commit()
	return nil
}

// Prepare checks new settings and the backends that they name, in that order, and returns what puts them into use.
func (s *Service) Prepare(set Settings, backends ...client.Search) (commit func(), err error) {
	chain, err := newChain(set.Backend, backends)
	if err != nil {
		return nil, err
	}
	next := &state{settings: set, chain: chain, operations: mergeOperations(chain), routes: routesByOperation(chain), cache: newCache(maxCacheBytes)}
	if next.tools, err = mcpTools(chain); err != nil {
		return nil, err
	}
	next.origins = mcp.NewOrigins(s.cfg.PublicURL, set.BaseURL)
	return func() {
		s.pool.bindBackends(chain)
		s.tokens.setDefaults(set.defaultLimits())
		s.state.Store(next)
		if set.DevOpenAdmin {
			s.cfg.Logger.Warn("dev_open_admin is on: calls without a token are let through; never use this in production")
		}
	}, nil
}

// restoreState reads what an earlier process left.
func (s *Service) restoreState(ctx context.Context) error {
	interrupted, err := s.repo.closeInterrupted(ctx)
	if err != nil {
		return fmt.Errorf("close interrupted requests: %w", err)
	}
	if interrupted > 0 {
		s.cfg.Logger.Warn("requests were interrupted by an earlier end of the core", "rows", interrupted)
	}
	last, err := s.repo.lastRequestID(ctx)
	if err != nil {
		return fmt.Errorf("read the last request: %w", err)
	}
	if err := s.client.loadState(ctx); err != nil {
		return fmt.Errorf("read the first client: %w", err)
	}
	if err := s.refreshState(ctx, 0); err != nil {
		return err
	}
	if err := s.restoreCounters(ctx); err != nil {
		return fmt.Errorf("rebuild the counters: %w", err)
	}
	if !s.cfg.Settings.NoAudit {
		if err := s.rollups.restoreSums(ctx); err != nil {
			return fmt.Errorf("make the roll-ups anew: %w", err)
		}
		s.rollups.start()
		s.audit = newAudit(s.cfg.Store, s.cfg.Logger, last, s.recordWritten)
	}
	return nil
}

// restoreCounters rebuilds the windows of every token from the stored use: single minutes for the rolling hour, sums for
// the rest of the day and the month.
func (s *Service) restoreCounters(ctx context.Context) error {
	// The built-in token is stored nowhere, but what was used without a token is.
	s.tokens.builtinToken()
	now := s.cfg.Now()
	hour, day, month := now.Unix()/60-ringMinutes+1, dayStart(now), monthStart(now)
	recent, err := s.repo.usageSince(ctx, hour)
	if err != nil {
		return err
	}
	sums := recent
	for _, span := range [][2]int64{{month, min(day, hour)}, {max(day, month), hour}} {
		if span[0] >= span[1] {
			continue
		}
		part, err := s.repo.usageSums(ctx, span[0], span[1])
		if err != nil {
			return err
		}
		sums = append(sums, part...)
	}
	for _, u := range sums {
		if t := s.tokens.get(u.TokenID); t != nil {
			t.counter.restoreMinute(now, u)
		}
	}
	return nil
}

// Refresh takes in what other processes have written to tokens and keys.
func (s *Service) Refresh(ctx context.Context) error { return s.refreshState(ctx, s.seen.Load()) }

// refreshSlack covers clocks that differ, and transactions that wait for the writer and commit after later ones.
const refreshSlack = time.Minute

func (s *Service) refreshState(ctx context.Context, since int64) error {
	now := s.cfg.Now()
	toks, err := s.repo.tokensSince(ctx, since)
	if err != nil {
		return fmt.Errorf("load access tokens: %w", err)
	}
	s.tokens.storeRecords(toks)
	if s.cfg.People != nil {
		barred, err := s.cfg.People.Disabled(ctx)
		if err != nil {
			return fmt.Errorf("load disabled owners: %w", err)
		}
		s.tokens.setDisabledOwners(barred)
	}
	keys, err := s.repo.keysSince(ctx, since)
	if err != nil {
		return fmt.Errorf("load upstream keys: %w", err)
	}
	s.loadKeys(keys)
	s.seen.Store(now.Add(-refreshSlack).UnixMilli())
	return nil
}

// HasTokens reports whether there is any access token yet.
func (s *Service) HasTokens(ctx context.Context) (bool, error) { return s.repo.hasTokens(ctx) }

// Ready is an error while the service cannot do its work.
func (s *Service) Ready() error {
	if s.audit != nil && !s.audit.healthy() {
		return errors.New("audit rows cannot be written")
	}
	return nil
}

// recordWritten counts the requests of one write, and publishes those that have ended in the order of their ids.
func (s *Service) recordWritten(inserts, updates []entry) {
	s.rollups.addEntries(inserts)
	s.rollups.addEntries(updates)
	if !s.live.Heard(topicRequests) {
		return
	}
	// A row that was written open is an update now, beside the inserts of requests that began after it.
	written := slices.Concat(inserts, updates)
	slices.SortFunc(written, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	for i := range written {
		if written[i].Outcome != Open {
			s.live.Publish(topicRequests, event.Event{Type: "request", Data: written[i].toLog()})
		}
	}
}

// Flush waits until the audit of all requests that have ended is written, roll-ups included.
func (s *Service) Flush(ctx context.Context) error {
	if s.audit == nil {
		return nil
	}
	if err := s.audit.flush(ctx); err != nil {
		return err
	}
	return s.rollups.flush(ctx)
}

// Close writes the rest of the audit. No request may be under way.
func (s *Service) Close() {
	s.monitor.close()
	s.background.Wait()
	if s.audit != nil {
		s.audit.close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		s.rollups.close(ctx)
	}
}
