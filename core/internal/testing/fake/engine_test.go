package fake_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const ref = "registry.example/app:1"

func quiet[T any](T) error { return nil }

func newProject(t *testing.T) (*fake.Engine, string) {
	t.Helper()
	e := fake.NewEngine()
	e.AddImage(engine.Image{ID: "sha256:a", RepoTags: []string{ref}, RepoDigests: []string{"registry.example/app@sha256:1"}})
	e.Publish(ref, engine.Image{ID: "sha256:b", RepoDigests: []string{"registry.example/app@sha256:2"}})
	labels := map[string]string{fake.LabelProject: "p", fake.LabelService: "web"}
	id := e.AddContainer(engine.Container{Name: "p_web_1", Image: ref, Labels: labels,
		Mounts: []engine.Mount{{Type: "volume", Name: "v", Destination: "/data"}}})
	e.AddContainer(engine.Container{Name: "p_db_1", Image: ref, Labels: map[string]string{fake.LabelProject: "p", fake.LabelService: "db"}})
	return e, id
}

func compose(action string) engine.ComposeRequest {
	return engine.ComposeRequest{Bin: "docker-compose", Action: action, Project: "p", WorkingDir: "/p", Files: []string{"/p/c.yaml"},
		Services: []string{"web"}}
}

func TestEngineUpdateAndRollback(t *testing.T) {
	e, old := newProject(t)
	ctx := t.Context()
	e.ScriptImage("sha256:b", fake.Starting(), fake.Unhealthy())
	img, err := e.Pull(ctx, engine.PullRequest{Ref: ref}, quiet)
	if err != nil || img.ID != "sha256:b" || e.NameOf(ref) != "sha256:b" {
		t.Fatalf("%+v, %v", img, err)
	}
	if res, err := e.Compose(ctx, compose(engine.ActionRecreate), quiet); err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	web, db := e.ContainersOf("p", "web"), e.ContainersOf("p", "db")
	if len(web) != 1 || web[0].ID == old || web[0].ImageID != "sha256:b" || len(db) != 1 || db[0].ImageID != "sha256:a" {
		t.Fatalf("%+v, %+v", web, db)
	}
	var seen []string
	for range 3 {
		d, err := e.Inspect(ctx, web[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, d.Health)
	}
	if diff := cmp.Diff([]string{"starting", "unhealthy", "unhealthy"}, seen); diff != "" {
		t.Error(diff)
	}
	if err := e.Tag(ctx, "sha256:a", ref); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Compose(ctx, compose(engine.ActionRecreate), quiet); err != nil {
		t.Fatal(err)
	}
	if web = e.ContainersOf("p", "web"); web[0].ImageID != "sha256:a" {
		t.Errorf("%+v", web)
	}
	want := []string{"pull " + ref, "compose recreate p web", "tag sha256:a " + ref, "compose recreate p web"}
	if diff := cmp.Diff(want, e.CallsOf("pull", "compose", "tag")); diff != "" {
		t.Error(diff)
	}
}

func TestEngineFailures(t *testing.T) {
	e, id := newProject(t)
	ctx := t.Context()
	e.Fail("compose recreate", errors.New("gone"))
	if _, err := e.Compose(ctx, compose(engine.ActionRecreate), quiet); err == nil {
		t.Error("no error")
	}
	e.FailCompose(engine.ActionStop, engine.ComposeResult{ExitCode: 3, Tail: "no"})
	if res, err := e.Compose(ctx, compose(engine.ActionStop), quiet); err != nil || res.ExitCode != 3 ||
		e.ContainersOf("p", "web")[0].State != "running" {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := e.Pull(ctx, engine.PullRequest{Ref: "registry.example/none:1"}, quiet); fault.As(err).Code != fault.UpstreamUnavailable {
		t.Error(err)
	}
	if _, err := e.Inspect(ctx, "none"); fault.As(err).Code != fault.NotFound {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	entered, release := e.Hold("pull")
	defer release()
	go func() { <-entered; cancel() }()
	if _, err := e.Pull(ended, engine.PullRequest{Ref: ref}, quiet); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	e.SetContents(id, "/data", []byte("one"))
	if err := e.Restore(ctx, id, "/data", strings.NewReader("two")); fault.As(err).Code != fault.InvalidRequest {
		t.Error(err)
	}
	if _, err := e.Compose(ctx, compose(engine.ActionStop), quiet); err != nil {
		t.Fatal(err)
	}
	if err := e.Restore(ctx, id, "/data", strings.NewReader("two")); err != nil {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := e.Archive(ctx, id, "/data", &out); err != nil || out.String() != "two" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestEngineEvents(t *testing.T) {
	e, _ := newProject(t)
	var seen []string
	enough := errors.New("enough")
	err := e.Events(t.Context(), func(ev engine.Event) error {
		if ev.Type == engine.EventReady {
			go func() { _, _ = e.Compose(context.Background(), compose(engine.ActionStop), quiet) }()
			return nil
		}
		seen = append(seen, ev.Type+" "+ev.Action)
		return enough
	})
	if err != enough || len(seen) != 1 || seen[0] != "container die" {
		t.Errorf("%v, %v", seen, err)
	}
}
