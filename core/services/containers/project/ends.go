package project

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// HowEnded returns how containers that do not run have ended.
func (p *Projects) HowEnded(ctx context.Context, list []engine.Container) (string, error) {
	for _, c := range list {
		d, err := p.cfg.Host.Engine().Inspect(ctx, c.ID)
		if fault.CodeOf(err) == fault.NotFound {
			return record.EndedOtherwise, nil
		}
		if err != nil {
			return "", fmt.Errorf("inspect %s: %w", c.Name, err)
		}
		if !hasEndedByItself(d) {
			return record.EndedOtherwise, nil
		}
		images, err := p.cfg.Host.Engine().Images(ctx, []string{d.ImageID})
		if err != nil {
			return "", fmt.Errorf("read the image of %s: %w", c.Name, err)
		}
		if isServer(d, images[0]) {
			return record.EndedOtherwise, nil
		}
	}
	return record.EndedWell, nil
}

// noteEnd sets how a service has ended in what is stored of it: once when it stops. An engine that does not answer is asked
// at the next scan.
func (p *Projects) noteEnd(ctx context.Context, svc *record.Service, list []engine.Container, now RuntimeState, columns map[string]any) {
	ended := ""
	if now.State == record.StateStopped && now.ID != "" {
		if ended = svc.Ended; ended == "" || svc.State != record.StateStopped || svc.RuntimeImage != now.ID {
			ended, _ = p.HowEnded(ctx, list)
		}
	}
	if ended != svc.Ended {
		columns["ended"] = ended
	}
}

// hasEndedByItself reports whether a container has ended with 0, and the engine would have started it again if somebody had not stopped it.
func hasEndedByItself(d *engine.Detail) bool {
	return IsComplete(d) && !d.StoppedByRequest && (d.RestartPolicy == "no" || d.RestartPolicy == "on-failure" || d.RestartPolicy == "")
}

// IsComplete reports whether a container has ended with success.
func IsComplete(d *engine.Detail) bool {
	return d.State == "exited" && d.ExitCode == 0 && !d.OOMKilled && d.Error == ""
}

// isServer reports whether a container serves others, so that one that has ended with 0 was stopped by somebody: it publishes ports, or its
// image has ports and it runs what the image runs.
func isServer(d *engine.Detail, img *engine.Image) bool {
	if d.Config == nil {
		return false
	}
	if len(d.Config.Ports) > 0 {
		return true
	}
	return img != nil && img.Config != nil && img.Config.Settings["expose"] != "" &&
		slices.Equal(d.Config.Command, img.Config.Command) && slices.Equal(d.Config.Entrypoint, img.Config.Entrypoint)
}
