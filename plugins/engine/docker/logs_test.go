package docker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// readLogs reads the output of a container.
func readLogs(t *testing.T, c *engine.Client, req engine.LogRequest) (out []engine.LogLine, err error) {
	t.Helper()
	err = c.Logs(t.Context(), req, func(l engine.LogLine) error { out = append(out, l); return nil })
	return out, err
}

// TestLogs: the last lines of a container come with their stream and time, those of one that has ended too. The engine reads
// the two streams side by side: which of two lines of the same moment comes first is not said.
func TestLogs(t *testing.T) {
	c := open(t, "{}")
	crashed := container(t, imageOf(t, dockertest.Behaviour{Version: "1.2.3", Crash: true}))
	testkit.Eventually(t, 20*time.Second, func() bool {
		d, err := c.Inspect(t.Context(), crashed)
		return err == nil && d.State == "exited"
	}, "the container has ended")
	lines, err := readLogs(t, c, engine.LogRequest{Container: crashed, Tail: 10})
	if err != nil || len(lines) != 2 {
		t.Fatalf("%+v, %v", lines, err)
	}
	if lines[0].Stderr {
		slices.Reverse(lines)
	}
	for i, want := range []engine.LogLine{{Text: "version 1.2.3"}, {Text: "crashing as asked", Stderr: true}} {
		if lines[i].Text != want.Text || lines[i].Stderr != want.Stderr || time.Since(time.UnixMilli(lines[i].At)).Abs() > time.Hour {
			t.Errorf("line %d is %+v, want %+v", i, lines[i], want)
		}
	}
	if lines, err = readLogs(t, c, engine.LogRequest{Container: crashed, Tail: 1}); err != nil || len(lines) != 1 {
		t.Errorf("the last line: %+v, %v", lines, err)
	}
	if lines, err = readLogs(t, c, engine.LogRequest{Container: crashed}); err != nil || len(lines) != 0 {
		t.Errorf("no line: %+v, %v", lines, err)
	}
	if lines, err = readLogs(t, c, engine.LogRequest{Container: crashed, Tail: 10, Follow: true}); err != nil || len(lines) != 2 {
		t.Errorf("following one that has ended: %+v, %v", lines, err)
	}
	terminal := container(t, "-t", imageOf(t, dockertest.Behaviour{Version: "2"}))
	testkit.Eventually(t, 20*time.Second, func() bool {
		lines, err = readLogs(t, c, engine.LogRequest{Container: terminal, Tail: 10})
		return err == nil && len(lines) == 1 && lines[0].Text == "version 2"
	}, "a terminal has a line")
	_, err = readLogs(t, c, engine.LogRequest{Container: "nothing-of-this-name", Tail: 1})
	wantError(t, err, codes.NotFound, errs.Caller)
}

// TestLogsFollow: what follows a container ends with it, with its reader and with its context.
func TestLogsFollow(t *testing.T) {
	c := open(t, "{}")
	img := imageOf(t, dockertest.Behaviour{Version: "1"})
	stopped := container(t, img)
	var got []string
	err := c.Logs(t.Context(), engine.LogRequest{Container: stopped, Tail: 10, Follow: true}, func(l engine.LogLine) error {
		got = append(got, l.Text)
		dockertest.Docker(t, "stop", "-t", "5", stopped)
		return nil
	})
	if err != nil || strings.Join(got, "|") != "version 1" {
		t.Errorf("%q, %v", got, err)
	}
	runs := container(t, img)
	enough := errors.New("enough")
	if err := c.Logs(t.Context(), engine.LogRequest{Container: runs, Tail: 10, Follow: true},
		func(engine.LogLine) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the reader's end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = c.Logs(ctx, engine.LogRequest{Container: runs, Tail: 10, Follow: true}, func(engine.LogLine) error { cancel(); return nil })
	if errs.From(err).Code != codes.Canceled {
		t.Errorf("the end of the context: %v", err)
	}
}
