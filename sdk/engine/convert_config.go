package engine

import (
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
)

func (c *ImageConfig) toProto() *enginev1.ImageConfig {
	if c == nil {
		return nil
	}
	return &enginev1.ImageConfig{Env: c.Env, Command: c.Command, Entrypoint: c.Entrypoint, User: c.User, WorkingDir: c.WorkingDir,
		Settings: c.Settings}
}

func imageConfigFrom(p *enginev1.ImageConfig) *ImageConfig {
	if p == nil {
		return nil
	}
	return &ImageConfig{Env: p.GetEnv(), Command: p.GetCommand(), Entrypoint: p.GetEntrypoint(), User: p.GetUser(),
		WorkingDir: p.GetWorkingDir(), Settings: p.GetSettings()}
}

func (c *ContainerConfig) toProto() *enginev1.ContainerConfig {
	if c == nil {
		return nil
	}
	return &enginev1.ContainerConfig{
		Env: c.Env, Command: c.Command, Entrypoint: c.Entrypoint, User: c.User, WorkingDir: c.WorkingDir,
		NetworkMode: c.NetworkMode, PidMode: c.PIDMode, IpcMode: c.IPCMode, VolumesFrom: c.VolumesFrom, Networks: c.Networks, Ports: c.Ports,
		MemoryBytes: c.MemoryBytes, NanoCpus: c.NanoCPUs, PidsLimit: c.PIDsLimit, Privileged: c.Privileged, CapAdd: c.CapAdd, CapDrop: c.CapDrop,
		Settings: c.Settings,
	}
}

func containerConfigFrom(p *enginev1.ContainerConfig) *ContainerConfig {
	if p == nil {
		return nil
	}
	return &ContainerConfig{
		ImageConfig: ImageConfig{Env: p.GetEnv(), Command: p.GetCommand(), Entrypoint: p.GetEntrypoint(), User: p.GetUser(),
			WorkingDir: p.GetWorkingDir(), Settings: p.GetSettings()},
		NetworkMode: p.GetNetworkMode(), PIDMode: p.GetPidMode(), IPCMode: p.GetIpcMode(), VolumesFrom: p.GetVolumesFrom(),
		Networks: p.GetNetworks(), Ports: p.GetPorts(),
		MemoryBytes: p.GetMemoryBytes(), NanoCPUs: p.GetNanoCpus(), PIDsLimit: p.GetPidsLimit(), Privileged: p.GetPrivileged(),
		CapAdd: p.GetCapAdd(), CapDrop: p.GetCapDrop(),
	}
}
