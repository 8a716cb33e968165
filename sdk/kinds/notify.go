package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	notifyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/notify/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// SampleTarget is the sample that a plugin of the kind notify takes: the recipient, who really gets what is sent.
const SampleTarget = "target"

var notifyKind = Kind{Name: notify.Kind, Service: notify.Service, File: notifyv1.File_patchbay_notify_v1_notify_proto,
	Conform: conformNotify}

func conformNotify(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (report.Report, error) {
	return conformance.Notify(ctx, conn, conformance.NotifyConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, Target: use.Target(),
	}), nil
}

// Target returns the recipient that a plugin of the kind notify is tested with. Its secret is the credential.
func (u Use) Target() notify.Target {
	return notify.Target{JSON: []byte(u.Samples[SampleTarget]), Secret: schema.Secret(u.Credential)}
}
