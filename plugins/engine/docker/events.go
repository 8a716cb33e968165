package docker

import (
	"context"
	"errors"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Events implements engine.Reader. What health checks and people run within containers is left out.
func (d *docker) Events(ctx context.Context, send func(engine.Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return d.callEngine(ctx, "follow the events", func(api *client.Client) error {
		// The engine answers before it listens: what happens in between is asked for by time, and time is the engine's.
		since, err := engineTime(ctx, api)
		if err != nil {
			return err
		}
		kinds := filters.NewArgs(filters.Arg("type", string(events.ContainerEventType)), filters.Arg("type", string(events.ImageEventType)))
		messages, failed := api.Events(ctx, events.ListOptions{Since: since, Filters: kinds})
		select {
		case err := <-failed:
			return err
		default:
		}
		if err := send(engine.Event{Type: engine.EventReady, At: d.now().UnixMilli()}); err != nil {
			return err
		}
		return followEvents(ctx, messages, failed, send)
	})
}

func engineTime(ctx context.Context, api *client.Client) (string, error) {
	info, err := api.Info(ctx)
	if err != nil {
		return "", err
	}
	t, err := time.Parse(time.RFC3339Nano, info.SystemTime)
	if err != nil {
		return "", errs.Unavailable(errs.ReasonProtocol, "the engine does not tell its time")
	}
	return strconv.FormatInt(t.Unix(), 10) + "." + nanosecondDigits(t), nil
}

func nanosecondDigits(t time.Time) string {
	nanos := strconv.Itoa(t.Nanosecond())
	return strings.Repeat("0", 9-len(nanos)) + nanos
}

func followEvents(ctx context.Context, messages <-chan events.Message, failed <-chan error, send func(engine.Event) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case m := <-messages:
			if strings.HasPrefix(string(m.Action), "exec_") {
				continue
			}
			if err := send(toEvent(&m)); err != nil {
				return err
			}
		}
	}
}

func toEvent(m *events.Message) engine.Event {
	out := engine.Event{Type: string(m.Type), Action: string(m.Action), ID: m.Actor.ID, At: m.TimeNano / int64(time.Millisecond)}
	if m.Type == events.ContainerEventType {
		out.Labels = maps.Clone(m.Actor.Attributes)
		for _, own := range []string{"image", "name", "exitCode", "signal", "execDuration"} {
			delete(out.Labels, own)
		}
	}
	return out
}

// stopMargin is how long after the end of a container its stop may be told.
const stopMargin = 5 * time.Second

// stoppedByRequest reports whether somebody has stopped a container that ended at a time, or may have: the engine remembers its last
// events alone, and none from before it was started. A container has ended by itself if its end is remembered without a request.
func (d *docker) stoppedByRequest(ctx context.Context, id, finished string) bool {
	end, ok := parseTime(finished)
	if !ok {
		return true
	}
	formatTime := func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) + "." + nanosecondDigits(t) }
	stopped, ended := false, false
	err := d.callEngine(ctx, "read the last events", func(api *client.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 2*stopMargin)
		defer cancel()
		messages, failed := api.Events(ctx, events.ListOptions{
			Since: formatTime(end.Add(-time.Second)), Until: formatTime(end.Add(stopMargin)),
			Filters: filters.NewArgs(filters.Arg("container", id), filters.Arg("event", string(events.ActionStop)),
				filters.Arg("event", string(events.ActionKill)), filters.Arg("event", string(events.ActionDie))),
		})
		for {
			select {
			case m := <-messages:
				if m.Action != events.ActionDie {
					stopped = true
					return nil
				}
				ended = true
			case err := <-failed:
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	})
	return stopped || !ended || err != nil
}
