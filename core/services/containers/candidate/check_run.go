package candidate

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// CheckJob is the payload of JobCheck.
type CheckJob struct {
	work.Subject
	// Delivery is the webhook that asked for the check; nil for others.
	Delivery *work.DeliverySource `json:"delivery,omitempty"`
}

// checkRun is one run of a check.
type checkRun struct {
	s        *Candidates
	r        *work.Reporter
	platform record.Platform
	runtime  map[string]project.RuntimeState
	// refs are the images of the services, by the service's id.
	refs   map[string]image.Ref
	total  int
	failed atomic.Int64
	// turns bound how many services the registries are asked about at once.
	turns chan struct{}
	// background is what goes on beside the job's own goroutine until it ends.
	background sync.WaitGroup

	mu       sync.Mutex
	findings []checkResult
	// wanted ask for the versions behind digests, once the findings are stored.
	wanted   []func()
	reported time.Time
	// known are the digests about which a reference's answer needs no details; observed tells that the engine has said what runs.
	known    map[string]map[string][]record.ManifestPlatform
	observed bool
	// asked are the references that were asked for, so that services with the same image cost one request.
	asked map[string]*answer
}

// answer is what a reference resolves to.
type answer struct {
	once sync.Once
	res  *registry.Resolved
	err  error
	// ahead tells that the registry was asked before the engine has said what runs.
	ahead bool
}
