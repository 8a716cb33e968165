package engine

import (
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
)

func (i *Info) toProto() *enginev1.InfoResponse {
	out := &enginev1.InfoResponse{
		Version: i.Version, ApiVersion: i.APIVersion, Os: i.OS, Arch: i.Arch, Variant: i.Variant, ComposeError: i.ComposeError, Id: i.ID,
	}
	if i.Compose != nil {
		out.Compose = &enginev1.ComposeInfo{Version: i.Compose.Version, PullPolicy: i.Compose.PullPolicy}
	}
	return out
}

func infoFrom(p *enginev1.InfoResponse) *Info {
	out := &Info{
		Version: p.GetVersion(), APIVersion: p.GetApiVersion(), OS: p.GetOs(), Arch: p.GetArch(), Variant: p.GetVariant(),
		ComposeError: p.GetComposeError(), ID: p.GetId(),
	}
	if c := p.GetCompose(); c != nil {
		out.Compose = &Compose{Version: c.GetVersion(), PullPolicy: c.GetPullPolicy()}
	}
	return out
}

func (m Mount) toProto() *enginev1.Mount {
	return &enginev1.Mount{Type: m.Type, Name: m.Name, Source: m.Source, Destination: m.Destination, ReadOnly: m.ReadOnly}
}

func (c *Container) toProto() *enginev1.Container {
	out := &enginev1.Container{
		Id: c.ID, Name: c.Name, Image: c.Image, ImageId: c.ImageID, State: c.State, Status: c.Status, Labels: c.Labels,
		CreatedAt: c.CreatedAt,
	}
	for _, m := range c.Mounts {
		out.Mounts = append(out.Mounts, m.toProto())
	}
	return out
}

func containerFrom(p *enginev1.Container) Container {
	out := Container{
		ID: p.GetId(), Name: p.GetName(), Image: p.GetImage(), ImageID: p.GetImageId(), State: p.GetState(), Status: p.GetStatus(),
		Labels: p.GetLabels(), CreatedAt: p.GetCreatedAt(),
	}
	for _, m := range p.GetMounts() {
		out.Mounts = append(out.Mounts, Mount{
			Type: m.GetType(), Name: m.GetName(), Source: m.GetSource(), Destination: m.GetDestination(), ReadOnly: m.GetReadOnly(),
		})
	}
	return out
}

func (d *Detail) toProto() *enginev1.InspectResponse {
	return &enginev1.InspectResponse{
		Container: d.Container.toProto(), Health: d.Health, HealthLog: d.HealthLog,
		StartPeriodMs: d.StartPeriodMS, IntervalMs: d.IntervalMS, TimeoutMs: d.TimeoutMS, Retries: int32(d.Retries),
		RestartCount: int32(d.RestartCount), ExitCode: int32(d.ExitCode), OomKilled: d.OOMKilled, Error: d.Error,
		StartedAtUnixMs: d.StartedAt, RestartPolicy: d.RestartPolicy, Config: d.Config.toProto(), StoppedByRequest: d.StoppedByRequest,
	}
}

func detailFrom(p *enginev1.InspectResponse) *Detail {
	return &Detail{
		Container: containerFrom(p.GetContainer()), Health: p.GetHealth(), HealthLog: p.GetHealthLog(),
		StartPeriodMS: p.GetStartPeriodMs(), IntervalMS: p.GetIntervalMs(), TimeoutMS: p.GetTimeoutMs(), Retries: int(p.GetRetries()),
		RestartCount: int(p.GetRestartCount()), ExitCode: int(p.GetExitCode()), OOMKilled: p.GetOomKilled(), Error: p.GetError(),
		StartedAt: p.GetStartedAtUnixMs(), RestartPolicy: p.GetRestartPolicy(), Config: containerConfigFrom(p.GetConfig()),
		StoppedByRequest: p.GetStoppedByRequest(),
	}
}

func (i *Image) toProto() *enginev1.Image {
	if i == nil {
		return nil
	}
	return &enginev1.Image{
		Id: i.ID, RepoTags: i.RepoTags, RepoDigests: i.RepoDigests, Os: i.OS, Arch: i.Arch, Variant: i.Variant, Labels: i.Labels,
		SizeBytes: i.SizeBytes, CreatedAt: i.CreatedAt, Config: i.Config.toProto(),
	}
}

func imageFrom(p *enginev1.Image) *Image {
	if p == nil {
		return nil
	}
	return &Image{
		ID: p.GetId(), RepoTags: p.GetRepoTags(), RepoDigests: p.GetRepoDigests(), OS: p.GetOs(), Arch: p.GetArch(),
		Variant: p.GetVariant(), Labels: p.GetLabels(), SizeBytes: p.GetSizeBytes(), CreatedAt: p.GetCreatedAt(),
		Config: imageConfigFrom(p.GetConfig()),
	}
}

func (s *Sample) toProto() *enginev1.Sample {
	out := &enginev1.Sample{
		ContainerId: s.ContainerID, SampledAtUnixMs: s.SampledAt, MemUsed: s.MemUsed, MemLimit: s.MemLimit,
		NetRx: s.NetRx, NetTx: s.NetTx, Pids: s.PIDs,
	}
	if s.HasCPU {
		out.CpuPercent = &s.CPUPercent
	}
	if s.HasBlock {
		out.Block = &enginev1.BlockCounters{Read: s.BlockRead, Write: s.BlockWrite}
	}
	return out
}

func sampleFrom(p *enginev1.Sample) Sample {
	return Sample{
		ContainerID: p.GetContainerId(), SampledAt: p.GetSampledAtUnixMs(), CPUPercent: p.GetCpuPercent(), HasCPU: p.CpuPercent != nil,
		MemUsed: p.GetMemUsed(), MemLimit: p.GetMemLimit(), NetRx: p.GetNetRx(), NetTx: p.GetNetTx(),
		HasBlock: p.GetBlock() != nil, BlockRead: p.GetBlock().GetRead(), BlockWrite: p.GetBlock().GetWrite(), PIDs: p.GetPids(),
	}
}

func (e *Event) toProto() *enginev1.EventsResponse {
	return &enginev1.EventsResponse{Type: e.Type, Action: e.Action, Id: e.ID, Labels: e.Labels, AtUnixMs: e.At}
}

func eventFrom(p *enginev1.EventsResponse) Event {
	return Event{Type: p.GetType(), Action: p.GetAction(), ID: p.GetId(), Labels: p.GetLabels(), At: p.GetAtUnixMs()}
}

func (p *PullProgress) toProto() *enginev1.PullProgress {
	out := &enginev1.PullProgress{
		CurrentBytes: p.CurrentBytes, TotalBytes: p.TotalBytes, CompletedLayers: int32(p.CompletedLayers),
		TotalLayers: int32(p.TotalLayers), Status: p.Status,
	}
	for _, l := range p.Active {
		out.Active = append(out.Active, &enginev1.Layer{Id: l.ID, Status: l.Status, CurrentBytes: l.CurrentBytes, TotalBytes: l.TotalBytes})
	}
	return out
}

func progressFrom(p *enginev1.PullProgress) PullProgress {
	out := PullProgress{
		CurrentBytes: p.GetCurrentBytes(), TotalBytes: p.GetTotalBytes(), CompletedLayers: int(p.GetCompletedLayers()),
		TotalLayers: int(p.GetTotalLayers()), Status: p.GetStatus(),
	}
	for _, l := range p.GetActive() {
		out.Active = append(out.Active, Layer{ID: l.GetId(), Status: l.GetStatus(), CurrentBytes: l.GetCurrentBytes(),
			TotalBytes: l.GetTotalBytes()})
	}
	return out
}

func (r *PullRequest) toProto() *enginev1.PullRequest {
	return &enginev1.PullRequest{Ref: r.Ref, Platform: r.Platform, DockerConfig: r.DockerConfig}
}

func pullFrom(p *enginev1.PullRequest) PullRequest {
	return PullRequest{Ref: p.GetRef(), Platform: p.GetPlatform(), DockerConfig: p.GetDockerConfig()}
}

func (r *ComposeRequest) toProto() *enginev1.ComposeRequest {
	return &enginev1.ComposeRequest{
		Bin: r.Bin, Action: r.Action, Project: r.Project, WorkingDir: r.WorkingDir, Files: r.Files, EnvFiles: r.EnvFiles,
		Profiles: r.Profiles, Services: r.Services, DockerConfig: r.DockerConfig, DryRun: r.DryRun,
		Scale: mapValues[int32](r.Scale), Force: r.Force, NoStart: r.NoStart,
	}
}

func composeFrom(p *enginev1.ComposeRequest) ComposeRequest {
	return ComposeRequest{
		Bin: p.GetBin(), Action: p.GetAction(), Project: p.GetProject(), WorkingDir: p.GetWorkingDir(), Files: p.GetFiles(),
		EnvFiles: p.GetEnvFiles(), Profiles: p.GetProfiles(), Services: p.GetServices(), DockerConfig: p.GetDockerConfig(), DryRun: p.GetDryRun(),
		Scale: mapValues[int](p.GetScale()), Force: p.GetForce(), NoStart: p.GetNoStart(),
	}
}

// mapValues returns a copy of m with its numbers as another type; nil for an empty one.
func mapValues[B, A ~int | ~int32](m map[string]A) map[string]B {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]B, len(m))
	for name, n := range m {
		out[name] = B(n)
	}
	return out
}

func (r *ComposeResult) toProto() *enginev1.ComposeResult {
	return &enginev1.ComposeResult{Command: r.Command, ExitCode: int32(r.ExitCode), Tail: r.Tail}
}

func resultFrom(p *enginev1.ComposeResult) *ComposeResult {
	return &ComposeResult{Command: p.GetCommand(), ExitCode: int(p.GetExitCode()), Tail: p.GetTail()}
}
