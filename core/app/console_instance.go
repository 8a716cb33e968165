package app

import (
	"context"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// newEvents returns what happened to a process, as the console shows it.
func newEvents(events []host.Event) []console.Event {
	out := make([]console.Event, len(events))
	for i, e := range events {
		out[i] = console.Event{At: e.At, Kind: string(e.Kind), Detail: e.Detail, PID: e.PID, Exit: e.Signal}
		if e.Signal == "" && e.ExitCode >= 0 {
			out[i].Exit = strconv.Itoa(e.ExitCode)
		}
	}
	return out
}

// SendTest implements console.Providers.
func (p *providers) SendTest(ctx context.Context, ref, title, text string) (console.Health, error) {
	in, err := p.runningInstance(ref)
	if err != nil {
		return console.Health{}, err
	}
	if in.Kind != notify.Kind {
		return console.Health{}, fault.New(fault.InvalidArgument, "%s is not a notification channel.", ref)
	}
	h, err := p.app.catalog.Handle(ref)
	if err != nil {
		return console.Health{}, err
	}
	began := time.Now()
	_, err = client.NewNotifier(h, p.app.metrics.observeCall).Send(ctx, &notify.Notification{
		ID: store.NewID("tst"), Kind: "core.test", Version: 1, SentAt: began, Severity: notify.Info,
		Title: notify.Text{Plain: title}, Summary: notify.Text{Plain: text},
	}, notify.Target{})
	out := console.Health{State: string(host.Ready), Took: time.Since(began)}
	if err != nil {
		out.State, out.Message = "error", p.app.redact.Values(fault.As(fault.FromPlugin(ref, err)).Message)
	}
	return out, nil
}
