package errs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestOfCall(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	own := errs.NotFound("GONE", "gone")
	for name, tt := range map[string]struct {
		ctx    context.Context
		err    error
		source errs.Source
		code   codes.Code
	}{
		"own":                        {t.Context(), fmt.Errorf("wrapped: %w", own), errs.Caller, codes.NotFound},
		"cancelled":                  {ended, context.Canceled, errs.Caller, codes.Canceled},
		"too late":                   {ended, context.DeadlineExceeded, errs.Upstream, codes.DeadlineExceeded},
		"a time-out within the call": {t.Context(), context.DeadlineExceeded, errs.Plugin, codes.Unknown},
		"a failure after the ending": {ended, errors.New("broken"), errs.Plugin, codes.Unknown},
		"a failure of the plugin":    {t.Context(), errors.New("broken"), errs.Plugin, codes.Unknown},
	} {
		e := errs.From(errs.OfCall(tt.ctx, tt.err))
		if e.Source != tt.source || e.Code != tt.code {
			t.Errorf("%s: %s %s, want %s %s", name, e.Source, e.Code, tt.source, tt.code)
		}
	}
	if err := errs.OfCall(ended, nil); err != nil {
		t.Errorf("a call that succeeded: %v", err)
	}
}
