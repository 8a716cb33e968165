package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

var errMine = errors.New("the caller's own")

// newEngine starts the plugin with one engine behind a facade, which serves one brief call at a time. retire takes it away.
func newEngine(t *testing.T) (e client.Engine, retire func()) {
	t.Helper()
	handles, retire := startInstances(t, catalog.Desired{
		Kind: engine.Kind, Name: "local", Spec: testplugin.Spec(testplugin.ContainerEngine), Timeout: 300 * time.Millisecond, Concurrency: 1,
	})
	return client.NewEngine(handles[0], nil), retire
}

func TestEngineErrorsAreFaults(t *testing.T) {
	e, _ := newEngine(t)
	ctx := t.Context()
	d, err := e.Inspect(ctx, "a")
	if err != nil || d.ID != "a" {
		t.Fatalf("%+v, %v", d, err)
	}
	_, err = e.Inspect(ctx, testplugin.Missing)
	wantCode(t, err, fault.NotFound)
	_, err = e.Inspect(ctx, "no/id")
	wantCode(t, err, fault.InvalidRequest)
	_, err = e.Inspect(ctx, testplugin.Hanging)
	wantCode(t, err, fault.UpstreamUnavailable)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = e.Containers(ended, engine.Filter{})
	wantCode(t, err, fault.ClientClosedRequest)
	_, err = e.Pull(ctx, engine.PullRequest{Ref: testplugin.Crash}, func(engine.PullProgress) error { return nil })
	wantCode(t, err, fault.PluginUnavailable)
	testkit.Eventually(t, within, func() bool { _, err := e.Info(ctx, ""); return err == nil }, "the plugin is back")
}

func TestEngineStreams(t *testing.T) {
	e, _ := newEngine(t)
	ctx := t.Context()
	var lines []string
	req := engine.ComposeRequest{Bin: "c", Action: engine.ActionStop, Project: "p", WorkingDir: "/p", Files: []string{"/p/c.yaml"}}
	res, err := e.Compose(ctx, req, func(l engine.Line) error { lines = append(lines, l.Text); return nil })
	if err != nil || res.ExitCode != 1 || res.Tail != "two" || strings.Join(lines, " ") != "one two" {
		t.Errorf("%+v, %v, %v", res, lines, err)
	}
	run := engine.RunRequest{Image: "a", Name: "n", Args: []string{"version"}}
	if res, err := e.Run(ctx, run); err != nil || res.ExitCode != 1 || res.Output != "a" {
		t.Errorf("a command of an image: %+v, %v", res, err)
	}
	run.Image = testplugin.Missing
	_, err = e.Run(ctx, run)
	wantCode(t, err, fault.NotFound)
	req.Files = []string{"relative"}
	_, err = e.Compose(ctx, req, func(engine.Line) error { return nil })
	wantCode(t, err, fault.InvalidRequest)
	var out bytes.Buffer
	if err := e.Archive(ctx, "a", "/data", &out); err != nil || out.Len() != 1<<20 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	if err := e.Restore(ctx, "a", "/data", &out); err != nil {
		t.Error(err)
	}
	wantCode(t, e.Restore(ctx, "a", "/data", &out), fault.InvalidRequest)
	wantCode(t, e.Restore(ctx, testplugin.Missing, "/data", bytes.NewReader(make([]byte, 10<<20))), fault.NotFound)
}

// What the caller's own part of a call returns comes back as it is, and ends the plugin's part.
func TestEngineGivesTheCallersErrorsBack(t *testing.T) {
	e, _ := newEngine(t)
	ctx := t.Context()
	_, pull := e.Pull(ctx, engine.PullRequest{Ref: testplugin.Endless}, func(engine.PullProgress) error { return errMine })
	_, compose := e.Compose(ctx, engine.ComposeRequest{Bin: "c", Action: engine.ActionStop, Project: "p", WorkingDir: "/p",
		Files: []string{"/p/c"}},
		func(engine.Line) error { return errMine })
	for name, err := range map[string]error{
		"pull": pull, "compose": compose,
		"events":  e.Events(ctx, func(engine.Event) error { return errMine }),
		"archive": e.Archive(ctx, testplugin.Endless, "/data", writeFails{}),
		"restore": e.Restore(ctx, "a", "/data", io.MultiReader(strings.NewReader("x"), iotest.ErrReader(errMine))),
	} {
		if err != errMine {
			t.Errorf("%s: %v", name, err)
		}
	}
	quiet(t, e)
}

type writeFails struct{}

func (writeFails) Write([]byte) (int, error) { return 0, errMine }

// quiet waits until the plugin serves no endless call.
func quiet(t *testing.T, e client.Engine) {
	t.Helper()
	testkit.Eventually(t, within, func() bool {
		got, err := e.Images(t.Context(), []string{testplugin.EndlessPulls})
		return err == nil && got[0].SizeBytes == 0
	}, "the plugin's side of the calls has ended")
}

// A long call outlives the instance's timeout, leaves the slots to the brief ones, and ends in the plugin with its context.
func TestEngineLongCalls(t *testing.T) {
	e, _ := newEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	began := time.Now()
	long := make(chan struct{}, 1)
	for range 2 {
		go func() {
			_, err := e.Pull(ctx, engine.PullRequest{Ref: testplugin.Endless}, func(engine.PullProgress) error {
				if time.Since(began) > 600*time.Millisecond {
					select {
					case long <- struct{}{}:
					default:
					}
				}
				return nil
			})
			ended <- err
		}()
	}
	<-long
	if _, err := e.Info(t.Context(), ""); err != nil {
		t.Errorf("a brief call beside long ones: %v", err)
	}
	cancel()
	for range 2 {
		wantCode(t, <-ended, fault.ClientClosedRequest)
	}
	quiet(t, e)
}

func TestEngineEventsEndWithAReload(t *testing.T) {
	e, retire := newEngine(t)
	following := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- e.Events(t.Context(), func(engine.Event) error {
			select {
			case following <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	<-following
	retire()
	if err := <-ended; !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("events after a reload: %v", err)
	}
	if _, err := e.Info(t.Context(), ""); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("info after a reload: %v", err)
	}
}
