// Package module says what a service is to the core. A service declares itself in a Definition, which its package
// core/services/<name>/module registers; the core opens, mounts, reloads and closes all of them alike.
package module

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Definition is what is fixed about a service.
type Definition struct {
	// Name is the label of its block in plugin.hcl, the scope of API keys that are confined to it, and the beginning of the ids
	// of its texts.
	Name string
	// Order is its place among the services, lowest first: in the navigation, and at starts.
	Order int
	// Settings returns a pointer to a zero value of its block. Attributes with ref name the instances that it uses, and
	// base_url says where it is mounted.
	Settings func() Settings
	// Migrations are its schema. The zero value is a service without tables.
	Migrations store.Migrations
	// EndGrants is auth.Grant.End for what it hands out to users; nil for a service that hands out nothing.
	EndGrants func(ctx context.Context, s *store.Store, userID string, now time.Time) error
	// Open makes the service. What it needs of the queue, it may use from Start on.
	Open func(context.Context, Deps, Configuration) (Service, error)
	// Commands returns what it adds to the command line; nil for nothing.
	Commands func(CommandLine) []*cobra.Command
}

// Settings is the block of a service, decoded.
type Settings interface {
	// Check finds what the types of the settings cannot express.
	Check() schema.Diagnostics
}

// Service is one that is switched on. It may implement Starter, Refresher, ReadinessChecker, ImpairmentChecker, Indexer and Guide as well.
type Service interface {
	// Prepare checks another configuration, without effect, and returns what puts it into use.
	Prepare(Configuration) (commit func(), err error)
	// MountAt returns the routes of its API, for the value of base_url that is in use.
	MountAt(baseURL string) (httpd.Mount, error)
	// Pages returns its pages, whose routes are added to the mount.
	Pages(Address) (ui.Section, error)
	// Jobs and Schedules return its work in the background.
	Jobs() []queue.Handler
	Schedules() []queue.Schedule
	// Close ends what Open and Start began. No request is under way, and the queue has stopped.
	Close()
}

// Starter is a service that begins something by itself.
type Starter interface {
	// Start is called once, when the queue works.
	Start(context.Context) error
}

// Refresher is a service that keeps something of the database in memory.
type Refresher interface {
	// Refresh takes in what others have written: users who were disabled or enabled, and all changes by other processes.
	Refresh(context.Context) error
}

// ReadinessChecker is a service that may be unable to work by itself.
type ReadinessChecker interface {
	// Ready returns why the service cannot work, or nil.
	Ready() error
}

// ImpairmentChecker is a service of which a part may not work, such as a listener whose address is taken. The core stays ready.
type ImpairmentChecker interface {
	// Impaired returns what does not work and what to do, or nil.
	Impaired() error
}

// Indexer is a service that answers from what is indexed.
type Indexer interface {
	// IsIndexed reports whether a newcomer may ask: what a first start has to index is indexed. It is true after that.
	IsIndexed(context.Context) bool
}

// Guide is a service that has something to say to a newcomer.
type Guide interface {
	// FirstSteps returns what to do first, for a terminal; "" once that is done.
	FirstSteps(context.Context, Invocation) (string, error)
}

// Warner is implemented by settings that are not for production.
type Warner interface {
	// Warnings returns the ids of texts that every page shows while the settings are in use.
	Warnings() []string
}

// Address is where a service is mounted.
type Address struct {
	// Path is the path of its base URL; URL the whole base URL, as far as the configuration tells.
	Path, URL string
}

// Invocation is how the core was started.
type Invocation struct {
	// Program is the core's binary and Config the path of plugin.hcl, as they were given; URL is where a person on this
	// machine reaches the service, without a slash at its end.
	Program, Config, URL string
}

// definitions are those that were registered; packages do so while they are initialised, and nobody afterwards.
var definitions []Definition

// Register adds a service to Registered. It is called while packages are initialised.
func Register(d Definition) { definitions = append(definitions, d) }

// Registered returns the services whose packages are part of the binary, in their order.
func Registered() []Definition {
	return slices.SortedFunc(slices.Values(definitions), func(a, b Definition) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
	})
}

// Grants returns what services hand out to users.
func Grants(all []Definition) (grants []auth.Grant) {
	for _, d := range all {
		if d.EndGrants != nil {
			grants = append(grants, auth.Grant{Service: d.Name, End: d.EndGrants})
		}
	}
	return grants
}

// Names returns the names of services.
func Names(all []Definition) (names []string) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}
