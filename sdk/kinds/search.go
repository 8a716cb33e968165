package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// searchKind takes samples by the name of an operation: the body of its call. An operation without one gets the suite's own.
var searchKind = Kind{Name: search.Kind, Service: search.Service, File: searchv1.File_patchbay_search_v1_search_proto,
	Conform: conformSearch}

func conformSearch(ctx context.Context, conn grpc.ClientConnInterface, described *pluginv1.Kind, use Use) (report.Report, error) {
	d, err := search.ParseDescriptor(described)
	if err != nil {
		return report.Report{}, err
	}
	samples := conformance.DefaultSamples(d)
	for i := range samples {
		if body, ok := use.Samples[samples[i].Operation]; ok && !samples[i].Stream {
			samples[i].Body = body
		}
	}
	return conformance.Search(ctx, conn, conformance.SearchConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, Samples: samples, Credential: use.Credential,
	}), nil
}
