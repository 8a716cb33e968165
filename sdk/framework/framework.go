// Package framework turns a set of kinds into a plugin process: it serves the base service, keeps the configured
// instances, and guards what a plugin author should not have to think about (stdout, signals, panics, orphans).
package framework

import (
	"context"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/exchange"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// SDKVersion is the version of this SDK, in semantic versioning.
const SDKVersion = "0.1.0"

// MaxMessage is the largest gRPC message in either direction, in bytes.
const MaxMessage = 16 << 20

// Capabilities that every kind may have.
const (
	// CapDataDir: an instance needs a private directory.
	CapDataDir = "DATA_DIR"
	// CapExclusive: two instances may not have the same data directory open at once.
	CapExclusive = "EXCLUSIVE"
)

// Plugin declares what a process offers.
type Plugin struct {
	// Name is what stands in plugin.hcl as the first label; Version is semantic.
	Name    string
	Version string
	// Summary is one sentence; Documentation is Markdown.
	Summary       string
	Documentation string
	Kinds         []Kind
}

// Kind is one gRPC service of a plugin. Packages such as sdk/search make them.
type Kind interface {
	// Describe names the kind, its service, capabilities and configuration.
	Describe() (*pluginv1.Kind, error)
	// Validate checks a configuration without side effects.
	Validate(inst Instance, config []byte) schema.Diagnostics
	// Open builds an instance. A value that is an io.Closer is closed when the instance is removed.
	Open(ctx context.Context, inst Instance, config []byte) (any, schema.Diagnostics)
	// Register adds the gRPC service; it finds its instances through r.
	Register(s grpc.ServiceRegistrar, r Router)
	// Exchanges are the methods that are also offered over pooled streams, by full gRPC method name.
	Exchanges() map[string]Exchange
}

// Exchange answers one hot call with an instance that Open returned.
type Exchange func(ctx context.Context, instance any, req *exchange.Message) (head, body []byte, err error)

// Router finds the instance that a call is for.
type Router interface {
	// Instance returns what Open returned and a function that ends the use. The error is ready to be returned from an
	// RPC.
	Instance(ctx context.Context, kind string) (value any, release func(), err error)
}

// Instance is what the host tells about a configured instance.
type Instance struct {
	// ID changes with every configuration; Name is the one in plugin.hcl.
	ID   string
	Name string
	// DataDir is a directory of the instance's own, or empty.
	DataDir string
	// BaseDir is the directory of plugin.hcl; Path resolves against it.
	BaseDir string
	// Protected are files and directories whose content must never leave the machine.
	Protected []string
	// UserAgent is what the host wants to be called in outgoing requests.
	UserAgent string
	// Log is the instance's logger. Its lines reach the host's log.
	Log hclog.Logger
}

func newInstance(c *pluginv1.Config, log hclog.Logger) Instance {
	return Instance{
		ID:        c.GetInstanceId(),
		Name:      c.GetName(),
		DataDir:   c.GetDataDir(),
		BaseDir:   c.GetBaseDir(),
		Protected: c.GetProtectedPaths(),
		UserAgent: c.GetHost().GetUserAgent(),
		Log:       log.Named(c.GetKind() + "." + c.GetName()),
	}
}
