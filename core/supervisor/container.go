package supervisor

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Labels of compose that tell where a container belongs.
const (
	labelWorkingDir = "com.docker.compose.project.working_dir"
	labelFiles      = "com.docker.compose.project.config_files"
	labelEnvFiles   = "com.docker.compose.project.environment_file"
)

// Labels and variables of the core's image and container.
const (
	labelVersion = "org.opencontainers.image.version"
	envAddr      = "SVC_HTTP_ADDR"
	corePort     = "50883"
)

// ownService is what the supervisor's own compose service is called, which is never taken for the core.
const ownService = "supervisor"

// Engine is what the supervisor asks of a container engine. Errors are faults.
type Engine interface {
	Info(ctx context.Context, composeBin string) (*engine.Info, error)
	Containers(ctx context.Context, f engine.Filter) ([]engine.Container, error)
	Inspect(ctx context.Context, id string) (*engine.Detail, error)
	Images(ctx context.Context, refs []string) ([]*engine.Image, error)
	Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error)
	Tag(ctx context.Context, image, ref string) error
	Compose(ctx context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error)
	engine.CommandRunner
}

// ContainerConfig says where the core's container is.
type ContainerConfig struct {
	Engine Engine
	// ImageRepo is the repository of the core's image. ContainerID and Service tell its container where that is not enough.
	ImageRepo, ContainerID, Service string
	// ComposeBin is the compose command, DockerConfig the credentials for pulling.
	ComposeBin, DockerConfig string
	// VersionCommand follows the entrypoint of an image to have it tell its version; none leaves that out.
	VersionCommand []string
	// EngineTimeout is how long an engine may be away (2 min).
	EngineTimeout time.Duration
}

// container is a core in a container of a compose project.
type container struct {
	s      *Supervisor
	cfg    ContainerConfig
	engine *patientEngine
}

func newContainer(s *Supervisor, cfg ContainerConfig) *container {
	if cfg.EngineTimeout == 0 {
		cfg.EngineTimeout = 2 * time.Minute
	}
	return &container{s: s, cfg: cfg, engine: &patientEngine{Engine: cfg.Engine, limit: cfg.EngineTimeout}}
}

func (d *container) kindName() string { return "container" }

func (d *container) sourceName() string { return d.cfg.ImageRepo }

// nameTarget implements deployment.
func (d *container) nameTarget(t Target) (Image, error) {
	return Image{Tag: t.Tag, Digest: t.Digest, Ref: d.findName(t)}, nil
}

func (d *container) timeAway() time.Duration { return time.Duration(d.engine.waited.Load()) }

// currentID implements deployment.
func (d *container) currentID(ctx context.Context) (string, error) {
	c, err := d.findCore(ctx)
	if err != nil {
		return "", err
	}
	return c.ImageID, nil
}

// checkFormer implements deployment. An image that the engine has no longer is pulled by its digest.
func (d *container) checkFormer(*Operation) error { return nil }

// removeUnused implements deployment. Images are the business of whoever runs the engine.
func (d *container) removeUnused(*run) {}

// findCore returns the container of the core: the one that the settings name, or the one that runs an image of the repository.
func (d *container) findCore(ctx context.Context) (*engine.Detail, error) {
	if id := d.cfg.ContainerID; id != "" {
		return d.engine.Inspect(ctx, id)
	}
	list, err := d.engine.Containers(ctx, engine.Filter{Labels: []string{engine.LabelProject}})
	if err != nil {
		return nil, err
	}
	var found []engine.Container
	for _, c := range engine.Repair(list).Keep {
		if c.Labels[engine.LabelService] == ownService {
			continue
		}
		// A list names an image by its id once another one has got its tag.
		if strings.HasPrefix(c.Image, "sha256:") {
			found, err := d.engine.Inspect(ctx, c.ID)
			if fault.CodeOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			c = found.Container
		}
		if d.isOfRepository(c.Image) {
			found = append(found, c)
		}
	}
	if len(found) > 1 {
		named := slices.DeleteFunc(slices.Clone(found), func(c engine.Container) bool { return c.Labels[engine.LabelService] != d.cfg.Service })
		if len(named) > 0 {
			found = named
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.New(fault.InvalidArgument,
			"No container of a compose project runs an image of %s: set target_image_repo or target_container_id.", d.cfg.ImageRepo).With("reason",
			"target_not_found")
	case 1:
		return d.engine.Inspect(ctx, found[0].ID)
	}
	names := make([]string, 0, len(found))
	for _, c := range found {
		names = append(names, strings.TrimPrefix(c.Name, "/"))
	}
	slices.Sort(names)
	return nil, fault.New(fault.InvalidArgument,
		"Several containers run an image of %s (%s): set target_compose_service or target_container_id.", d.cfg.ImageRepo,
		strings.Join(names, ", ")).With("reason", "target_ambiguous")
}

// isOfRepository reports whether a reference names an image of the core's repository.
func (d *container) isOfRepository(ref string) bool {
	rest, ok := strings.CutPrefix(ref, d.cfg.ImageRepo)
	return ok && (rest == "" || rest[0] == ':' || rest[0] == '@')
}

// findName returns the reference by which compose asks for an image: its tag if it has one.
func (d *container) findName(t Target) string {
	if t.Tag == "" {
		return d.cfg.ImageRepo + "@" + t.Digest
	}
	return d.cfg.ImageRepo + ":" + t.Tag
}

// findSource returns the reference by which the registry is asked for an image: its digest if it is known.
func (d *container) findSource(t Target) string {
	if t.Digest != "" {
		return d.cfg.ImageRepo + "@" + t.Digest
	}
	return d.cfg.ImageRepo + ":" + t.Tag
}

// overridePath is the file that names the core's image for compose, where its project does not name it itself.
func (d *container) overridePath() string { return overrideBeside(d.s.cfg.StatePath) }

// overrideBeside returns the path of the override of a supervisor with a state file.
func overrideBeside(statePath string) string {
	return filepath.Join(filepath.Dir(statePath), "self-upgrade.override.yml")
}

// findPlace returns where the core's container stands. Its files must be readable here under their own paths.
func (d *container) findPlace(c *engine.Detail) (Place, error) {
	p := Place{
		Project: c.Labels[engine.LabelProject], Service: c.Labels[engine.LabelService], WorkingDir: c.Labels[labelWorkingDir],
		Files: splitPaths(c.Labels[labelFiles]), EnvFiles: splitPaths(c.Labels[labelEnvFiles]), Image: c.Image,
	}
	if p.Project == "" || p.Service == "" || p.WorkingDir == "" || len(p.Files) == 0 {
		return p, fault.New(fault.InvalidArgument, "The container %s was not created by compose: only a compose service can be replaced.",
			c.Name).With("reason", "not_a_compose_service")
	}
	own := d.overridePath()
	overridden := slices.Contains(p.Files, own)
	p.Files = slices.DeleteFunc(p.Files, func(path string) bool { return path == own })
	for _, path := range append(slices.Clone(p.Files), p.EnvFiles...) {
		f, err := os.Open(path)
		if err != nil {
			return p, fault.New(fault.InvalidArgument, "The compose file %s of the core cannot be read here: mount it at the same path.",
				path).With("reason", "compose_file_unreadable")
		}
		f.Close()
	}
	if overridden {
		p.Override, p.Image = overrideText(p.Service, c.Image), d.imageOfFiles()
	}
	return p, nil
}

// overrideText returns the text of the override that gives an image to a service.
func overrideText(service, image string) string {
	text, err := yaml.Marshal(map[string]any{"services": map[string]any{service: map[string]any{"image": image}}})
	if err != nil {
		// Maps of texts can always be written.
		return ""
	}
	return string(text)
}

// imageOfFiles returns the reference that the project's own files give to the core, as the last operation noted it before there was
// an override; "" if that is not known.
func (d *container) imageOfFiles() string {
	for _, o := range d.s.journal.Operations() {
		if o.Status != Running && o.Place.Image != "" {
			return o.Place.Image
		}
	}
	return ""
}

// splitPaths returns the paths of a label, which may be separated by commas.
func splitPaths(label string) (paths []string) {
	for p := range strings.SplitSeq(label, ",") {
		if p = strings.TrimSpace(p); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// listURLs returns where the core in a container may be reached: where the settings say, or by its published port and by the
// name of its service.
func (d *container) listURLs(c *engine.Detail) (urls []string) {
	if d.s.cfg.CoreURL != "" {
		return []string{strings.TrimSuffix(d.s.cfg.CoreURL, "/")}
	}
	port, service := corePort, c.Labels[engine.LabelService]
	if c.Config == nil {
		return []string{"http://" + net.JoinHostPort(service, port)}
	}
	for _, e := range c.Config.Env {
		if addr, ok := strings.CutPrefix(e, envAddr+"="); ok {
			if _, own, err := net.SplitHostPort(addr); err == nil {
				port = own
			}
		}
	}
	for _, published := range c.Config.Ports {
		parts := strings.Split(strings.TrimSuffix(published, ":"+port+"/tcp"), ":")
		if !strings.HasSuffix(published, ":"+port+"/tcp") || parts[len(parts)-1] == "" {
			continue
		}
		host := strings.Trim(strings.Join(parts[:len(parts)-1], ":"), "[]")
		if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		urls = append(urls, "http://"+net.JoinHostPort(host, parts[len(parts)-1]))
	}
	if c.Config.NetworkMode == "host" {
		urls = append(urls, "http://"+net.JoinHostPort("127.0.0.1", port))
	}
	urls = append(urls, "http://"+net.JoinHostPort(service, port))
	slices.Sort(urls[:len(urls)-1])
	return slices.Compact(urls)
}

// findImage returns the image that a container runs.
func (d *container) findImage(ctx context.Context, c *engine.Detail) (Image, error) {
	out := Image{Ref: c.Image, Tag: cutTag(c.Image), ID: c.ImageID}
	found, err := d.engine.Images(ctx, []string{c.ImageID})
	if err != nil {
		return out, err
	}
	if found[0] != nil {
		out.Digest, out.Version = d.findDigest(found[0]), found[0].Labels[labelVersion]
	}
	return out, nil
}

// findDigest returns the digest of an image in the core's repository; "" if it has none.
func (d *container) findDigest(img *engine.Image) string {
	for _, ref := range img.RepoDigests {
		if digest, ok := strings.CutPrefix(ref, d.cfg.ImageRepo+"@"); ok {
			return digest
		}
	}
	return ""
}

// cutTag returns the tag of a reference, or what stands for one.
func cutTag(ref string) string {
	ref, _, digested := strings.Cut(ref, "@")
	if i := strings.LastIndex(ref, ":"); i > strings.LastIndex(ref, "/") {
		return ref[i+1:]
	}
	if digested {
		return ""
	}
	return "latest"
}
