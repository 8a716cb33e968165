package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// scaled starts web of a stack with two containers on an image, and gives its name to another one.
func scaled(t *testing.T, bin dockertest.ComposeBin) (dir string, req engine.ComposeRequest, image string) {
	t.Helper()
	ref := dockertest.Name(t) + ":latest"
	old, fresh := imageOf(t, dockertest.Behaviour{Version: "1"}), imageOf(t, dockertest.Behaviour{Version: "2"})
	dockertest.Docker(t, "tag", old, ref)
	dir, req = stack(t, bin, ref)
	dockertest.Up(t, bin, dir, "up", "-d", "--scale", "web=2")
	dockertest.Docker(t, "tag", fresh, ref)
	req.Scale = map[string]int{"web": 2}
	return dir, req, fresh
}

// namesOf are the names of the containers of web, which must all have the image.
func namesOf(t *testing.T, c *engine.Client, req engine.ComposeRequest, image string) (names []string) {
	t.Helper()
	list, err := c.Containers(t.Context(), engine.Filter{Labels: []string{engine.LabelProject + "=" + req.Project,
		engine.LabelService + "=web"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.ImageID != image || one.State != "running" {
			t.Errorf("%s is %s and has the image %s", one.Name, one.State, one.ImageID)
		}
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// TestComposeRepairs: what an interrupted command of each generation leaves is put in order by the next one.
func TestComposeRepairs(t *testing.T) {
	c := open(t, "{}")
	for _, bin := range dockertest.Compose(t) {
		for _, leftover := range []string{"none", "renamed", "created beside"} {
			t.Run(bin.Name+" "+leftover, func(t *testing.T) {
				t.Parallel()
				dir, req, fresh := scaled(t, bin)
				separator := map[bool]string{false: "_", true: "-"}[bin.PullPolicy]
				want := []string{filepath.Base(dir) + separator + "web" + separator + "1", filepath.Base(dir) + separator + "web" + separator + "2"}
				id := strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.Id}}", want[0]))
				switch leftover {
				case "renamed":
					dockertest.Docker(t, "stop", "-t", "1", id)
					dockertest.Docker(t, "rename", id, id[:12]+"_"+want[0])
				case "created beside":
					args := []string{"create", "--name", id[:12] + "_" + want[0]}
					for _, l := range []string{engine.LabelProject + "=" + req.Project, engine.LabelService + "=web", engine.LabelNumber + "=1",
						engine.LabelReplace + "=web-1", engine.LabelOneOff + "=False"} {
						args = append(args, "--label", l)
					}
					dockertest.Docker(t, append(args, fresh)...)
				}
				well(t, do(t, c, req, engine.ActionRecreate))
				if got := namesOf(t, c, req, fresh); !slices.Equal(got, want) {
					t.Errorf("the containers are %v, want %v", got, want)
				}
			})
		}
	}
}

// TestComposeWaits: no command runs on a project while another one, of any process, works on it.
func TestComposeWaits(t *testing.T) {
	c, dir := open(t, "{}"), t.TempDir()
	held, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	req := lasting(dir)
	req.Bin = fakeBin(t, "--no-deps")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Compose(ctx, req, func(l engine.Line) error { t.Errorf("it ran and said %s", l.Text); return nil }); err == nil {
		t.Error("it ran beside another command")
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}

	writeScript(t, dir)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, err = c.Compose(ctx, lasting(dir), func(engine.Line) error {
		if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			t.Error("the project is free while a command runs")
		}
		cancel()
		return nil
	})
	if err == nil {
		t.Error("the command ended by itself")
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil },
		"the project is free afterwards")
}
