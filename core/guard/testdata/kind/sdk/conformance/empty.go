package conformance

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/empty"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Empty runs all checks of the empty kind.
func Empty(ctx context.Context, conn grpc.ClientConnInterface, json string) Report {
	b, done := newBase(conn, empty.Kind, empty.Service, common{json: json})
	defer done()
	b.answers = func(ctx context.Context, id string) bool {
		_, err := b.plugin.Health(ctx, &pluginv1.HealthRequest{InstanceId: id})
		return err == nil
	}
	return b.run(ctx, suite{})
}
