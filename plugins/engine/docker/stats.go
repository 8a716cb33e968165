package docker

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const (
	// maxStats bounds the engine's answer for one container, in bytes.
	maxStats = 1 << 20
	// forgetAfter is how long the counters of a container are kept that nobody asks about.
	forgetAfter = 15 * time.Minute
)

// usage keeps each container's last CPU counter.
type usage struct {
	mu   sync.Mutex
	last map[string]counter
}

type counter struct {
	nanos uint64
	at    time.Time
}

func newUsage() *usage { return &usage{last: map[string]counter{}} }

// cpuPercent returns the CPU use since the last counter. It reports false if there is none to compare with, or the container was
// restarted since.
func (u *usage) cpuPercent(id string, now counter) (float64, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before, ok := u.last[id]
	u.last[id] = now
	passed := now.at.Sub(before.at)
	if !ok || passed <= 0 || now.nanos < before.nanos {
		return 0, false
	}
	return float64(now.nanos-before.nanos) / float64(passed.Nanoseconds()) * 100, true
}

func (u *usage) forgetBefore(before time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, c := range u.last {
		if c.at.Before(before) {
			delete(u.last, id)
		}
	}
}

// Stats implements engine.Reader.
func (d *docker) Stats(ctx context.Context, ids []string) ([]engine.Sample, error) {
	found := make([]*engine.Sample, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, id := range ids {
		g.Go(func() (err error) {
			found[i], err = d.sampleContainer(ctx, id)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]engine.Sample, 0, len(ids))
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	d.usage.forgetBefore(d.now().Add(-forgetAfter))
	return out, nil
}

// sampleContainer returns the use of a container, nil for one that is gone or does not run.
func (d *docker) sampleContainer(ctx context.Context, id string) (*engine.Sample, error) {
	var raw container.StatsResponse
	gone := false
	err := d.callEngine(ctx, "read the use of a container", func(api *client.Client) error {
		resp, err := api.ContainerStatsOneShot(ctx, id)
		if cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) || cerrdefs.IsInvalidArgument(err) {
			gone = true
			return nil
		}
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return json.NewDecoder(io.LimitReader(resp.Body, maxStats)).Decode(&raw)
	})
	if err != nil || gone || raw.Read.Year() <= 1 {
		return nil, err
	}
	out := d.toSample(id, &raw)
	return &out, nil
}

func (d *docker) toSample(id string, raw *container.StatsResponse) engine.Sample {
	out := engine.Sample{
		ContainerID: id, SampledAt: raw.Read.UnixMilli(),
		MemUsed: usedMemory(&raw.MemoryStats), MemLimit: int64(raw.MemoryStats.Limit), PIDs: int64(raw.PidsStats.Current),
	}
	out.CPUPercent, out.HasCPU = d.usage.cpuPercent(id, counter{nanos: raw.CPUStats.CPUUsage.TotalUsage, at: raw.Read})
	for _, n := range raw.Networks {
		out.NetRx += int64(n.RxBytes)
		out.NetTx += int64(n.TxBytes)
	}
	out.HasBlock = raw.BlkioStats.IoServiceBytesRecursive != nil
	for _, e := range raw.BlkioStats.IoServiceBytesRecursive {
		switch strings.ToLower(e.Op) {
		case "read":
			out.BlockRead += int64(e.Value)
		case "write":
			out.BlockWrite += int64(e.Value)
		}
	}
	return out
}

// usedMemory returns the memory in use without the page cache that the kernel would give back: the name of that counter depends on the
// version of control groups.
func usedMemory(m *container.MemoryStats) int64 {
	for _, name := range []string{"total_inactive_file", "inactive_file"} {
		if cache, ok := m.Stats[name]; ok && cache < m.Usage {
			return int64(m.Usage - cache)
		}
	}
	return int64(m.Usage)
}
