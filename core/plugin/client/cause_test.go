package client_test

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestCauseOf(t *testing.T) {
	up := func(code codes.Code) error { return errs.New(errs.Upstream, code, errs.ReasonStatus, "no") }
	for name, tt := range map[string]struct {
		err  error
		want client.Cause
	}{
		"none":        {nil, ""},
		"limited":     {up(codes.ResourceExhausted), client.CauseLimited},
		"denied":      {up(codes.Unauthenticated), client.CauseDenied},
		"forbidden":   {up(codes.PermissionDenied), client.CauseDenied},
		"missing":     {up(codes.NotFound), client.CauseMissing},
		"unreachable": {up(codes.Unavailable), client.CauseUnreachable},
		"refused":     {up(codes.InvalidArgument), client.CauseRefused},
		"bad input":   {errs.BadInput("X", "no"), client.CauseRefused},
		"cancelled":   {errs.New(errs.Caller, codes.Canceled, "CANCELED", "no"), client.CauseOther},
		"plugin":      {errs.New(errs.Plugin, codes.Unknown, "FAILED", "no"), client.CauseOther},
		"deadline":    {errs.From(status.Error(codes.DeadlineExceeded, "late")), client.CauseUnreachable},
		"by gRPC":     {errs.New(errs.Upstream, codes.Unavailable, errs.ReasonConnect, "no").GRPCStatus().Err(), client.CauseUnreachable},
		"foreign":     {errors.New("x"), client.CauseOther},
	} {
		err := tt.err
		if err != nil && name != "foreign" {
			err = fault.FromPlugin("search.one", tt.err)
		}
		if got := client.CauseOf(err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	limited := errs.New(errs.Upstream, codes.ResourceExhausted, errs.ReasonStatus, "no")
	limited.RetryAfter = time.Minute
	if f := fault.FromPlugin("search.one", limited); f.RetryAfter != time.Minute || f.Code != fault.UpstreamUnavailable {
		t.Errorf("%+v", f)
	}
}
