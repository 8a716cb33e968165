package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	dnsv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/dns/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// dnsKind takes the samples "zone", the name of a zone whose records below "conformance" may be changed, and "new_zone", a
// zone that is made and deleted.
var dnsKind = Kind{Name: dns.Kind, Service: dns.Service, File: dnsv1.File_patchbay_dns_v1_dns_proto, Conform: conformDNS}

func conformDNS(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (report.Report, error) {
	return conformance.DNS(ctx, conn, conformance.DNSConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, Zone: use.Samples["zone"], NewZone: use.Samples["new_zone"],
	}), nil
}
