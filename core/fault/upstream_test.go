package fault_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// TestClassifyUpstream: what plugins of every kind report of their upstream falls into the class that says what is wrong.
func TestClassifyUpstream(t *testing.T) {
	limited := errs.New(errs.Upstream, codes.ResourceExhausted, errs.ReasonStatus, "10.0.0.7: slow down")
	limited.RetryAfter = 90 * time.Second
	for _, tt := range []struct {
		class string
		err   *errs.Error
	}{
		{"limited_until", limited},
		{"limited", errs.New(errs.Upstream, codes.ResourceExhausted, errs.ReasonStatus, "10.0.0.7: slow down")},
		{"no_access", errs.New(errs.Upstream, codes.Unauthenticated, errs.ReasonStatus, "10.0.0.7: bad token")},
		{"no_access", errs.New(errs.Upstream, codes.PermissionDenied, errs.ReasonStatus, "10.0.0.7: no scope")},
		{"not_found", errs.New(errs.Upstream, codes.NotFound, errs.ReasonStatus, "10.0.0.7: no such image")},
		{"timeout", errs.New(errs.Upstream, codes.DeadlineExceeded, errs.ReasonTimeout, "10.0.0.7: slow")},
		{"timeout", errs.Unavailable(errs.ReasonTimeout, "10.0.0.7: slow")},
		{"unreachable", errs.Unavailable(errs.ReasonConnect, "10.0.0.7: refused")},
		{"lost", errs.Unavailable(errs.ReasonLost, "10.0.0.7: reset")},
		{"wrong_answer", errs.Unavailable(errs.ReasonProtocol, "10.0.0.7: not JSON")},
		{"down", errs.Unavailable(errs.ReasonStatus, "10.0.0.7: 503")},
		{"refused", errs.New(errs.Upstream, codes.InvalidArgument, errs.ReasonStatus, "10.0.0.7: 422")},
		{"refused", errs.New(errs.Upstream, codes.Unknown, errs.ReasonStatus, "10.0.0.7: 418")},
	} {
		f := fault.FromPlugin("search.one", tt.err.GRPCStatus().Err())
		class := fault.ClassifyUpstream(tt.err)
		if class.Name != tt.class || f.Code != fault.UpstreamUnavailable || strings.Contains(f.Message, "10.0.0.7") ||
			!strings.HasPrefix(f.Message, strings.Split(strings.Replace(class.Message, "%s", "search.one", 1), "%s")[0]) {
			t.Errorf("%v is %q, %q; want %q", tt.err, class.Name, f.Message, tt.class)
		}
	}
	if got := fault.FromPlugin("search.one", limited).Message; got != "The provider search.one is rate limited. Try again in 1m30s." {
		t.Errorf("the end of a limit: %q", got)
	}
	seen := map[string]bool{}
	for _, c := range fault.UpstreamClasses {
		if seen[c.Name] || seen[c.Message] {
			t.Errorf("%s has the words of another class", c.Name)
		}
		seen[c.Name], seen[c.Message] = true, true
	}
}
