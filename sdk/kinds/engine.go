package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// engineKind takes the sample "compose_bin", a compose command.
var engineKind = Kind{Name: engine.Kind, Service: engine.Service, File: enginev1.File_patchbay_engine_v1_engine_proto,
	Conform: conformEngine}

func conformEngine(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (report.Report, error) {
	return conformance.Engine(ctx, conn, conformance.EngineConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, ComposeBin: use.Samples["compose_bin"],
	}), nil
}
