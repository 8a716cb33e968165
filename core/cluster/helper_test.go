package cluster_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// envNode has the id of the node that a process of the test is, envURL its database.
const (
	envNode = "PATCHBAY_TEST_NODE"
	envURL  = "PATCHBAY_TEST_NODE_URL"
)

func TestMain(m *testing.M) {
	if id := os.Getenv(envNode); id != "" {
		if err := runNode(id, os.Getenv(envURL)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// patience is how long the tests wait for what should come soon.
const patience = 60 * time.Second

// The short times of the tests, and a lease that does not end because the machine is slow.
const (
	lease     = 2 * time.Second
	beat      = 200 * time.Millisecond
	longLease = time.Minute
)

// workTable has who worked in which term of the leadership, and how often.
const workTable = `CREATE TABLE test_work (term BIGINT, holder TEXT, turns BIGINT NOT NULL, PRIMARY KEY (term, holder))`

// runNode leads, alone or not, and writes that in the database until it is told to end.
func runNode(id, url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	st, err := store.Open(ctx, store.Config{Dialect: store.Postgres, URL: url, Shared: true, MigrateWithoutCopy: true})
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.Migrate(ctx, cluster.Migrations()); err != nil {
		return err
	}
	c, err := cluster.Open(ctx, cluster.Config{Store: st, ID: id, Shared: true, Lease: lease, Beat: beat})
	if err != nil {
		return err
	}
	defer c.Close()
	c.Lead(ctx, "work", func(ctx context.Context) error { return workAsLeader(ctx, st, c, id) })
	return nil
}

// workAsLeader writes its name again and again, beside the term that is in the database at that time.
func workAsLeader(ctx context.Context, st *store.Store, c *cluster.Cluster, id string) error {
	for {
		// It goes on when its context has ended: the fence alone must hold it back.
		err := st.Tx(context.WithoutCancel(ctx), "work", func(tx context.Context) error {
			if err := c.FenceRole(tx); err != nil {
				return err
			}
			return st.Writer(tx).Exec(`INSERT INTO test_work AS w SELECT term, ?, 1 FROM core_roles WHERE role = 'work'
				ON CONFLICT (term, holder) DO UPDATE SET turns = w.turns + 1`, id).Error
		})
		if err != nil || event.Sleep(context.WithoutCancel(ctx), 5*time.Millisecond) != nil {
			return err
		}
	}
}

// open makes a node with short times, until the test ends.
func open(t *testing.T, cfg cluster.Config) *cluster.Cluster {
	t.Helper()
	if cfg.Shared && cfg.Lease == 0 {
		cfg.Lease, cfg.Beat = lease, beat
	}
	c, err := cluster.Open(t.Context(), cfg)
	testkit.Must(t, err)
	t.Cleanup(c.Close)
	return c
}

// openPair makes two nodes of one database, with long leases, and returns the store of the second.
func openPair(t *testing.T) (a, b *cluster.Cluster, st *store.Store) {
	t.Helper()
	url := testkit.Postgres(t)
	a = open(t, cluster.Config{Store: testkit.SharedStore(t, url), ID: "a", Shared: true, Lease: longLease, Beat: beat})
	st = testkit.SharedStore(t, url)
	return a, open(t, cluster.Config{Store: st, ID: "b", Shared: true, Lease: longLease, Beat: beat}), st
}

// stateOf returns the state of a node as others see it, and its roles.
func stateOf(t *testing.T, st *store.Store, id string) (cluster.State, []string) {
	t.Helper()
	nodes, err := cluster.ListNodes(t.Context(), st)
	testkit.Must(t, err)
	for _, n := range nodes {
		if n.ID == id {
			return n.State, n.Roles
		}
	}
	return "", nil
}
