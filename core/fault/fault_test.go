package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestTableIsConsistent(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[fault.Code]bool{}
	for _, e := range fault.Table() {
		if seen[e.Code] {
			t.Errorf("code %q stands twice", e.Code)
		}
		seen[e.Code] = true
		if !snake.MatchString(string(e.Code)) {
			t.Errorf("code %q is not lower snake case", e.Code)
		}
		if e.Status < 400 || e.Status > 599 {
			t.Errorf("code %q has status %d", e.Code, e.Status)
		}
		if e.GRPC == codes.OK {
			t.Errorf("code %q has the gRPC code OK", e.Code)
		}
	}
}

func TestTableIsACopy(t *testing.T) {
	fault.Table()[0].Status = 200
	if got := fault.BadRequest.Status(); got != http.StatusBadRequest {
		t.Fatalf("the table was changed from outside: %d", got)
	}
}

func TestAs(t *testing.T) {
	disk := errors.New("disk /var/lib/x is full")
	tests := []struct {
		name   string
		err    error
		code   fault.Code
		status int
	}{
		{"OK own", fault.New(fault.NotFound, "No such job."), fault.NotFound, 404},
		{"OK wrapped", fmt.Errorf("load: %w", fault.New(fault.Conflict, "Taken.")), fault.Conflict, 409},
		{"OK with status", fault.New(fault.PluginUnavailable, "Down.").WithStatus(502), fault.PluginUnavailable, 502},
		{"OK foreign code with status", fault.New("invalid_signature", "Wrong.").WithStatus(401), "invalid_signature", 401},
		{"foreign code without status", fault.New("invalid_signature", "Wrong."), "invalid_signature", 500},
		{"unknown", disk, fault.Internal, 500},
		{"canceled", fmt.Errorf("query: %w", context.Canceled), fault.ClientClosedRequest, 499},
		{"deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), fault.Timeout, 504},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.CodeOf(tt.err); got != tt.code {
				t.Errorf("code %q, want %q", got, tt.code)
			}
			if got := fault.StatusOf(tt.err); got != tt.status {
				t.Errorf("status %d, want %d", got, tt.status)
			}
		})
	}
	if got := fault.As(disk); strings.Contains(got.Message, "disk") || !errors.Is(got, disk) {
		t.Errorf("an unknown error must be hidden but kept as cause: %v", got)
	}
	if fault.As(nil) != nil || fault.CodeOf(nil) != "" || fault.StatusOf(nil) != 200 {
		t.Error("nil is no error")
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	base := fault.New(fault.Conflict, "Busy %d%%.", 50)
	more := base.With("existingJobId", "job_1").WithRetryAfter(2 * time.Second)
	both := more.With("field", "name")
	if base.Ext != nil || base.RetryAfter != 0 || base.Message != "Busy 50%." {
		t.Errorf("the original changed: %+v", base)
	}
	if diff := cmp.Diff(map[string]any{"existingJobId": "job_1"}, more.Ext); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"existingJobId": "job_1", "field": "name"}, both.Ext); diff != "" {
		t.Error(diff)
	}
}

func TestMessageWithoutArgumentsIsTakenLiterally(t *testing.T) {
	if got := fault.New(fault.BadRequest, "100% wrong").Message; got != "100% wrong" {
		t.Fatalf("got %q", got)
	}
}

func TestWrapShowsTheCauseToTheLogOnly(t *testing.T) {
	cause := errors.New("cause")
	err := fault.Wrap(cause, fault.NotReady, "Starting.")
	if !errors.Is(err, cause) || err.Message != "Starting." || err.Error() != "not_ready: Starting.: cause" {
		t.Fatalf("got %v", err)
	}
}

func TestFromPlugin(t *testing.T) {
	retry := errs.Unavailable(errs.ReasonConnect, "connect to 10.0.0.7: refused")
	retry.RetryAfter = 7 * time.Second
	tests := []struct {
		name string
		err  error
		code fault.Code
	}{
		{"caller invalid", errs.BadInput("BAD", "max_results is too large"), fault.InvalidRequest},
		{"caller other", errs.New(errs.Caller, codes.OutOfRange, "RANGE", "no"), fault.InvalidRequest},
		{"caller not found", errs.NotFound("NONE", "no such zone"), fault.NotFound},
		{"upstream", retry, fault.UpstreamUnavailable},
		{"explained", errs.Unavailable(errs.ReasonExplained, "list json"), fault.UpstreamUnavailable},
		{"plugin", errs.New(errs.Plugin, codes.Internal, errs.ReasonPanic, "panic"), fault.PluginUnavailable},
		{"plain unavailable", status.Error(codes.Unavailable, "transport is closing"), fault.PluginUnavailable},
		{"plain unknown", status.Error(codes.Unknown, "boom"), fault.PluginUnavailable},
		{"deadline status", status.Error(codes.DeadlineExceeded, "slow"), fault.UpstreamUnavailable},
		{"deadline", context.DeadlineExceeded, fault.UpstreamUnavailable},
		{"canceled status", status.Error(codes.Canceled, "gone"), fault.ClientClosedRequest},
		{"canceled", context.Canceled, fault.ClientClosedRequest},
		{"host", errs.New(errs.Host, codes.FailedPrecondition, "ORDER", "not configured"), fault.Internal},
		{"own", fault.New(fault.QuotaExhausted, "No more."), fault.QuotaExhausted},
		{"wrapped status", fmt.Errorf("call: %w", status.Error(codes.Unavailable, "x")), fault.PluginUnavailable},
		{"other", errors.New("bug"), fault.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.FromPlugin("search.one", tt.err); got.Code != tt.code {
				t.Errorf("got %v, want %q", got, tt.code)
			}
		})
	}
	if got := fault.FromPlugin("search.one", retry); got.RetryAfter != 7*time.Second || strings.Contains(got.Message, "10.0.0.7") {
		t.Errorf("retry is kept, the upstream's words are not: %+v", got)
	}
	wired := fault.FromPlugin("search.one", retry.GRPCStatus().Err())
	if wired.Code != fault.UpstreamUnavailable || wired.RetryAfter != 7*time.Second {
		t.Errorf("over the wire: %+v", wired)
	}
	if got := fault.FromPlugin("search.one", errs.BadInput("BAD", "max_results is too large")); got.Message != "max_results is too large" {
		t.Errorf("the caller's mistake is told: %q", got.Message)
	}
	for explained, want := range map[string]string{
		"the server refuses: list json": "The server refuses: list json.", "two\n lines.": "Two lines.",
		strings.Repeat("x", 600): "X" + strings.Repeat("x", 499) + "….",
	} {
		err := errs.Unavailable(errs.ReasonExplained, "%s", explained).GRPCStatus().Err()
		if got := fault.FromPlugin("search.one", err); got.Message != want {
			t.Errorf("what is explained is told: %q", got.Message)
		}
	}
	if got := fault.FromPlugin("search.one", errs.New(errs.Plugin, codes.Unavailable, errs.ReasonExplained,
		"list json")); got.Code != fault.PluginUnavailable {
		t.Errorf("what is not the upstream's: %v", got)
	}
	if fault.FromPlugin("search.one", nil) != nil {
		t.Error("nil is no error")
	}
}
