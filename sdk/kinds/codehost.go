package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// codehostKind takes the samples "repo", a repository whose hooks may be changed, "owner", an account, and "releases", a
// repository with two releases at least, to which the account of the token may react. The credential is the token.
var codehostKind = Kind{Name: codehost.Kind, Service: codehost.Service, File: codehostv1.File_patchbay_codehost_v1_codehost_proto,
	Conform: conformCodeHost}

func conformCodeHost(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (report.Report, error) {
	inputs := map[string]string{}
	if repo := use.Samples["repo"]; repo != "" {
		inputs[repo] = codehost.KindRepo
	}
	if owner := use.Samples["owner"]; owner != "" {
		inputs[owner] = codehost.KindOwner
	}
	return conformance.CodeHost(ctx, conn, conformance.CodeHostConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, Token: schema.Secret(use.Credential), Repo: use.Samples["repo"],
		ReleasesOf: use.Samples["releases"], Inputs: inputs,
	}), nil
}
