package app

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/metric"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// joinNodes makes this core known among the nodes of its database.
func joinNodes(ctx context.Context, a *App) (err error) {
	about := cluster.About{Version: a.cfg.Version, URL: a.set.Core.PublicURL}
	for _, s := range a.set.Services {
		about.Services = append(about.Services, s.Name)
	}
	for _, in := range a.set.File.Instances {
		about.Instances = append(about.Instances, in.Ref())
	}
	slices.Sort(about.Instances)
	if a.set.Backup != nil {
		about.Backups = a.set.Backup.To
	}
	log := a.log.ResetNamed("node")
	a.cluster, err = cluster.Open(ctx, cluster.Config{Store: a.store, Logger: log, ID: a.set.NodeID(), Shared: a.store.Shared(), About: about,
		Ended: func(ctx context.Context, node string) error {
			if q := a.startedQueue.Load(); q != nil {
				return q.RecoverNode(ctx, node)
			}
			return nil // the queue recovers its jobs when it starts, or another node does
		}})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, a.cluster.Close)
	if a.store.Shared() {
		others, err := cluster.ListNodes(ctx, a.store)
		if err != nil {
			return err
		}
		for _, difference := range about.Differences(others) {
			log.Warn("the nodes should have the same plugin.hcl", "node", difference)
		}
	}
	watchNodes(a.registry, a.store, a.cluster)
	return nil
}

// watchNodes registers how the nodes of the database are doing, and whether this one takes work.
func watchNodes(reg prometheus.Registerer, st *store.Store, c *cluster.Cluster) {
	reg.MustRegister(metric.NewCounts("patchbay_nodes", "Cores that use the database, or did within seven days, by state.", "state",
		func(ctx context.Context) (map[string]int64, error) {
			counts := map[string]int64{}
			for _, state := range cluster.States() {
				counts[string(state)] = 0
			}
			nodes, err := cluster.ListNodes(ctx, st)
			for _, n := range nodes {
				counts[string(n.State)]++
			}
			return counts, err
		}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "patchbay_node_draining", Help: "1 while this node takes no new work, else 0.",
	}, func() float64 {
		if c.Draining() {
			return 1
		}
		return 0
	}))
}

// consoleNodes is what the console's page about nodes asks; nil for a database that no other core can use.
func consoleNodes(a *App) console.Nodes {
	if a.store.Dialect() != store.Postgres {
		return nil
	}
	return nodeList{a}
}

// nodeList implements console.Nodes.
type nodeList struct{ app *App }

func (n nodeList) List(ctx context.Context) ([]cluster.Node, error) {
	nodes, err := cluster.ListNodes(ctx, n.app.store)
	if err != nil {
		return nil, err
	}
	return nodes, queue.CountNodeJobs(ctx, n.app.store, nodes)
}

func (n nodeList) SetDrain(ctx context.Context, id string, drain bool) error {
	return cluster.SetDrain(ctx, n.app.store, id, drain)
}

func (n nodeList) Self() string { return n.app.cluster.ID() }
