// Package compose says what compose projects are: from their files as they are on disk, and from the labels of
// containers. It runs nothing, asks nobody else, and does not read this process's environment. Load reads no env_file
// values; Expect does.
package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

// Limits of what is read.
const (
	// maxFile is the largest compose file, in bytes.
	maxFile = 4 << 20
	// maxEnvFile is the largest file of variables, in bytes; maxEnv what its values may become when they name each other.
	maxEnvFile = 256 << 10
	maxEnv     = 1 << 20
	// maxFiles is how many files a project may have, with those that it includes or extends.
	maxFiles = 64
	// maxTotal is the size of all of them together, in bytes.
	maxTotal = 8 << 20
	// maxNodes is how many values one file may have, each alias counted as what it stands for.
	maxNodes = 20_000
	// maxDepth is how deep values may be nested; maxBraces the same for variables.
	maxDepth  = 100
	maxBraces = 10
	// maxScalar is the longest text with variables in it; maxExpanded what all variables together may become.
	maxScalar   = 64 << 10
	maxExpanded = 16 << 20
)

// Source tells where a project is.
type Source struct {
	// Project is its name as the labels have it.
	Project string
	// WorkingDir is absolute: relative files and bind mounts are below it.
	WorkingDir string
	// Files are the compose files in order; later ones win.
	Files []string
	// Roots are folders whose files may be read besides those of WorkingDir; one of them may be a single file.
	Roots []string
	// EnvFiles hold the variables; none means ".env" in WorkingDir, if there is one.
	EnvFiles []string
	// Profiles restricts the services to those without a profile and those of the named ones; none means all services.
	Profiles []string

	// inherited are variables that win over those of files.
	inherited map[string]string
}

// Project is what the files say, after variables, includes and extends.
type Project struct {
	Name string
	// Files are absolute and without repetitions, in the order of Source.Files.
	Files []string
	// Parts are the absolute files that these include or extend, in order of names.
	Parts []string
	// Services are in order of names.
	Services []Service
}

// Service is one service of a project.
type Service struct {
	Name string
	// Image is what the file says after variables; "" for a service that is only built.
	Image string
	// Ref is Image in its parts; the zero Ref when Image is none that can be read.
	Ref image.Ref
	// Profiles are those that the service is in; none means that it always runs.
	Profiles []string
	// EnvFiles are the files of variables that the service names.
	EnvFiles []string
	// DependsOn are names of other services, in order.
	DependsOn []string
	// Awaited tells that another service waits for its end with success.
	Awaited bool
	// Volumes are the named volumes and bind mounts in order of the file.
	Volumes []Mount
	// HasBuild tells that the image can be built from source.
	HasBuild bool
	// Labels are those in the compose files.
	Labels map[string]string
	// Replicas is the number of containers.
	Replicas int
	// ContainerName is the name of its container, where the file gives one.
	ContainerName string
	// SharesWith are the services and containers whose namespaces or volumes it uses, each after SharesService or
	// SharesContainer.
	SharesWith []string
}

// Prefixes of Service.SharesWith.
const (
	SharesService   = "service:"
	SharesContainer = "container:"
)

// Kinds of mounts.
const (
	DockerVolume = "docker-volume"
	BindMount    = "bind-mount"
)

// Mount is a place for data outside of the image.
type Mount struct {
	// Kind is DockerVolume or BindMount.
	Kind string
	// Name is the engine's name of a volume; "" for a bind mount.
	Name string
	// Source is the absolute path of a bind mount; "" for a volume.
	Source string
	// Target is the path in the container.
	Target   string
	ReadOnly bool
}

// Service finds a service by its name; nil without one.
func (p *Project) Service(name string) *Service {
	for i := range p.Services {
		if p.Services[i].Name == name {
			return &p.Services[i]
		}
	}
	return nil
}

// Load reads a project. Its error is an *Error, or the one of ctx, which also bounds the time.
func Load(ctx context.Context, src Source) (*Project, error) {
	return readBounded(ctx, func() (*Project, error) { return loadProject(ctx, src) })
}

// readBounded waits for what read returns, or for the end of ctx: the loader does not look at ctx; what it does is bounded by
// the limits.
func readBounded[T any](ctx context.Context, read func() (*T, error)) (*T, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type answer struct {
		value *T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// AbsoluteFiles makes the files absolute and clean, and leaves out repetitions. A relative file needs an absolute working
// directory; ok is false otherwise.
func AbsoluteFiles(workingDir string, files []string) (out []string, ok bool) {
	for _, file := range files {
		file = strings.TrimSpace(file)
		if file == "" {
			continue
		}
		if !filepath.IsAbs(file) {
			if !filepath.IsAbs(workingDir) {
				return nil, false
			}
			file = filepath.Join(workingDir, file)
		}
		if file = filepath.Clean(file); !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	return out, true
}

// ReadFile reads a regular file of at most 4 MiB; it is what Observe is usually given. It never blocks on pipes.
func ReadFile(path string) ([]byte, error) { return readFile(path, maxFile) }

func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > limit:
		return nil, errTooLarge
	}
	text, err := os.ReadFile(path)
	if err == nil && int64(len(text)) > limit {
		err = errTooLarge
	}
	return text, err
}

var (
	errNoFile   = errors.New("it is not a regular file")
	errTooLarge = errors.New("it is too large")
)
