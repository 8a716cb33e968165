package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// newNotifier starts the plugin with one channel behind a facade. retire takes the channel away.
func newNotifier(t *testing.T, timeout time.Duration, seen *[]error) (n client.Notifier, retire func()) {
	t.Helper()
	handles, retire := startInstances(t, catalog.Desired{Kind: notify.Kind, Name: "ops", Spec: testplugin.Spec(testplugin.Channel),
		Timeout: timeout})
	n = client.NewNotifier(handles[0], func(_, _ string, _, _ time.Duration, err error) { *seen = append(*seen, err) })
	return n, retire
}

func alert() *notify.Notification {
	return &notify.Notification{ID: "n1", Kind: "test.alert", Version: 1, Title: notify.Text{Plain: "Alert"}}
}

func TestNotifierSendsAndTellsTheOutcome(t *testing.T) {
	var seen []error
	n, retire := newNotifier(t, 300*time.Millisecond, &seen)
	ctx := context.Background()
	if d, err := n.Describe(); err != nil || d.MaxTextBytes != 100 || !d.Has(notify.CapPerUserTarget) {
		t.Errorf("descriptor %+v, %v", d, err)
	}
	receipt, err := n.Send(ctx, alert(), testplugin.SendBy("deliver"))
	if err != nil || len(receipt.MessageIDs) != 1 || receipt.MessageIDs[0] != "n1" {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	for _, tt := range []struct {
		do      string
		outcome notify.Outcome
		code    fault.Code
	}{
		{"busy", notify.Retryable, fault.UpstreamUnavailable},
		{"gone", notify.Refused, fault.UpstreamUnavailable},
		{"lost", notify.Uncertain, fault.UpstreamUnavailable},
		{"hang", notify.Uncertain, fault.UpstreamUnavailable},
		{"", notify.Refused, fault.InvalidRequest},
		{"crash", notify.Uncertain, fault.PluginUnavailable},
	} {
		_, err := n.Send(ctx, alert(), testplugin.SendBy(tt.do))
		if got := notify.OutcomeOf(err); got != tt.outcome {
			t.Errorf("%s: outcome %s, want %s", tt.do, got, tt.outcome)
		}
		wantCode(t, err, tt.code)
		if f := fault.As(err); tt.do == "busy" && f.RetryAfter != 7*time.Second {
			t.Errorf("retry after %s", f.RetryAfter)
		}
	}
	testkit.Eventually(t, within, func() bool {
		_, err := n.Send(ctx, alert(), testplugin.SendBy("deliver"))
		if o := notify.OutcomeOf(err); o != notify.Delivered && o != notify.Retryable {
			t.Errorf("while the plugin comes back: %s, %v", o, err)
		}
		return err == nil
	}, "the plugin is back")
	if ds, err := n.ValidateTarget(ctx, testplugin.SendBy("")); err != nil || !ds.HasErrors() {
		t.Errorf("diagnostics %v, %v", ds, err)
	}
	if len(seen) < 8 || seen[0] != nil || seen[1] == nil {
		t.Errorf("observed %v", seen)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = n.Send(gone, alert(), testplugin.SendBy("deliver"))
	wantCode(t, err, fault.ClientClosedRequest)
	retire()
	_, err = n.Send(ctx, alert(), testplugin.SendBy("deliver"))
	if !errors.Is(err, catalog.ErrRetired) || notify.OutcomeOf(err) != notify.Retryable {
		t.Errorf("after a reload took it away: %v", err)
	}
	if words := errs.From(err).Message; !strings.HasPrefix(words, "nothing was sent: ") {
		t.Errorf("an operator reads %q", words)
	} else {
		t.Log(words)
	}
	wantCode(t, err, fault.PluginUnavailable)
	if _, err := n.Describe(); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("describe after that: %v", err)
	}
}

// A call that meets the closed connection of a plugin that is being replaced has sent nothing.
func TestClosedConnectionSendsNothing(t *testing.T) {
	conn, err := grpc.NewClient("passthrough:///unused", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = notify.NewClient(conn, "a").Send(t.Context(), alert(), testplugin.SendBy("deliver"))
	if got := notify.OutcomeOf(err); got != notify.Retryable {
		t.Errorf("outcome %s: %v", got, err)
	}
	for _, streams := range []int{0, -1} {
		_, err = search.NewClient(conn, "a", streams).Invoke(t.Context(), &search.Request{Operation: testplugin.OpEcho})
		err = client.CallFault(t.Context(), "search.a", err)
		if fault.CodeOf(err) != fault.PluginUnavailable || !errors.Is(err, exchange.ErrUnsent) {
			t.Errorf("streams %d: %v", streams, err)
		}
	}
}
