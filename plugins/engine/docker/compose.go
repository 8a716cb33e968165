package docker

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Compose implements engine.Runner.
func (d *docker) Compose(ctx context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
	p, err := d.probes.findProbe(ctx, req.Bin)
	if err != nil {
		return nil, err
	}
	args, err := composeArguments(p, &req)
	if err != nil {
		return nil, err
	}
	command := append(strings.Fields(req.Bin), args...)
	if req.DryRun {
		return &engine.ComposeResult{Command: command}, nil
	}
	env, cleanup, err := d.composeEnvironment(&req)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	lock, err := lockProject(ctx, &req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }()
	if req.Action != engine.ActionStop && req.Action != engine.ActionHash {
		if err := d.repairProject(ctx, &req, send); err != nil {
			return nil, err
		}
	}
	res, err := d.runCommand(ctx, append([]string{p.path}, command[1:]...), req.WorkingDir, env, lock, send)
	if err != nil {
		return nil, err
	}
	res.Command = command
	return res, nil
}

// composeArguments returns what follows the words of the command. Names are checked before: none can be taken for an option.
func composeArguments(p *probe, req *engine.ComposeRequest) ([]string, error) {
	if !p.pullPolicy && len(req.EnvFiles) > 1 {
		return nil, errs.New(errs.Caller, codes.FailedPrecondition, reasonNoCompose, "this compose command (%s) takes one env file", p.version)
	}
	out := []string{"--project-directory", req.WorkingDir, "-p", req.Project}
	for _, f := range req.Files {
		out = append(out, "-f", f)
	}
	for _, f := range req.EnvFiles {
		out = append(out, "--env-file", f)
	}
	for _, f := range req.Profiles {
		out = append(out, "--profile", f)
	}
	if req.Action == engine.ActionHash {
		return append(out, "config", "--hash", strings.Join(req.Services, ",")), nil
	}
	return slices.Concat(out, composeVerb(p, req), scaleOptions(p, req), req.Services), nil
}

// scaleOptions keep the number of containers of services, where "up" would bring it to what the files say.
func scaleOptions(p *probe, req *engine.ComposeRequest) (out []string) {
	if composeVerb(p, req)[0] != "up" {
		return nil
	}
	for _, service := range slices.Sorted(maps.Keys(req.Scale)) {
		out = append(out, "--scale", service+"="+strconv.Itoa(req.Scale[service]))
	}
	return out
}

// composeVerb returns the compose command itself with its options.
func composeVerb(p *probe, req *engine.ComposeRequest) []string {
	switch {
	case req.Action == engine.ActionRecreate:
		out := []string{"up", "-d"}
		if req.NoStart {
			// The first generation refuses -d beside it.
			out[1] = "--no-start"
		}
		if p.pullPolicy {
			// The first generation pulls only what is missing, and what it is to run is here.
			out = append(out, "--pull", "never")
		}
		if out = append(out, "--no-deps"); req.Force {
			out = append(out, "--force-recreate")
		}
		return out
	case req.Action == engine.ActionStart && !p.pullPolicy:
		return []string{"start"}
	case req.Action == engine.ActionStart && len(req.Services) > 0:
		return []string{"up", "-d", "--pull", "never", "--no-recreate", "--no-deps"}
	case req.Action == engine.ActionStart:
		return []string{"up", "-d", "--pull", "never", "--no-recreate"}
	}
	return []string{req.Action}
}

// inherited are the variables that compose gets from the plugin: none of them is compose's own.
var inherited = []string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"}

// composeEnvironment returns the variables of compose. cleanup removes the copy of the client configuration.
func (d *docker) composeEnvironment(req *engine.ComposeRequest) (env []string, cleanup func(), err error) {
	env = baseEnvironment()
	if host := d.engineHost(); host != "" {
		env = append(env, "DOCKER_HOST="+host)
	}
	if d.cfg.TLSDir != "" {
		env = append(env, "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH="+d.cfg.TLSDir)
	}
	path := req.DockerConfig
	if path == "" {
		path = d.cfg.DockerConfig
	}
	if path == "" {
		return env, func() {}, nil
	}
	c, err := d.readAuth(path)
	if err != nil {
		return nil, nil, err
	}
	dir, cleanup, err := c.Stage()
	if err != nil {
		return nil, nil, errs.New(errs.Plugin, codes.Internal, "INTERNAL", "%v", err)
	}
	linkPlugins(dir, path)
	return append(env, "DOCKER_CONFIG="+dir), cleanup, nil
}

func baseEnvironment() (env []string) {
	for _, name := range inherited {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// pluginsDir is where the client looks for its own plugins: compose may be one of them.
const pluginsDir = "cli-plugins"

// linkPlugins makes the client's plugins visible in a copy of its configuration: those beside the original, else the
// user's own. Without any, compose is looked for in the system's folders.
func linkPlugins(dir, original string) {
	if info, err := os.Stat(original); err == nil && !info.IsDir() {
		original = filepath.Dir(original)
	}
	for _, from := range []string{original, filepath.Join(os.Getenv("HOME"), ".docker")} {
		from = filepath.Join(from, pluginsDir)
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			_ = os.Symlink(from, filepath.Join(dir, pluginsDir))
			return
		}
	}
}
