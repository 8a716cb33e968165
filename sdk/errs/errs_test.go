package errs_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

func TestErrorsSurviveTheWire(t *testing.T) {
	full := errs.Unavailable(errs.ReasonStatus, "the upstream said %d", 503)
	full.RetryAfter = 90 * time.Second
	full.Upstream = &sharedv1.UpstreamError{HttpStatus: 503, Host: "upstream.example", Body: []byte("down")}
	tests := map[string]*errs.Error{
		"bad input": errs.BadInput("NO_QUERY", "query is missing"),
		"not found": errs.NotFound("NO_SUCH_ID", "no such id"),
		"host":      errs.New(errs.Host, codes.FailedPrecondition, errs.ReasonUnknownInstance, "no instance"),
		"full":      full,
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			sent := status.Convert(fmt.Errorf("while calling: %w", want))
			got := errs.From(status.FromProto(sent.Proto()).Err())
			if got.Source != want.Source || got.Code != want.Code || got.Reason != want.Reason || got.RetryAfter != want.RetryAfter {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if (got.Upstream == nil) != (want.Upstream == nil) || got.Upstream.GetHost() != want.Upstream.GetHost() ||
				string(got.Upstream.GetBody()) != string(want.Upstream.GetBody()) {
				t.Errorf("upstream %v", got.Upstream)
			}
		})
	}
}

func TestFrom(t *testing.T) {
	if errs.From(nil) != nil {
		t.Error("nil is an error")
	}
	own := errs.BadInput("X", "y")
	if errs.From(fmt.Errorf("wrapped: %w", own)) != own {
		t.Error("an Error in the chain is not found")
	}
	for _, err := range []error{errors.New("plain"), status.Error(codes.Unknown, "plain")} {
		if e := errs.From(err); e.Source != errs.Plugin || e.Code != codes.Unknown || e.Message != "plain" {
			t.Errorf("%v became %+v", err, e)
		}
	}
	wrapped := fmt.Errorf("run compose: %w", status.Error(codes.Unavailable, "error reading from server: EOF"))
	if e := errs.From(wrapped); e.Code != codes.Unavailable || e.Message != "error reading from server: EOF" {
		t.Errorf("a wrapped status became %+v", e)
	}
	quoted := status.Error(codes.Unknown, "pull x: rpc error: code = NotFound desc = failed to resolve x: rpc error: code = Unknown desc = not found")
	if e := errs.From(quoted); e.Message != "pull x: failed to resolve x: not found" {
		t.Errorf("quoted statuses: %q", e.Message)
	}
	if got := own.Error(); got != "X: y" {
		t.Errorf("text %q", got)
	}
}
