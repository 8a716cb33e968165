// Package access knows the access tokens of the search service: who may use it, and how much.
package access

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// tokenRequests adds up the requests of access tokens.
type tokenRequests interface {
	// LifetimeSums returns the sums of all requests of tokens since the first one, by their ids.
	LifetimeSums(ctx context.Context, scope string, ids []string) (map[string]*audit.RequestSums, error)
}

// Config is what Access needs.
type Config struct {
	Store *store.Store
	// Cluster is this core among those of the database; nil for a core alone.
	Cluster *cluster.Cluster
	Keyring *secret.Keyring
	Logger  hclog.Logger
	Now     func() time.Time
	// Defaults are the limits of tokens that have none of their own.
	Defaults Limits
	Requests tokenRequests
	// People tells about users, whom tokens may belong to; nil where there are none.
	People People
}

// Access knows the access tokens: who may use the service, and how much.
type Access struct {
	*TokenAdmin
	table    *Table
	log      hclog.Logger
	requests tokenRequests
	people   People
	client   *firstClient
	// leases are nil for a core alone.
	leases *leasePool
}

// New makes an Access without tokens: Refresh loads them.
func New(cfg Config) *Access {
	a := &Access{
		TokenAdmin: NewTokenAdmin(cfg.Store, cfg.Keyring, cfg.Now), log: cfg.Logger, requests: cfg.Requests, people: cfg.People,
		client: &firstClient{store: &clientStore{cfg.Store}},
	}
	a.leases = openLeases(cfg.Store, cfg.Cluster, cfg.Logger)
	a.table = newTable(a.Store, cfg.Defaults, cfg.Now)
	a.table.leases = a.leases
	a.changed = func(r tokenRecord) {
		a.table.storeRecords([]tokenRecord{r})
		if cfg.Cluster.Shared() {
			_ = cfg.Cluster.Publish(context.Background(), TopicTokens, r.ID)
		}
	}
	return a
}

// TopicTokens is where cores tell each other the ids of tokens that were changed.
const TopicTokens = "search.token"

// Table returns the tokens in memory.
func (a *Access) Table() *Table { return a.table }

// LoadFirstClient reads whether a client program was seen before.
func (a *Access) LoadFirstClient(ctx context.Context) error {
	if err := a.client.loadState(ctx); err != nil {
		return fmt.Errorf("read the first client: %w", err)
	}
	return nil
}

// LoadTokens reads tokens anew, by their ids.
func (a *Access) LoadTokens(ctx context.Context, ids []string) error {
	records, err := a.Store.tokensByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("load access tokens: %w", err)
	}
	a.table.storeRecords(records)
	return nil
}

// RefreshTokens takes in what was written to tokens since a moment in Unix milliseconds, and who is disabled.
func (a *Access) RefreshTokens(ctx context.Context, since int64) error {
	records, err := a.Store.TokensSince(ctx, since)
	if err != nil {
		return fmt.Errorf("load access tokens: %w", err)
	}
	a.table.storeRecords(records)
	if a.people == nil {
		return nil
	}
	disabled, err := a.people.Disabled(ctx)
	if err != nil {
		return fmt.Errorf("load disabled owners: %w", err)
	}
	a.table.setDisabledOwners(disabled)
	return nil
}
