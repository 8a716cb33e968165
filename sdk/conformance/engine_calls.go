package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// unreachable is an image of a registry that does not exist.
const unreachable = "127.0.0.1:1/conformance/none:1"

func (r *engineRun) badReference(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		for _, ref := range []string{"", "-q", "a b", "host/app:1\n", strings.Repeat("x", 5000)} {
			_, err := c.Pull(ctx, engine.PullRequest{Ref: ref}, noProgress)
			_, imagesErr := c.Images(ctx, []string{ref})
			what := fmt.Sprintf("the reference %.20q", ref)
			if err := errors.Join(r.InspectRefusal(what, err), r.InspectRefusal(what, imagesErr), r.InspectRefusal(what, c.Tag(ctx, ref, "a:b")),
				r.InspectRefusal(what, c.Tag(ctx, "a:b", ref))); err != nil {
				return err
			}
		}
		_, err := c.Pull(ctx, engine.PullRequest{Ref: unreachable, Platform: "no platform"}, noProgress)
		return r.InspectRefusal("a platform with a space", err)
	})
}

func (r *engineRun) pullFailure(ctx context.Context) error {
	config, done, err := r.writeLogin()
	if err != nil {
		return err
	}
	defer done()
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		_, err := c.Pull(ctx, engine.PullRequest{Ref: unreachable, DockerConfig: config}, noProgress)
		if err := r.InspectCode("a pull from a registry that is down", err, codes.Unavailable); err != nil {
			return err
		}
		if e := errs.From(err); e.Source != errs.Upstream {
			return fmt.Errorf("a registry that is down is the upstream's fault; got source %s: %w", e.Source, err)
		}
		_, err = c.Pull(ctx, engine.PullRequest{Ref: unreachable, DockerConfig: config + ".none"}, noProgress)
		return r.InspectRefusal("a client configuration that does not exist", err)
	})
}

func (r *engineRun) checkTag(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		err := c.Tag(ctx, "conformance.invalid/no/such:image", "conformance.invalid/other:1")
		return r.InspectCode("the tag of an unknown image", err, codes.NotFound)
	})
}

// composeRequest is a good request, for a project that does not exist.
func (r *engineRun) composeRequest(action string) engine.ComposeRequest {
	bin := r.cfg.ComposeBin
	if bin == "" {
		bin = "docker-compose"
	}
	return engine.ComposeRequest{
		Bin: bin, Action: action, Project: "conformance", WorkingDir: "/nowhere/conformance",
		Files:    []string{"/nowhere/conformance/compose.yaml"},
		Services: []string{"web"}, DryRun: true,
	}
}

func (r *engineRun) composeDry(ctx context.Context) error {
	if r.cfg.ComposeBin == "" {
		return suite.Skip("there is no compose command")
	}
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		info, err := c.Info(ctx, r.cfg.ComposeBin)
		if err != nil {
			return r.InspectError("info", err)
		}
		if info.Compose == nil || info.Compose.Version == "" {
			return fmt.Errorf("the compose command cannot be used: %s", info.ComposeError)
		}
		for _, action := range []string{engine.ActionRecreate, engine.ActionStart, engine.ActionStop, engine.ActionRestart} {
			ran := false
			res, err := c.Compose(ctx, r.composeRequest(action), func(engine.Line) error { ran = true; return nil })
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", action, r.InspectError("compose", err))
			case ran:
				return fmt.Errorf("%s: a dry run has output: it was run", action)
			}
			if err := r.checkCommand(action, info.Compose, res); err != nil {
				return fmt.Errorf("%s: %v: %w", action, res.Command, err)
			}
		}
		return nil
	})
}

// checkCommand checks what would run.
func (r *engineRun) checkCommand(action string, can *engine.Compose, res *engine.ComposeResult) error {
	words := strings.Fields(r.cfg.ComposeBin)
	has := func(w string) bool { return slices.Contains(res.Command, w) }
	up := action == engine.ActionRecreate || action == engine.ActionStart && can.PullPolicy
	switch {
	case res.ExitCode != 0 || res.Tail != "":
		return errors.New("a dry run has an exit code or output")
	case len(res.Command) <= len(words) || !slices.Equal(res.Command[:len(words)], words):
		return errors.New("it should begin with the words of the command")
	case !has("web") || !has("conformance") || !has("/nowhere/conformance/compose.yaml"):
		return errors.New("it should name the project, its file and the service")
	case up && !has("--no-deps"):
		return errors.New("it may touch other services: --no-deps is missing")
	case up && can.PullPolicy && !has("--pull"):
		return errors.New("it may pull")
	case !up && !has(action):
		return errors.New("it should run the command of the action's name")
	}
	return nil
}

func (r *engineRun) badCompose(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		for name, change := range map[string]func(*engine.ComposeRequest){
			"no command":              func(q *engine.ComposeRequest) { q.Bin = " " },
			"an unknown command":      func(q *engine.ComposeRequest) { q.Bin = "conformance-no-such-command" },
			"an unknown action":       func(q *engine.ComposeRequest) { q.Action = "down" },
			"an option as project":    func(q *engine.ComposeRequest) { q.Project = "--help" },
			"an option as service":    func(q *engine.ComposeRequest) { q.Services = []string{"--rm"} },
			"an option as profile":    func(q *engine.ComposeRequest) { q.Profiles = []string{"-f"} },
			"a relative file":         func(q *engine.ComposeRequest) { q.Files = []string{"compose.yaml"} },
			"a file with a detour":    func(q *engine.ComposeRequest) { q.Files = []string{"/a/../b"} },
			"a relative env file":     func(q *engine.ComposeRequest) { q.EnvFiles = []string{".env"} },
			"no file":                 func(q *engine.ComposeRequest) { q.Files = nil },
			"no directory":            func(q *engine.ComposeRequest) { q.WorkingDir = "" },
			"a recreation of nothing": func(q *engine.ComposeRequest) { q.Services = nil },
		} {
			q := r.composeRequest(engine.ActionRecreate)
			change(&q)
			_, err := c.Compose(ctx, q, noLine)
			if err := r.InspectRefusal("a compose request with "+name, err); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *engineRun) checkArchive(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		const none = "conformance-no-such-container"
		if err := errors.Join(
			r.InspectCode("an archive of an unknown container", c.Archive(ctx, none, "/data", io.Discard), codes.NotFound),
			r.InspectCode("a restoration of an unknown container", c.Restore(ctx, none, "/data", strings.NewReader(strings.Repeat("\x00", 1024))),
				codes.NotFound),
		); err != nil {
			return err
		}
		for _, path := range []string{"", "data", "/a/../b"} {
			what := fmt.Sprintf("the path %q", path)
			if err := errors.Join(r.InspectRefusal(what, c.Archive(ctx, none, path, io.Discard)),
				r.InspectRefusal(what, c.Restore(ctx, none, path, strings.NewReader("")))); err != nil {
				return err
			}
		}
		return nil
	})
}

// containerLogs is for engines that read the output of containers.
func (r *engineRun) containerLogs(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		noLog := func(engine.LogLine) error { return nil }
		err := c.Logs(ctx, engine.LogRequest{Container: "conformance-no-such-container", Tail: 1}, noLog)
		if err != nil && errs.From(err).Code == codes.Unimplemented {
			return suite.Skip("the engine does not read the output of containers")
		}
		return errors.Join(
			r.InspectCode("the output of an unknown container", err, codes.NotFound),
			r.InspectCode("following an unknown container",
				c.Logs(ctx, engine.LogRequest{Container: "conformance-no-such-container", Follow: true}, noLog), codes.NotFound),
			r.InspectRefusal("an option as container", c.Logs(ctx, engine.LogRequest{Container: "--all", Tail: 1}, noLog)),
			r.InspectRefusal("too many lines", c.Logs(ctx, engine.LogRequest{Container: "a", Tail: engine.MaxTail + 1}, noLog)),
			r.InspectRefusal("a negative number of lines", c.Logs(ctx, engine.LogRequest{Container: "a", Tail: -1}, noLog)),
		)
	})
}

// runCommand is for engines that run commands of images.
func (r *engineRun) runCommand(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		run := func(image, name string, args ...string) error {
			_, err := c.Run(ctx, engine.RunRequest{Image: image, Name: name, Args: args})
			return err
		}
		const none, name = "conformance.invalid/no/such:image", "conformance-run"
		err := run(none, name)
		if err != nil && errs.From(err).Code == codes.Unimplemented {
			return suite.Skip("the engine does not run commands of images")
		}
		return errors.Join(
			r.InspectCode("a command of an unknown image", err, codes.NotFound),
			r.InspectRefusal("an option as image", run("--privileged", name)),
			r.InspectRefusal("an option as name of the container", run(none, "--rm")),
			r.InspectRefusal("a container without a name", run(none, "")),
			r.InspectRefusal("an argument that is too long", run(none, name, strings.Repeat("x", 5000))),
		)
	})
}

// checkCancel ends the events of an instance. That the plugin's side has ended too is seen by removing the instance, which waits
// for calls.
func (r *engineRun) checkCancel(ctx context.Context) error {
	const id = "cut-short"
	if err := r.MakeInstance(ctx, id); err != nil {
		return err
	}
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	err := r.clientAt(id).Events(short, func(engine.Event) error {
		began = time.Now()
		cancel()
		return nil
	})
	if e := errs.From(err); err == nil || e.Code != codes.Canceled {
		return fmt.Errorf("events that are called off should end with Canceled; got: %w", r.InspectError("events", err))
	}
	if took := time.Since(began); took > r.Settings.Prompt {
		return fmt.Errorf("the events went on for %s after their end", took.Round(time.Millisecond))
	}
	return r.RemoveAfterCut(ctx, id)
}
