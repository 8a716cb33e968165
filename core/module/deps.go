package module

import (
	"errors"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Deps is what the core gives to a service for as long as it runs.
type Deps struct {
	Store   *store.Store
	Keyring *secret.Keyring
	// Logger has the name of the service.
	Logger  hclog.Logger
	Metrics prometheus.Registerer
	Bus     *event.Bus
	Queue   *queue.Queue
	Users   *auth.Users
	// Cluster is this core among those that use the database.
	Cluster *cluster.Cluster
	Notify  *notify.Sender
	// Channels keeps the settings of the channels to which Notify sends.
	Channels *channels.Manager
	// Observe is called after each call to an instance.
	Observe client.Observer
	// DataDir is the absolute path of the data directory.
	DataDir string
	// Version is the core's own.
	Version string
}

// Configuration is what plugin.hcl says at a start or at a reload.
type Configuration struct {
	// Settings is of the type that Definition.Settings returns.
	Settings Settings
	// Instances finds the instances that the settings name.
	Instances Instances
	Front     Front
}

// Front is how people reach the core, and who is let in.
type Front struct {
	// HTTPAddr is where the core listens, PublicURL what browsers see, empty if that is not known.
	HTTPAddr, PublicURL string
	TrustedProxies      []string
	Access              auth.Access
}

// Instances finds instances by their references: those that run, or those of the next configuration.
type Instances interface {
	// Handle returns the handle by which an instance is called. It fails for one that is left out.
	Handle(ref string) (*catalog.Handle, error)
	// Instance returns the instance that the handle leads to, or nil.
	Instance(ref string) *catalog.Instance
}

// OpenInstances makes a client of each instance by open. It returns the references and clients of those that there are, in
// the order of refs, and the joined errors of the others; skip, which is not nil, is called for each of these.
func OpenInstances[T any](refs []string, from Instances, open func(*catalog.Handle) T,
	skip func(ref string, err error)) (found []string, clients []T, missing error) {
	for _, ref := range refs {
		h, err := from.Handle(ref)
		if err != nil {
			skip(ref, err)
			missing = errors.Join(missing, err)
			continue
		}
		found, clients = append(found, ref), append(clients, open(h))
	}
	return found, clients, missing
}
