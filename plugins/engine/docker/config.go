package docker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/docker/docker/api/types/container"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// containerConfig returns what a container was created with; nil where the engine does not tell.
func containerConfig(c *container.InspectResponse) *engine.ContainerConfig {
	if c.Config == nil || c.HostConfig == nil {
		return nil
	}
	host := c.HostConfig
	out := &engine.ContainerConfig{
		ImageConfig: engine.ImageConfig{
			Env: c.Config.Env, Command: c.Config.Cmd, Entrypoint: c.Config.Entrypoint, User: c.Config.User, WorkingDir: c.Config.WorkingDir,
			Settings: containerSettings(c),
		},
		NetworkMode: string(host.NetworkMode), PIDMode: string(host.PidMode), IPCMode: string(host.IpcMode), VolumesFrom: host.VolumesFrom,
		MemoryBytes: host.Memory, NanoCPUs: nanoCPUs(&host.Resources), Privileged: host.Privileged, CapAdd: host.CapAdd, CapDrop: host.CapDrop,
	}
	if host.PidsLimit != nil {
		out.PIDsLimit = max(0, *host.PidsLimit)
	}
	if c.NetworkSettings != nil {
		out.Networks = slices.Sorted(maps.Keys(c.NetworkSettings.Networks))
	}
	for port, bindings := range host.PortBindings {
		for _, b := range bindings {
			out.Ports = append(out.Ports, fmt.Sprintf("%s:%s:%s", b.HostIP, b.HostPort, port))
		}
	}
	slices.Sort(out.Ports)
	return out
}

// nanoCPUs returns the limit of processor time, however it was set.
func nanoCPUs(r *container.Resources) int64 {
	if r.NanoCPUs > 0 || r.CPUPeriod == 0 || r.CPUQuota <= 0 {
		return r.NanoCPUs
	}
	return r.CPUQuota * 1_000_000_000 / r.CPUPeriod
}
