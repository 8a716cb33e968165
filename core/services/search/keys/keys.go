// Package keys manages the upstream keys of the search service, and chooses the one of each call.
package keys

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// askPause is how long the database is not asked again for new keys.
const askPause = time.Second

// Upstream is a backend whose upstream tells about keys.
type Upstream interface {
	// KeyStatus asks what a key is good for.
	KeyStatus(ctx context.Context, key schema.Secret) (*sdk.KeyStatus, error)
}

// keyRequests adds up the requests with upstream keys.
type keyRequests interface {
	// LifetimeSums returns the sums of all requests with keys since the first one, by their ids.
	LifetimeSums(ctx context.Context, scope string, ids []string) (map[string]*audit.RequestSums, error)
}

// invalidKeyReporter tells people of keys that were found invalid.
type invalidKeyReporter interface {
	// ReportInvalidKey tells of a key, in the transaction of ctx.
	ReportInvalidKey(ctx context.Context, id, reason string) error
}

// Config is what Keys needs.
type Config struct {
	Store *store.Store
	// Cluster is this core among those of the database; nil for a core alone.
	Cluster *cluster.Cluster
	Keyring *secret.Keyring
	Logger  hclog.Logger
	Now     func() time.Time
	// Backend returns the backend that keys of a group are for; nil if no backend needs keys.
	Backend  func(group string) Upstream
	Requests keyRequests
	Reporter invalidKeyReporter
	// Refresh takes in what other processes have written.
	Refresh func(context.Context) error
}

// Keys manages the upstream keys of the service, and chooses the one of each call.
type Keys struct {
	*KeyAdmin
	cfg  Config
	log  hclog.Logger
	pool *Pool

	// asking guards asked, which is when a call without a usable key last asked the database for new ones.
	asking sync.Mutex
	asked  time.Time

	background sync.WaitGroup
}

// New makes a Keys with an empty pool: RefreshKeys loads it.
func New(cfg Config) *Keys {
	k := &Keys{KeyAdmin: NewKeyAdmin(cfg.Store, cfg.Keyring, cfg.Now), cfg: cfg, log: cfg.Logger}
	k.changed = func(ctx context.Context, ids ...string) error {
		k.publishKeys(ctx, ids)
		return cfg.Refresh(ctx)
	}
	k.pool = newPool(cfg.Now, k.KeyChanged)
	return k
}

// TopicKeys is where cores tell each other the ids of keys that were changed.
const TopicKeys = "search.key"

// publishKeys tells other cores that keys were changed.
func (k *Keys) publishKeys(ctx context.Context, ids []string) {
	if !k.cfg.Cluster.Shared() {
		return
	}
	for _, id := range ids {
		_ = k.cfg.Cluster.Publish(ctx, TopicKeys, id)
	}
}

// Pool returns the keys in memory.
func (k *Keys) Pool() *Pool { return k.pool }

// RefreshKeys takes in what was written to keys since a moment in Unix milliseconds.
func (k *Keys) RefreshKeys(ctx context.Context, since int64) error {
	records, err := k.Store.KeysSince(ctx, since)
	if err != nil {
		return fmt.Errorf("load upstream keys: %w", err)
	}
	k.LoadKeys(records)
	return nil
}

// ReloadKeys reads keys anew, by their ids.
func (k *Keys) ReloadKeys(ctx context.Context, ids []string) error {
	records, err := k.Store.keysByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("load upstream keys: %w", err)
	}
	k.LoadKeys(records)
	return nil
}

// Wait waits until the states that answers have caused are stored.
func (k *Keys) Wait() { k.background.Wait() }

// LoadKeys opens the sealed keys and takes them into the pool. One that cannot be opened is left out and reported.
func (k *Keys) LoadKeys(records []KeyRecord) {
	var live []*key
	deleted := map[string]int64{}
	for _, r := range records {
		if r.DeletedAt != 0 {
			deleted[r.ID] = r.UpdatedAt
			continue
		}
		plain, err := k.keyring.Open(r.Sealed, "search_keys", r.ID, "sealed")
		if err != nil {
			k.log.Error("cannot decrypt a provider key; is this the right master key?", "key", r.ID, "error", err)
			deleted[r.ID] = r.UpdatedAt
			continue
		}
		one := &key{id: r.ID, value: schema.Secret(plain), group: r.GroupName, state: r.State, reason: r.Reason, updated: r.UpdatedAt}
		if r.Until != 0 {
			one.until = time.UnixMilli(r.Until)
		}
		live = append(live, one)
	}
	k.pool.loadKeys(live, deleted)
}

// LoadNewKeys takes in what the command line may just have added. It asks the database at most once a second; calls that
// come meanwhile wait for the answer.
func (k *Keys) LoadNewKeys(ctx context.Context) {
	k.asking.Lock()
	defer k.asking.Unlock()
	now := k.now()
	if now.Sub(k.asked) < askPause {
		return
	}
	k.asked = now
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := k.cfg.Refresh(ctx); err != nil {
		k.log.Error("cannot read provider keys", "error", err)
	}
}

// KeyChanged stores what an answer has said about a key. It runs beside the request.
func (k *Keys) KeyChanged(id string, state KeyState, reason string, until, now time.Time) {
	k.log.Warn("provider key changed", "key", id, "state", state, "reason", reason, "until", until)
	k.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err := k.store.Tx(ctx, "mark upstream key", func(ctx context.Context) error {
			stored, err := k.Store.SetKeyState(ctx, id, state, reason, store.Millis(until), now.UnixMilli())
			if stored && err == nil {
				k.publishKeys(ctx, []string{id})
			}
			if stored && err == nil && state == KeyInvalid {
				err = k.cfg.Reporter.ReportInvalidKey(ctx, id, reason)
			}
			return err
		})
		if err != nil {
			k.log.Error("cannot store the state of a provider key", "key", id, "error", err)
		}
	})
}

// KeyStates counts the upstream keys by state.
func (k *Keys) KeyStates() map[KeyState]int { return k.pool.CountStates() }
