package notify

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestWordsForAnOperator(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("the disk is full"), "the disk is full"},
		{sdk.Permanent("NO_CHAT", "the chat is not there"), "the chat is not there"},
		{fmt.Errorf("send: %w", errs.From(sdk.Permanent("NO_CHAT", "the chat is not there")).GRPCStatus().Err()), "the chat is not there"},
		{fault.New(fault.NotFound, "There is no instance notify.ops."), "There is no instance notify.ops."},
		{fault.Wrap(context.Canceled, fault.ClientClosedRequest, "The client closed the connection."),
			"it was interrupted while it was being sent"},
		{fmt.Errorf("call: %w", context.DeadlineExceeded), "the channel's plugin did not answer in time"},
		{status.Error(codes.Unavailable, "error reading from server: EOF"),
			"the channel's plugin ended, or cannot be reached: error reading from server: EOF"},
		{status.Error(codes.DeadlineExceeded, "context deadline exceeded"), "the channel's plugin did not answer in time"},
		{status.Error(codes.Internal, "a third party's own words"), "a third party's own words"},
	} {
		if got := operatorMessage(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}
