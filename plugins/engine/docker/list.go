package docker

import (
	"context"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// atOnce is how many requests one call makes to the engine at the same time.
const atOnce = 4

// Info implements engine.Reader.
func (d *docker) Info(ctx context.Context, composeBin string) (*engine.Info, error) {
	out := &engine.Info{}
	err := d.callEngine(ctx, "read the engine's version", func(api *client.Client) error {
		v, err := api.ServerVersion(ctx)
		out.Version, out.OS, out.Arch = v.Version, v.Os, v.Arch
		out.APIVersion = api.ClientVersion()
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Arch, out.Variant, _ = strings.Cut(out.Arch, "/")
	out.ID = readEngineID(ctx, d)
	if composeBin != "" {
		p, err := d.probes.findProbe(ctx, composeBin)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out.ComposeError = errorMessage(err)
		} else {
			out.Compose = &engine.Compose{Version: p.version, PullPolicy: p.pullPolicy}
		}
	}
	return out, nil
}

// readEngineID returns the id of the engine. It is empty if the engine does not say, as through a proxy that lets few calls through. Podman
// makes up another one for each call: then it is the name of the machine.
func readEngineID(ctx context.Context, d *docker) string {
	d.mu.Lock()
	id := d.engineID
	d.mu.Unlock()
	if id != "" {
		return id
	}
	_ = d.callEngine(ctx, "read the engine's id", func(api *client.Client) error {
		info, err := api.Info(ctx)
		if err != nil {
			return err
		}
		again, err := api.Info(ctx)
		if err != nil {
			return err
		}
		if id = info.ID; again.ID != id {
			id = "host " + info.Name
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.api == api {
			d.engineID = id
		}
		return nil
	})
	return id
}

// errorMessage returns the text of an error for people.
func errorMessage(err error) string { return errs.From(err).Message }

// Containers implements engine.Reader.
func (d *docker) Containers(ctx context.Context, f engine.Filter) ([]engine.Container, error) {
	args := filters.NewArgs()
	for _, l := range f.Labels {
		args.Add("label", l)
	}
	for _, id := range f.IDs {
		args.Add("id", id)
	}
	var all []container.Summary
	err := d.callEngine(ctx, "list the containers", func(api *client.Client) (err error) {
		all, err = api.ContainerList(ctx, container.ListOptions{All: true, Filters: args})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]engine.Container, 0, len(all))
	for i := range all {
		out = append(out, toContainer(&all[i]))
	}
	return out, nil
}

func toContainer(c *container.Summary) engine.Container {
	out := engine.Container{
		ID: c.ID, Image: c.Image, ImageID: c.ImageID, State: c.State, Status: c.Status, Labels: c.Labels, CreatedAt: c.Created,
		Mounts: toMounts(c.Mounts),
	}
	// A container that is linked to has more names, with a slash in them.
	for _, n := range c.Names {
		if n = strings.TrimPrefix(n, "/"); !strings.Contains(n, "/") {
			out.Name = n
		}
	}
	return out
}

func toMounts(all []container.MountPoint) (out []engine.Mount) {
	for _, m := range all {
		out = append(out, engine.Mount{Type: string(m.Type), Name: m.Name, Source: m.Source, Destination: m.Destination, ReadOnly: !m.RW})
	}
	return out
}

// maxHealthLog is how much of a health check's output is handed on, in bytes.
const maxHealthLog = 1 << 10

// Inspect implements engine.Reader.
func (d *docker) Inspect(ctx context.Context, id string) (*engine.Detail, error) {
	c, err := d.inspectContainer(ctx, id)
	if err != nil {
		return nil, err
	}
	out := &engine.Detail{RestartCount: c.RestartCount, Config: containerConfig(&c), Container: engine.Container{
		ID: c.ID, Name: strings.TrimPrefix(c.Name, "/"), ImageID: c.Image, Mounts: toMounts(c.Mounts), CreatedAt: unixTime(c.Created),
	}}
	if c.Config != nil {
		out.Image, out.Labels = c.Config.Image, c.Config.Labels
		if h := c.Config.Healthcheck; h != nil {
			out.StartPeriodMS, out.IntervalMS = h.StartPeriod.Milliseconds(), h.Interval.Milliseconds()
			out.TimeoutMS, out.Retries = h.Timeout.Milliseconds(), h.Retries
		}
	}
	if c.HostConfig != nil {
		out.RestartPolicy = string(c.HostConfig.RestartPolicy.Name)
		if out.RestartPolicy == "" {
			out.RestartPolicy = string(container.RestartPolicyDisabled)
		}
	}
	if s := c.State; s != nil {
		out.State, out.Status = s.Status, s.Status
		out.ExitCode, out.OOMKilled, out.Error = s.ExitCode, s.OOMKilled, texts.Truncate(s.Error, maxHealthLog)
		out.StartedAt = unixMilli(s.StartedAt)
		if s.Status == container.StateExited && s.ExitCode == 0 {
			out.StoppedByRequest = d.stoppedByRequest(ctx, c.ID, s.FinishedAt)
		}
		out.Health, out.HealthLog = readHealth(s.Health)
	}
	return out, nil
}

func (d *docker) inspectContainer(ctx context.Context, id string) (c container.InspectResponse, err error) {
	err = d.callEngine(ctx, "read the container", func(api *client.Client) (err error) {
		c, err = api.ContainerInspect(ctx, id)
		return err
	})
	if err == nil && c.ContainerJSONBase == nil {
		err = errs.Unavailable(errs.ReasonProtocol, "the engine described the container without its basics")
	}
	return c, err
}

func readHealth(h *container.Health) (state, log string) {
	if h == nil || h.Status == container.NoHealthcheck {
		return "", ""
	}
	if n := len(h.Log); n > 0 && h.Log[n-1] != nil {
		log = texts.Truncate(strings.TrimSpace(h.Log[n-1].Output), maxHealthLog-4)
	}
	return h.Status, log
}

// parseTime returns a time of the engine's. It reports false for the year 1, which stands for never.
func parseTime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil && t.Year() > 1
}

func unixTime(s string) int64 {
	if t, ok := parseTime(s); ok {
		return t.Unix()
	}
	return 0
}

func unixMilli(s string) int64 {
	if t, ok := parseTime(s); ok {
		return t.UnixMilli()
	}
	return 0
}

// Tag implements engine.Runner.
func (d *docker) Tag(ctx context.Context, image, ref string) error {
	return d.callEngine(ctx, "give the image "+image+" the name "+ref, func(api *client.Client) error {
		return api.ImageTag(ctx, image, ref)
	})
}
