package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	registryv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/registry/v1"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// registryKind takes the samples "ref", a reference to read, and "platform", one that it has.
var registryKind = Kind{Name: registry.Kind, Service: registry.Service, File: registryv1.File_patchbay_registry_v1_registry_proto,
	Conform: conformRegistry}

func conformRegistry(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (report.Report, error) {
	return conformance.Registry(ctx, conn, conformance.RegistryConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, Ref: use.Samples["ref"], Platform: use.Samples["platform"],
	}), nil
}
