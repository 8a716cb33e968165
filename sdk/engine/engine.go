// Package engine is what the author of a container engine plugin implements, and what a caller of one uses.
//
// An engine plugin reads containers and images, pulls, tags, runs compose, and moves the contents of paths in and out. It
// decides nothing: what to update, in which order, and what to do when it fails is the host's. Long operations report
// while they run and end when the caller goes away; what they have started ends with them.
package engine

import (
	"context"
	"io"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "engine"
	Service = "patchbay.engine.v1.Engine"
)

// Engine drives a container engine. Calls come concurrently. Errors are made with package errs: what does not exist is
// NOT_FOUND, a state that does not allow it FAILED_PRECONDITION, input that the engine refuses INVALID_ARGUMENT, an
// engine that is down UNAVAILABLE with the reason errs.ReasonConnect; registry errors during Pull as in package registry.
// No error, line or event holds a credential.
type Engine interface {
	Reader
	Runner
	Archiver
}

// Reader is the part of Engine that changes nothing.
type Reader interface {
	// Info tells about the engine, and about the compose command if one is named.
	Info(ctx context.Context, composeBin string) (*Info, error)
	// Containers lists containers in one call to the engine, running or not.
	Containers(ctx context.Context, f Filter) ([]Container, error)
	// Inspect reads one container, by id or name.
	Inspect(ctx context.Context, id string) (*Detail, error)
	// Images reads images by reference or id. The answer has one entry for each that was asked for, in order; nil where
	// there is no such image.
	Images(ctx context.Context, refs []string) ([]*Image, error)
	// Stats takes one sample of each running container, without waiting for the engine's own interval. Containers that
	// are gone or stopped are left out. CPU is counted from the sample before, so the first has none.
	Stats(ctx context.Context, ids []string) ([]Sample, error)
	// Events hands on what happens to containers and images from now on, until ctx ends or send fails. The first event is
	// one of type EventReady, as soon as nothing will be missed.
	Events(ctx context.Context, send func(Event) error) error
}

// Runner is the part of Engine that changes containers and images.
type Runner interface {
	// Pull fetches an image by tag or digest, and returns it as the engine has it then.
	Pull(ctx context.Context, req PullRequest, send func(PullProgress) error) (*Image, error)
	// Tag gives an image another name, and moves the name if another image had it.
	Tag(ctx context.Context, image, ref string) error
	// Compose runs one compose command. A command that ran and failed is no error: the result has its exit code. One that
	// was interrupted before may still be ending, and may have left containers behind: Compose waits for its end, and does
	// what Repair says before every action but ActionStop.
	Compose(ctx context.Context, req ComposeRequest, send func(Line) error) (*ComposeResult, error)
}

// Archiver is the part of Engine that copies the contents of mounts.
type Archiver interface {
	// Archive writes the contents of a path within a container, running or not, as a tar stream to w. Names in it are
	// relative to the path.
	Archive(ctx context.Context, container, path string, w io.Writer) error
	// Restore makes the contents of a mount of a container equal to a tar stream as Archive writes it; what is not in it
	// is deleted. The container must not run. Path is the destination of the mount.
	Restore(ctx context.Context, container, path string, r io.Reader) error
}

// Info is what an engine says of itself.
type Info struct {
	// Version is the engine's, APIVersion the one that was negotiated.
	Version, APIVersion string
	// OS, Arch and Variant are the platform, in the words of the OCI image specification.
	OS, Arch, Variant string
	// Compose is nil if none was asked for. ComposeError says why it cannot be used.
	Compose      *Compose
	ComposeError string
	// ID is the same for all who reach this engine, and no other engine's; empty if it tells none. Cores that share a database tell by it which
	// of them can work on the engine's containers.
	ID string
}

// Compose is what a compose command is able to do.
type Compose struct {
	// Version is what it says, such as 1.29.2 or dev.
	Version string
	// PullPolicy tells that "up" knows --pull; commands of the first generation (1.x) do not.
	PullPolicy bool
}

// Filter selects containers; empty members select all.
type Filter struct {
	// Labels are name or name=value; all must be there.
	Labels []string
	// IDs are container ids.
	IDs []string
}

// Container is an entry of the list.
type Container struct {
	ID, Name string
	// Image is the reference in the words of the engine, ImageID the id of the image that it was made from.
	Image, ImageID string
	// State is created, running, paused, restarting, removing, exited or dead.
	State string
	// Status is for people, such as "Up 3 hours (healthy)".
	Status string
	Labels map[string]string
	// CreatedAt is in seconds since 1970.
	CreatedAt int64
	Mounts    []Mount
}

// Mount is a volume or directory of a container.
type Mount struct {
	// Type is volume, bind, tmpfs or another word of the engine.
	Type string
	// Name is that of a volume; Source the path on the host.
	Name, Source string
	// Destination is the path within the container.
	Destination string
	ReadOnly    bool
}

// Detail is a container with what only an inspection tells.
type Detail struct {
	Container
	// Health is healthy, unhealthy, starting or empty without a health check.
	Health string
	// HealthLog is the output of the last check, at most 1 KiB.
	HealthLog string
	// StartPeriodMS is the health check's start period, IntervalMS the pause between two checks, TimeoutMS what one may
	// take, Retries how many must fail; 0 where the image and the project say nothing.
	StartPeriodMS, IntervalMS, TimeoutMS int64
	Retries                              int
	RestartCount, ExitCode               int
	OOMKilled                            bool
	// Error is what the engine says about a container that did not start.
	Error string
	// StartedAt is in milliseconds since 1970; 0 if it never started.
	StartedAt int64
	// RestartPolicy is no, always, unless-stopped or on-failure.
	RestartPolicy string
	// StoppedByRequest tells that somebody has stopped the container, or may have: the engine does not remember its end.
	StoppedByRequest bool
	// Config is nil where the engine does not tell.
	Config *ContainerConfig
}

// ImageConfig are the defaults that an image gives to its containers.
type ImageConfig struct {
	// Env are NAME=value.
	Env                 []string
	Command, Entrypoint []string
	User, WorkingDir    string
	// Settings are further ones by the names that compose gives them, without those at their usual values. Lists are lines, sorted unless
	// their order counts; times are in nanoseconds, sizes in bytes. The protocol lists the names.
	Settings map[string]string
}

// ContainerConfig is what a container was created with, the defaults of its image included. Environment values are
// secrets: they are for comparing, not for showing.
type ContainerConfig struct {
	ImageConfig
	// NetworkMode, PIDMode and IPCMode are in the words of the engine; "container:ID" is another container's namespace.
	NetworkMode, PIDMode, IPCMode string
	// VolumesFrom are ids or names of containers, with or without ":ro" behind.
	VolumesFrom []string
	// Networks are the names of those that the container is connected to.
	Networks []string
	// Ports are published ones: "host address:host port:port/protocol"; parts that were left open are empty.
	Ports []string
	// MemoryBytes, NanoCPUs and PIDsLimit are 0 without a limit.
	MemoryBytes, NanoCPUs, PIDsLimit int64
	Privileged                       bool
	CapAdd, CapDrop                  []string
}

// Image is an image that the engine has.
type Image struct {
	ID                    string
	RepoTags, RepoDigests []string
	OS, Arch, Variant     string
	Labels                map[string]string
	SizeBytes             int64
	// CreatedAt is in seconds since 1970; 0 if the image does not say.
	CreatedAt int64
	// Config is nil where the engine does not tell.
	Config *ImageConfig
}

// Sample is one measurement of a container.
type Sample struct {
	ContainerID string
	// SampledAt is in milliseconds since 1970.
	SampledAt int64
	// CPUPercent is 100 for one whole core; HasCPU is false in the first sample of a container.
	CPUPercent float64
	HasCPU     bool
	// MemUsed leaves the page cache out. MemLimit is the host's memory if the container has no limit.
	MemUsed, MemLimit int64
	NetRx, NetTx      int64
	// HasBlock is false where the engine counts no block devices.
	HasBlock              bool
	BlockRead, BlockWrite int64
	PIDs                  int64
}

// EventReady is the type of the first event.
const EventReady = "ready"

// Event is something that happened.
type Event struct {
	// Type is container, image or EventReady; Action is in the words of the engine, such as start, die or pull.
	Type, Action string
	// ID is that of the container or image; Labels are a container's.
	ID     string
	Labels map[string]string
	// At is in milliseconds since 1970.
	At int64
}

// PullRequest asks for an image.
type PullRequest struct {
	// Ref is host/repository:tag or host/repository@sha256:….
	Ref string
	// Platform is os/arch or os/arch/variant; empty for the engine's own.
	Platform string
	// DockerConfig is where the credentials are, as in package registry; empty means what the instance's configuration
	// says.
	DockerConfig string
}

// PullProgress is how far a pull is. Bytes are those of the layers that are known so far.
type PullProgress struct {
	CurrentBytes, TotalBytes     int64
	CompletedLayers, TotalLayers int
	Active                       []Layer
	// Status is the last line that the engine wrote about the whole, such as "Digest: sha256:…".
	Status string
}

// Layer is a layer that is under way.
type Layer struct {
	ID, Status               string
	CurrentBytes, TotalBytes int64
}

// Actions of ComposeRequest.
const (
	// ActionRecreate makes the named services run the images that the engine has under their names now: up without
	// dependencies, without pulling, and without touching other services.
	ActionRecreate = "recreate"
	// ActionStart starts what is there and makes what is missing, without pulling, replacing or starting dependencies.
	// Without PullPolicy it starts existing containers only.
	ActionStart = "start"
	// ActionStop and ActionRestart run the commands of the same names.
	ActionStop    = "stop"
	ActionRestart = "restart"
	// ActionHash changes nothing: it writes a line of a name and a hash for each of the named services, as "config --hash" does.
	ActionHash = "hash"
)

// ComposeRequest asks for one compose command.
type ComposeRequest struct {
	// Bin is the command: a name, a path, or several words such as "docker compose". It never goes through a shell.
	Bin     string
	Action  string
	Project string
	// WorkingDir is the project directory, Files its files in order; all are absolute paths.
	WorkingDir string
	Files      []string
	EnvFiles   []string
	Profiles   []string
	// Services are those to act on; none means the whole project.
	Services []string
	// DockerConfig is bridged to the command through a directory of its own, which is removed afterwards.
	DockerConfig string
	// DryRun only tells what would run.
	DryRun bool
	// Scale is the number of containers of services, by name. A service that is not in it gets as many as the files say.
	Scale map[string]int
	// Force makes ActionRecreate replace containers that are up to date, too.
	Force bool
	// NoStart makes ActionRecreate leave new containers created and not started.
	NoStart bool
}

// Line is a line of output.
type Line struct {
	// Stderr tells which stream it came from.
	Stderr bool
	Text   string
}

// ComposeResult is what a compose command did.
type ComposeResult struct {
	// Command is what ran, word by word.
	Command  []string
	ExitCode int
	// Tail is the end of its output, at most 8 KiB.
	Tail string
}

// Definition declares an engine plugin whose config block is a C.
type Definition[C any] struct {
	// Build checks a configuration and returns what makes the engine. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
}

// Open makes an engine ready for calls. One that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (Engine, error)
