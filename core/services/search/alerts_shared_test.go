package search

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestAlertOfAllNodes: failures that only all cores together have enough of raise one alert, at the core that leads.
func TestAlertOfAllNodes(t *testing.T) {
	nodes := newNodes(t, 3, notifies, func(e *env) {
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) { return reply(503, `{}`), nil }
	})
	to := &alerts{now: nodes[0].clock.Now, told: map[string]time.Time{}}
	token := nodes[0].token(nil)
	if got := tryMany(t, nodes, token, 7); got != 21 { // 20 are needed for an alert
		t.Errorf("%d of 21 requests were let through", got)
	}
	for _, n := range nodes {
		testkit.Must(t, n.svc.Alert(t.Context(), to))
	}
	var told []string
	awaitNode(t, "alert of all cores", func() bool {
		told = append(told, to.take()...)
		return len(told) > 0
	})
	for _, n := range nodes {
		testkit.Must(t, n.svc.ReportCalls(t.Context()))
		n.svc.CheckAll(t.Context())
	}
	if told = append(told, to.take()...); len(told) != 1 || told[0] != "upstream_errors/search.web notify.ops" {
		t.Errorf("told %q", told)
	}
}
