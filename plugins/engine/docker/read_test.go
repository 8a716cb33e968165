package docker_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestInfo(t *testing.T) {
	c := open(t, "{}")
	info, err := c.Info(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if info.Version == "" || info.APIVersion == "" || info.OS != "linux" || info.Arch != runtime.GOARCH || info.Compose != nil ||
		info.ComposeError != "" {
		t.Errorf("%+v", info)
	}
	if again, err := open(t, "{}").Info(t.Context(), ""); err != nil || info.ID == "" || again.ID != info.ID {
		t.Errorf("the id of the engine is %q, and for another instance %+v, %v", info.ID, again, err)
	}
	for _, bin := range dockertest.Compose(t) {
		info, err := c.Info(t.Context(), bin.Path)
		if err != nil || info.Compose == nil || info.Compose.PullPolicy != bin.PullPolicy || info.Compose.Version == "" {
			t.Errorf("%s: %+v, %v", bin.Name, info, err)
		}
	}
	for _, bin := range []string{"no-such-command", "/etc/passwd", "true", "false", "/", "  "} {
		if info, err := c.Info(t.Context(), bin); err != nil || info.Compose != nil || info.ComposeError == "" {
			t.Errorf("%q: %+v, %v", bin, info, err)
		}
	}
}

func TestContainers(t *testing.T) {
	c := open(t, "{}")
	img := imageOf(t, dockertest.Behaviour{Version: "1", Healthcheck: true, StartPeriod: 20 * time.Second})
	mark := dockertest.Name(t)
	t.Cleanup(func() { dockertest.Docker(t, "volume", "rm", "-f", mark) })
	run := container(t, "--label", "mark="+mark, "--label", "role=a", "-v", mark+":/data", "--restart", "on-failure", img)
	crashed := container(t, "--label", "mark="+mark, imageOf(t, dockertest.Behaviour{Crash: true}))
	list, err := c.Containers(t.Context(), engine.Filter{Labels: []string{"mark=" + mark}})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	list, err = c.Containers(t.Context(), engine.Filter{Labels: []string{"mark=" + mark, "role"}, IDs: []string{run}})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	got := list[0]
	if got.ID != run || got.ImageID != img || got.State != "running" || got.Labels["role"] != "a" || got.CreatedAt == 0 ||
		!strings.HasPrefix(got.Name, "pbtest") || len(got.Mounts) != 1 {
		t.Errorf("%+v", got)
	}
	if m := got.Mounts[0]; m.Type != "volume" || m.Name != mark || m.Destination != "/data" || m.ReadOnly {
		t.Errorf("%+v", m)
	}
	var d *engine.Detail
	testkit.Eventually(t, 20*time.Second, func() bool {
		d, err = c.Inspect(t.Context(), run)
		return err == nil && d.Health == "healthy"
	}, "the container is healthy")
	if d.ID != run || d.Image == "" || d.ImageID != img || d.HealthLog != "ready" || d.StartPeriodMS != 20000 || d.IntervalMS != 1000 ||
		d.Retries != 2 || d.StartedAt == 0 || d.RestartPolicy != "on-failure" || d.State != "running" || len(d.Mounts) != 1 {
		t.Errorf("%+v", d)
	}
	testkit.Eventually(t, 20*time.Second, func() bool {
		d, err = c.Inspect(t.Context(), crashed)
		return err == nil && d.State == "exited"
	}, "the container has ended")
	if d.ExitCode != 3 || d.Health != "" || d.RestartPolicy != "no" {
		t.Errorf("%+v", d)
	}
	_, err = c.Inspect(t.Context(), "nothing-of-this-name")
	wantError(t, err, codes.NotFound, errs.Caller)
}

func TestImagesAndTag(t *testing.T) {
	c := open(t, "{}")
	one := imageOf(t, dockertest.Behaviour{Version: "1", Labels: map[string]string{"k": "v w"}})
	two := imageOf(t, dockertest.Behaviour{Version: "2"})
	ref := dockertest.Name(t) + ":latest"
	for _, id := range []string{one, two} {
		if err := c.Tag(t.Context(), id, ref); err != nil {
			t.Fatal(err)
		}
		got, err := c.Images(t.Context(), []string{"no/such:image", ref, id})
		if err != nil || len(got) != 3 || got[0] != nil || got[1] == nil || got[1].ID != id || got[2].ID != id {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	got, err := c.Images(t.Context(), []string{one})
	if err != nil || got[0].Labels["k"] != "v w" || got[0].Arch != runtime.GOARCH || got[0].SizeBytes == 0 || got[0].CreatedAt == 0 ||
		len(got[0].RepoTags) != 0 {
		t.Errorf("%+v, %v", got[0], err)
	}
	wantError(t, c.Tag(t.Context(), "no/such:image", ref), codes.NotFound, errs.Caller)
	if err := c.Tag(t.Context(), one, "Not A Ref"); err == nil || errs.From(err).Code != codes.InvalidArgument {
		t.Error(err)
	}
}

func TestStats(t *testing.T) {
	c := open(t, "{}")
	img := imageOf(t, dockertest.Behaviour{Version: "1"})
	run, still := container(t, img), container(t, img)
	dockertest.Docker(t, "stop", "-t", "5", still)
	ids := []string{still, run, "nothing-of-this-name"}
	first, err := c.Stats(t.Context(), ids)
	if err != nil || len(first) != 1 || first[0].ContainerID != run || first[0].HasCPU || first[0].MemLimit == 0 || first[0].SampledAt == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	var second []engine.Sample
	testkit.Eventually(t, 10*time.Second, func() bool {
		second, err = c.Stats(t.Context(), ids)
		return err != nil || len(second) == 1 && second[0].HasCPU
	}, "a sample with CPU")
	if err != nil || second[0].CPUPercent < 0 || second[0].SampledAt < first[0].SampledAt {
		t.Errorf("%+v, %v", second, err)
	}
	// An engine may give out one sample in a second, and waits where it was asked before; else it answers at once. For its
	// own interval it would wait longer than a second each time.
	least := time.Hour
	testkit.Eventually(t, 20*time.Second, func() bool {
		time.Sleep(1500 * time.Millisecond)
		began := time.Now()
		if _, err := c.Stats(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(began))
		return least < 500*time.Millisecond
	}, "a sample at once")
}

func TestEvents(t *testing.T) {
	c := open(t, "{}")
	img := imageOf(t, dockertest.Behaviour{Version: "1"})
	mark := dockertest.Name(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := true
	var seen []string
	err := c.Events(ctx, func(e engine.Event) error {
		if first && e.Type != engine.EventReady {
			t.Errorf("the first event is %+v", e)
		}
		if first {
			first = false
			go container(t, "--label", "mark="+mark, img)
		}
		if e.Labels["mark"] == mark {
			seen = append(seen, e.Type+" "+e.Action)
			if e.Action == "start" {
				return errEnough
			}
		}
		return nil
	})
	if err != errEnough || len(seen) < 2 || seen[0] != "container create" || seen[len(seen)-1] != "container start" {
		t.Errorf("%v, %v", seen, err)
	}
	err = c.Events(within(t, time.Second), func(engine.Event) error { return nil })
	if err == nil || errs.From(err).Code != codes.DeadlineExceeded {
		t.Error(err)
	}
}

func TestAnEngineThatComesAndGoes(t *testing.T) {
	gate := newDoor(t)
	c := open(t, gate.config())
	calls := map[string]func() error{
		"info":       func() error { _, err := c.Info(t.Context(), ""); return err },
		"containers": func() error { _, err := c.Containers(t.Context(), engine.Filter{}); return err },
		"images":     func() error { _, err := c.Images(t.Context(), []string{"a"}); return err },
		"events":     func() error { return c.Events(t.Context(), func(engine.Event) error { return errEnough }) },
		"pull": func() error {
			_, err := c.Pull(t.Context(), engine.PullRequest{Ref: "127.0.0.1:1/a:b"}, func(engine.PullProgress) error { return nil })
			return err
		},
	}
	down := func() {
		t.Helper()
		for name, call := range calls {
			err := call()
			if e := errs.From(err); err == nil || e.Code != codes.Unavailable || e.Reason != errs.ReasonConnect || e.Source != errs.Upstream {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	down()
	for range 2 {
		gate.open(t)
		if err := calls["containers"](); err != nil {
			t.Fatal(err)
		}
		err := c.Events(within(t, 20*time.Second), func(engine.Event) error { gate.shut(); return nil })
		if e := errs.From(err); e.Reason != errs.ReasonConnect {
			t.Errorf("events of an engine that goes: %v", err)
		}
		down()
	}
}
