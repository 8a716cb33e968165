// Package drift compares what runs of a service with what compose would create from its files.
package drift

import (
	"context"
	"sync"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// FieldConfig is the field of a difference that only compose's own hash tells.
const FieldConfig = "config"

// Drift is one difference between what runs and what compose would create from the files as they are now. Values are not
// told: those of the environment are secrets.
type Drift struct {
	Field  string `json:"field" enum:"environment,command,entrypoint,user,workingDir,mount,network,networkMode,pidMode,ipcMode,port,label,memory,cpus,pids,restart,privileged,capabilities,hostname,domainname,dns,dnsOpt,dnsSearch,extraHosts,groupAdd,readOnly,tty,stdinOpen,securityOpt,sysctls,storageOpt,tmpfs,uts,usernsMode,cgroup,cgroupParent,runtime,oomScoreAdj,oomKillDisable,shmSize,memReservation,memswapLimit,cpuShares,cpuset,deviceCgroupRules,devices,ulimits,init,logging,stopSignal,stopGracePeriod,healthcheck,networkAliases,networkAddresses,macAddress,config"`
	Name   string `json:"name,omitempty" doc:"Which one, where there are several: the name of a variable or label, a path, a network, a port." example:"DB_HOST"`
	Change string `json:"change" enum:"added,removed,changed" doc:"What recreating would do."`
}

// Changes of a Drift.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// ServiceDrift is what recreating a service would change besides its image.
type ServiceDrift struct {
	ServiceID string `json:"serviceId"`
	// Name is that of stack and service.
	Name  string  `json:"name" example:"blog / web"`
	Drift []Drift `json:"drift"`
	// Unresolved are variables without a value, while what runs was made with one.
	Unresolved []string `json:"unresolvedVariables"`
}

// inheritedVariables are those of this process that the engine's plugin has too, and compose gets from it.
var inheritedVariables = []string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// Host is what the room asks of the host that the stacks run on.
type Host interface {
	Engine() client.Engine
	// ContainersOf returns the containers of a service, or with "" of all services of a project.
	ContainersOf(ctx context.Context, project, service string) ([]engine.Container, error)
	ComposeSource(st *record.Stack) compose.Source
	ComposeRequest(st *record.Stack, call host.ComposeCall) engine.ComposeRequest
	// RefuseFiles returns an error if files of a stack may not be read.
	RefuseFiles(st *record.Stack) error
}

// Comparer compares what runs with what compose would create.
type Comparer struct {
	host   Host
	hashes hashCache
}

// New returns a Comparer, which keeps what compose has told of stacks.
func New(h Host) *Comparer { return &Comparer{host: h} }

// hashCache keeps what compose has told of the services of stacks, for as long as none of their files changes.
type hashCache struct {
	// asking keeps changes of one stack from asking compose all at once.
	asking work.KeyedMutex
	mu     sync.Mutex
	kept   map[string]toldHashes
}

// toldHashes are the hashes of services as compose has told them.
type toldHashes struct {
	// signature changes with the files that they come from.
	signature string
	hashes    map[string]string
	// images are the images that the names of the services stood for: the first generation hashes them too.
	images map[string]string
}

// findHash returns the hash of a service whose name stands for an image, and whether it was told. The image is empty with the second
// generation.
func (t *toldHashes) findHash(name, imageID string) (hash string, told bool) {
	hash, told = t.hashes[name]
	return hash, told && t.images[name] == imageID
}
