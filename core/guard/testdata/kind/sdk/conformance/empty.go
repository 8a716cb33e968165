package conformance

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/empty"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Empty runs all checks of the empty kind.
func Empty(ctx context.Context, conn grpc.ClientConnInterface, json string) Report {
	r, done := suite.New(conn, empty.Kind, empty.Service, suite.Settings{JSON: json})
	defer done()
	r.Answers = func(ctx context.Context, id string) bool {
		_, err := pluginv1.NewPluginClient(conn).Health(ctx, &pluginv1.HealthRequest{InstanceId: id})
		return err == nil
	}
	return r.Perform(ctx, suite.Checks{})
}
