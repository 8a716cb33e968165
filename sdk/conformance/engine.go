package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// EngineConfig tells how to use an engine plugin. The suite reads what the engine has, and changes nothing in it.
type EngineConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	// ComposeBin is a compose command that can be used; without one the checks of it are skipped.
	ComposeBin string
	// Secrets are the secrets in JSON: texts that are found nowhere else.
	Secrets []string
	// BaseDir is the directory of the configuration file; DataDir is a directory below which each instance gets its own.
	// Empty DataDir makes a temporary one.
	BaseDir string
	DataDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout time.Duration
	Prompt  time.Duration
}

// engineRun is one run of the suite.
type engineRun struct {
	*suite.Run
	cfg EngineConfig
}

// shown is the password that the suite lets a plugin show to a registry.
const shown = "conformance-Xq7-password"

// Engine runs all checks of the engine kind over a connection to a plugin. The plugin is stopped at the end; its process
// is the caller's to end.
func Engine(ctx context.Context, conn grpc.ClientConnInterface, cfg EngineConfig) report.Report {
	b, done := suite.New(conn, engine.Kind, engine.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, DataDir: cfg.DataDir, Logs: cfg.Logs,
		Timeout: cfg.Timeout, Prompt: cfg.Prompt, Secrets: append([]string{shown}, cfg.Secrets...),
	})
	defer done()
	r := &engineRun{Run: b, cfg: cfg}
	b.Answers = r.instanceAnswers
	return r.Perform(ctx, suite.Checks{List: []suite.Check{
		{Name: "unknown-instance", Perform: r.unknownInstance},
		{Name: "info", Perform: r.checkInfo},
		{Name: "containers", Perform: r.checkContainers},
		{Name: "inspect", Perform: r.checkInspect},
		{Name: "images", Perform: r.checkImages},
		{Name: "stats", Perform: r.checkStats},
		{Name: "events", Perform: r.checkEvents},
		{Name: "bad-reference", Perform: r.badReference},
		{Name: "pull-failure", Perform: r.pullFailure},
		{Name: "tag", Perform: r.checkTag},
		{Name: "compose", Perform: r.composeDry},
		{Name: "bad-compose", Perform: r.badCompose},
		{Name: "archive", Perform: r.checkArchive},
		{Name: "logs", Perform: r.containerLogs},
		{Name: "run", Perform: r.runCommand},
		{Name: "cancel", Perform: r.checkCancel},
	}})
}

func (r *engineRun) clientAt(id string) *engine.Client { return engine.NewClient(r.Conn, id) }

// instanceAnswers asks for the engine's version; an engine that is down answers too.
func (r *engineRun) instanceAnswers(ctx context.Context, id string) bool {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	_, err := r.clientAt(id).Info(ctx, "")
	return suite.IsPresent(err)
}

// withClient makes calls to the main instance, bounded in time.
func (r *engineRun) withClient(ctx context.Context, do func(context.Context, *engine.Client) error) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	return do(ctx, r.clientAt(r.MainID))
}

func noLine(engine.Line) error             { return nil }
func noProgress(engine.PullProgress) error { return nil }
func noEvent(engine.Event) error           { return nil }

func (r *engineRun) unknownInstance(ctx context.Context) error {
	var all []error
	for name, call := range map[string]func(context.Context, *engine.Client) error{
		"info": func(ctx context.Context, c *engine.Client) error { _, err := c.Info(ctx, ""); return err },
		"containers": func(ctx context.Context, c *engine.Client) error {
			return suite.ErrorAlone(c.Containers(ctx, engine.Filter{}))
		},
		"events": func(ctx context.Context, c *engine.Client) error { return c.Events(ctx, noEvent) },
		"pull": func(ctx context.Context, c *engine.Client) error {
			_, err := c.Pull(ctx, engine.PullRequest{Ref: unreachable}, noProgress)
			return err
		},
		"restore": func(ctx context.Context, c *engine.Client) error {
			return c.Restore(ctx, "x", "/x", strings.NewReader(""))
		},
	} {
		err := r.CheckUnknownInstances(func(id string) error {
			ctx, cancel := r.WithTimeout(ctx)
			defer cancel()
			return r.InspectError(name, call(ctx, r.clientAt(id)))
		})
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

func (r *engineRun) checkInfo(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		info, err := c.Info(ctx, "")
		switch {
		case err != nil:
			return r.InspectError("info", err)
		case info.Version == "" || info.OS == "" || info.Arch == "":
			return fmt.Errorf("version, os and arch must be there: %+v", info)
		case info.Compose != nil || info.ComposeError != "":
			return errors.New("it speaks of a compose command that was not asked about")
		}
		info, err = c.Info(ctx, "conformance-no-such-command")
		if err != nil {
			return fmt.Errorf("a compose command that does not exist must not fail the call: %w", r.InspectError("info", err))
		}
		if info.Compose != nil || info.ComposeError == "" {
			return errors.New("a compose command that does not exist should be told as ComposeError")
		}
		return nil
	})
}

var containerStates = []string{"created", "running", "paused", "restarting", "removing", "exited", "dead"}

func (r *engineRun) checkContainers(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		all, err := c.Containers(ctx, engine.Filter{})
		if err != nil {
			return r.InspectError("containers", err)
		}
		for _, one := range all {
			if one.ID == "" || one.ImageID == "" || !slices.Contains(containerStates, one.State) {
				return fmt.Errorf("a container without id or image, or with the unknown state %q: %+v", one.State, one)
			}
		}
		for _, f := range []engine.Filter{
			{Labels: []string{"conformance.no.such.label"}}, {Labels: []string{"conformance.no.such.label=1"}},
			{IDs: []string{strings.Repeat("0", 64)}},
		} {
			if none, err := c.Containers(ctx, f); err != nil || len(none) != 0 {
				return fmt.Errorf("the filter %+v should give nothing; got %d, %v", f, len(none), r.InspectError("containers", err))
			}
		}
		return nil
	})
}

func (r *engineRun) checkInspect(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		_, err := c.Inspect(ctx, "conformance-no-such-container")
		if err := r.InspectCode("an unknown container", err, codes.NotFound); err != nil {
			return err
		}
		_, err = c.Inspect(ctx, "../version")
		if err := r.InspectRefusal("an id with a path in it", err); err != nil {
			return err
		}
		all, err := c.Containers(ctx, engine.Filter{})
		if err != nil || len(all) == 0 {
			return r.InspectError("containers", err)
		}
		d, err := c.Inspect(ctx, all[0].ID)
		if e := errs.From(err); err != nil && e.Code == codes.NotFound {
			// It may have gone since.
			return nil
		}
		if err != nil {
			return r.InspectError("inspect", err)
		}
		if d.ID != all[0].ID || d.ImageID != all[0].ImageID || d.RestartPolicy == "" || len(d.HealthLog) > 1<<10 {
			return fmt.Errorf("the list and the inspection differ: %+v, %+v", all[0], d)
		}
		return nil
	})
}

func (r *engineRun) checkImages(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		refs := []string{"conformance.invalid/no/such:image", "sha256:" + strings.Repeat("0", 64)}
		all, err := c.Containers(ctx, engine.Filter{})
		if err != nil {
			return r.InspectError("containers", err)
		}
		if len(all) > 0 {
			refs = append(refs, all[0].ImageID)
		}
		images, err := c.Images(ctx, refs)
		if err != nil {
			return r.InspectError("images", err)
		}
		if len(images) != len(refs) || images[0] != nil || images[1] != nil {
			return fmt.Errorf("of %d images two are unknown; got %v", len(refs), images)
		}
		if len(all) > 0 && images[2] != nil && images[2].ID != all[0].ImageID {
			return fmt.Errorf("asked for the image %s, got %s", all[0].ImageID, images[2].ID)
		}
		return nil
	})
}

func (r *engineRun) checkStats(ctx context.Context) error {
	return r.withClient(ctx, func(ctx context.Context, c *engine.Client) error {
		samples, err := c.Stats(ctx, []string{"conformance-no-such-container", strings.Repeat("0", 64)})
		if err != nil || len(samples) != 0 {
			return fmt.Errorf("unknown containers are to be left out; got %v, %v", samples, r.InspectError("stats", err))
		}
		return nil
	})
}

func (r *engineRun) checkEvents(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	first := ""
	var ended time.Time
	err := r.clientAt(r.MainID).Events(ctx, func(e engine.Event) error {
		if first == "" {
			first, ended = e.Type, time.Now()
			cancel()
		}
		return nil
	})
	switch {
	case first != engine.EventReady:
		return fmt.Errorf("the first event is %q, not %q: %v", first, engine.EventReady, r.InspectError("events", err))
	case time.Since(ended) > r.Settings.Prompt:
		return errors.New("the events went on after the end of the call")
	}
	return nil
}

// writeLogin writes a client configuration with a password for a registry that does not exist.
func (r *engineRun) writeLogin() (path string, done func(), err error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "config.json")
	raw := fmt.Sprintf(`{"auths":{%q:{"username":"conformance","password":%q}}}`, strings.Split(unreachable, "/")[0], shown)
	return path, func() { _ = os.RemoveAll(dir) }, os.WriteFile(path, []byte(raw), 0o600)
}
