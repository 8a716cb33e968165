// Package kinds is the table of the kinds of plugins. The catalog of the core, "patchbay plugin test", "patchbay plugin new",
// the published protocol and the documents take from it which kinds there are.
package kinds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Kind declares a kind of plugin in one version.
type Kind struct {
	// Name is the word of the kind in plugin.hcl. The folders and files of the kind have the same name.
	Name string
	// Service is the full name of the gRPC service; File is the descriptor of the file that defines it.
	Service string
	File    protoreflect.FileDescriptor
	// Conform runs the conformance suite of the kind. described is what the plugin says of it.
	Conform func(ctx context.Context, conn grpc.ClientConnInterface, described *pluginv1.Kind, use Use) (report.Report, error)
}

// All returns the kinds. Of several versions of a kind, the one that a core prefers comes first.
func All() []Kind {
	return []Kind{
		searchKind,
		notifyKind,
		registryKind,
		codehostKind,
		dnsKind,
		translatorKind,
		engineKind,
	}
}

// Names returns the names of the kinds, each once.
func Names() []string {
	var names []string
	for _, k := range All() {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Use says how a plugin is used by the suites of its kinds.
type Use struct {
	// Settings is the config block as JSON; empty for none. BaseDir is where relative paths in it start.
	Settings string
	BaseDir  string
	// Samples are what the calls of a kind are made with, by name; the file of each kind says which ones it takes.
	Samples map[string]string
	// Credential is a key, a token or the secret of a recipient, for a plugin that needs one.
	Credential string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
}

// Conform runs the suite of each kind that a plugin offers over a connection to it. The text lists the checks; the error
// is nil if all passed.
func Conform(ctx context.Context, conn grpc.ClientConnInterface, plugin *pluginv1.DescribeResponse, use Use) (string, error) {
	var text strings.Builder
	var failed []error
	for _, described := range plugin.GetKinds() {
		i := slices.IndexFunc(All(), func(k Kind) bool { return k.Service == described.GetService() })
		if i < 0 {
			continue
		}
		report, err := All()[i].Conform(ctx, conn, described, use)
		if err != nil {
			return "", fmt.Errorf("read the description of kind %s: %w", described.GetName(), err)
		}
		text.WriteString(report.String())
		failed = append(failed, report.Err())
	}
	if len(failed) == 0 {
		return "", fmt.Errorf("plugin %q offers no kind that this core can test", plugin.GetName())
	}
	return text.String(), errors.Join(failed...)
}
