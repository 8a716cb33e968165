package errs_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestAnswerOverTheLimitOfGRPC(t *testing.T) {
	e := errs.From(status.Error(codes.ResourceExhausted, "grpc: received message larger than max (20 vs. 16)"))
	if e.Reason != errs.ReasonTooLarge || e.Source != errs.Plugin {
		t.Errorf("got %+v", e)
	}
	if e := errs.From(status.Error(codes.ResourceExhausted, "slow down")); e.Reason == errs.ReasonTooLarge {
		t.Errorf("got %+v", e)
	}
}
