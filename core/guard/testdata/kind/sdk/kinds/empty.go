package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/empty"
	emptyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/empty/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

var emptyKind = Kind{Name: empty.Kind, Service: empty.Service, File: emptyv1.File_patchbay_empty_v1_empty_proto, Conform: conformEmpty}

func conformEmpty(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (conformance.Report, error) {
	return conformance.Empty(ctx, conn, use.Settings), nil
}
