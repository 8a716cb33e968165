package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// About is what a node says of itself.
type About struct {
	// Version is that of its program, URL where people reach it, if that is known.
	Version string `json:"version"`
	URL     string `json:"url,omitempty"`
	// Host is the name of its machine, PID its process there.
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Services are those that are switched on there, Instances the references of the plugins.
	Services  []string `json:"services,omitempty"`
	Instances []string `json:"instances,omitempty"`
	// Places are where it is among the places to which jobs belong, as the engines of containers.
	Places []string `json:"places,omitempty"`
	// Backups is the directory of its backups.
	Backups string `json:"backups,omitempty"`
}

// State is how a node is doing.
type State string

// The states. A lost node has not confirmed its lease in time.
const (
	Running  State = "running"
	Draining State = "draining"
	Lost     State = "lost"
	Stopped  State = "stopped"
)

// States returns all states, those of running cores first.
func States() []State { return []State{Running, Draining, Lost, Stopped} }

// Node is a core that uses the database, or did within the last seven days.
type Node struct {
	About
	ID    string
	State State
	Epoch int64
	// Roles are those in which it leads.
	Roles []string
	// Started and Seen are times of the database's clock. Ago is how long ago it was seen, by that clock.
	Started, Seen time.Time
	Ago           time.Duration
	// Jobs is how many jobs run there, once queue.CountNodeJobs has noted it.
	Jobs int64
}

// Works reports whether the node runs and has not been lost.
func (n Node) Works() bool { return n.State == Running || n.State == Draining }

// nodeRow is a row of core_nodes, with the time of the database.
type nodeRow struct {
	ID        string
	Epoch     int64
	Boot      string
	LeaseMs   int64
	About     string
	Drain     bool
	StartedAt int64
	SeenAt    int64
	EndedAt   int64
	Now       int64
}

const nodeColumns = "id, epoch, boot, lease_ms, about, drain, started_at, seen_at, ended_at"

// isLive reports whether the lease has not ended.
func (r nodeRow) isLive() bool { return r.EndedAt == 0 && r.Now-r.SeenAt < r.LeaseMs }

func (r nodeRow) findState() State {
	switch {
	case r.EndedAt > 0 && r.SeenAt+r.LeaseMs > r.EndedAt:
		return Stopped
	case !r.isLive():
		return Lost
	case r.Drain:
		return Draining
	}
	return Running
}

// ListNodes returns the nodes of a database, by their ids. Commands use it beside a core.
func ListNodes(ctx context.Context, s *store.Store) ([]Node, error) {
	var rows []nodeRow
	if err := s.DB(ctx).Raw("SELECT " + nodeColumns + ", " + store.ClockSQL(s) + " AS now FROM core_nodes ORDER BY id").Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the nodes: %w", err)
	}
	var leaders []struct{ Role, Node string }
	err := s.DB(ctx).Raw("SELECT role, node FROM core_roles WHERE until_at > " + store.ClockSQL(s) + " ORDER BY role").Scan(&leaders).Error
	if err != nil {
		return nil, fmt.Errorf("read the roles of the nodes: %w", err)
	}
	out := make([]Node, len(rows))
	for i, r := range rows {
		out[i] = Node{ID: r.ID, State: r.findState(), Epoch: r.Epoch, Started: store.FromMillis(r.StartedAt), Seen: store.FromMillis(r.SeenAt),
			Ago: time.Duration(r.Now-r.SeenAt) * time.Millisecond}
		if err := json.Unmarshal([]byte(r.About), &out[i].About); err != nil {
			return nil, fmt.Errorf("read what node %s says of itself: %w", r.ID, err)
		}
		for _, l := range leaders {
			if l.Node == r.ID+"/"+strconv.FormatInt(r.Epoch, 10) {
				out[i].Roles = append(out[i].Roles, l.Role)
			}
		}
	}
	return out, nil
}

// ListRunning returns the ids of the nodes that run, none before the tables of nodes are there. It may be called before Migrate.
func ListRunning(ctx context.Context, s *store.Store) (ids []string, err error) {
	var there bool
	if err := s.DB(ctx).Raw("SELECT to_regclass('core_nodes') IS NOT NULL").Scan(&there).Error; err != nil || !there {
		return nil, err
	}
	nodes, err := ListNodes(ctx, s)
	for _, n := range nodes {
		if n.Works() {
			ids = append(ids, n.ID)
		}
	}
	return ids, err
}

// RunsVersion reports whether a node runs with a version of the program.
func RunsVersion(ctx context.Context, s *store.Store, id, version string) (bool, error) {
	nodes, err := ListNodes(ctx, s)
	return slices.ContainsFunc(nodes, func(n Node) bool { return n.ID == id && n.Version == version && n.Works() }), err
}

// Differences returns what a node says of itself that the running nodes, whose ids begin the texts, do not say: its services, its
// instances, where its backups go.
func (a About) Differences(others []Node) (out []string) {
	for _, n := range others {
		if !n.Works() {
			continue
		}
		for _, d := range []struct{ what, ours, theirs string }{
			{"services", strings.Join(a.Services, " "), strings.Join(n.Services, " ")},
			{"instances", strings.Join(a.Instances, " "), strings.Join(n.Instances, " ")},
			{"backup directory", a.Backups, n.Backups},
		} {
			if d.ours != d.theirs {
				out = append(out, fmt.Sprintf("%s has other %s: %q, here %q", n.ID, d.what, d.theirs, d.ours))
			}
		}
	}
	return out
}

// SetPlaces says at which places this node is, instead of those that it has named before.
func (c *Cluster) SetPlaces(ctx context.Context, places []string) error {
	c.mu.Lock()
	epoch := c.epoch
	c.cfg.About.Places = slices.Clone(places)
	about, err := json.Marshal(c.cfg.About)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	err = c.store.QueueTx(ctx, "name the places of a node", func(ctx context.Context) error {
		return c.store.Writer(ctx).Exec("UPDATE core_nodes SET about = ? WHERE id = ? AND epoch = ?", string(about), c.cfg.ID, epoch).Error
	})
	if err != nil {
		return fmt.Errorf("name the places of node %s: %w", c.cfg.ID, err)
	}
	return nil
}

// SetDrain asks a node to take no new work, or to take it again. The node follows within a few seconds.
func SetDrain(ctx context.Context, s *store.Store, id string, drain bool) error {
	return s.Tx(ctx, "drain a node", func(ctx context.Context) error {
		done := s.Writer(ctx).Exec("UPDATE core_nodes SET drain = ? WHERE id = ? AND ended_at = 0", drain, id)
		if done.Error == nil && done.RowsAffected == 0 {
			return fault.New(fault.NotFound, "No running node has the id %q. patchbay node list shows them.", id)
		}
		return done.Error
	})
}
