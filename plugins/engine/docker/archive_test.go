package docker_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

type entry struct {
	Type byte
	Mode int64
	UID  int
	Link string
	Data string
}

func pack(t *testing.T, entries map[string]entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		h := &tar.Header{Typeflag: e.Type, Name: name, Mode: e.Mode, Uid: e.UID, Gid: e.UID, Linkname: e.Link, Size: int64(len(e.Data))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(t *testing.T, raw []byte) map[string]entry {
	t.Helper()
	out := map[string]entry{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = entry{Type: h.Typeflag, Mode: h.Mode & 0o7777, UID: h.Uid, Link: h.Linkname, Data: string(data)}
	}
}

func contents(t *testing.T, c *engine.Client, id, path string) (map[string]entry, []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := c.Archive(t.Context(), id, path, &out); err != nil {
		t.Fatal(err)
	}
	return unpack(t, out.Bytes()), out.Bytes()
}

// stopped is a container with a volume at /data, a directory of the host at /bind, another that it may only read at /ro,
// and a file at /file.
func stopped(t *testing.T) (id, bind string) {
	t.Helper()
	img := imageOf(t, dockertest.Behaviour{Version: "1"})
	volume := dockertest.Name(t)
	t.Cleanup(func() { dockertest.Docker(t, "volume", "rm", "-f", volume) })
	bind = t.TempDir()
	file := filepath.Join(bind, "..", "file")
	if err := os.WriteFile(file, []byte("f"), 0o644); err != nil {
		t.Fatal(err)
	}
	id = container(t, "-v", volume+":/data", "-v", bind+":/bind", "-v", bind+":/ro:ro", "-v", file+":/file", "--tmpfs", "/tmpfs", img)
	dockertest.Docker(t, "stop", "-t", "5", id)
	return id, bind
}

func TestArchiveAndRestore(t *testing.T) {
	c := open(t, "{}")
	id, bind := stopped(t)
	good := map[string]entry{
		"./":           {Type: tar.TypeDir, Mode: 0o750, UID: 1000},
		"a":            {Type: tar.TypeReg, Mode: 0o600, UID: 1000, Data: "one"},
		"b/":           {Type: tar.TypeDir, Mode: 0o711},
		"b/c":          {Type: tar.TypeReg, Mode: 0o755, UID: 7, Data: strings.Repeat("large ", 200000)},
		"b/hard":       {Type: tar.TypeLink, Mode: 0o755, UID: 7, Link: "b/c"},
		"b/soft":       {Type: tar.TypeSymlink, Mode: 0o777, Link: "../a"},
		"b/empty dir/": {Type: tar.TypeDir, Mode: 0o755},
		"ünï\ncode":    {Type: tar.TypeReg, Mode: 0o644, Data: "x"},
	}
	for _, path := range []string{"/data", "/bind"} {
		t.Run(path, func(t *testing.T) {
			old := map[string]entry{"old/": {Type: tar.TypeDir, Mode: 0o700}, "old/file": {Type: tar.TypeReg, Mode: 0o400, Data: "old"},
				".hidden": {Type: tar.TypeReg, Mode: 0o400}}
			for _, tree := range []map[string]entry{old, good} {
				if err := c.Restore(t.Context(), id, path, bytes.NewReader(pack(t, tree))); err != nil {
					t.Fatal(err)
				}
			}
			got, raw := contents(t, c, id, path)
			if diff := cmp.Diff(good, got); diff != "" {
				t.Error(diff)
			}
			// What was archived restores to the same, also in pieces of one byte.
			if err := c.Restore(t.Context(), id, path, iotest.DataErrReader(bytes.NewReader(raw))); err != nil {
				t.Fatal(err)
			}
			if again, _ := contents(t, c, id, path); !cmp.Equal(got, again) {
				t.Error(cmp.Diff(got, again))
			}
			if err := c.Restore(t.Context(), id, path, bytes.NewReader(pack(t, nil))); err != nil {
				t.Fatal(err)
			}
			if left, _ := contents(t, c, id, path); len(left) != 1 {
				t.Errorf("an empty archive leaves %v", left)
			}
		})
	}
	if entries, err := os.ReadDir(bind); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	volume := volumeOf(t, id)
	testkit.Eventually(t, time.Minute, func() bool { return helpersOf(t, volume) == "" && helpersOf(t, bind) == "" },
		"no helper container is left")
}

// TestHelperThatNeverStarted: a helper container that a killed plugin has left is removed, not one that is being made.
func TestHelperThatNeverStarted(t *testing.T) {
	dockertest.Engine(t)
	// An hour later the helpers of other tests, which are about to be started, would be old as well: this one has a label of its own.
	label := dockertest.Name(t)
	left := dockertest.Docker(t, "create", "--label", label+"=command", "--name", label, imageOf(t, dockertest.Behaviour{Version: "1"}))
	t.Cleanup(func() { dockertest.Docker(t, "rm", "-f", left) })
	for _, c := range []struct {
		after time.Duration
		stays bool
	}{{time.Minute, true}, {time.Hour, false}} {
		if err := docker.RemoveLeftHelpers(t.Context(), label, time.Now().Add(c.after)); err != nil {
			t.Fatal(err)
		}
		if stays := dockertest.Docker(t, "ps", "-aq", "--filter", "id="+left) != ""; stays != c.stays {
			t.Errorf("after %v it is there: %t", c.after, stays)
		}
	}
}

// TestRestoreEndsFormerWipes: a helper container that a killed plugin has left is removed if it empties the mount that is restored, or is
// about to be started for that, and no other one is.
func TestRestoreEndsFormerWipes(t *testing.T) {
	c := open(t, "{}")
	id, bind := stopped(t)
	img := imageOf(t, dockertest.Behaviour{Version: "1"})
	volume := volumeOf(t, id)
	helperOf := func(source string) string {
		return container(t, "--label", "patchbay.helper=command", "-v", source+":/mount", img)
	}
	created := dockertest.Docker(t, "create", "--label", "patchbay.helper=command", "--name", dockertest.Name(t), "-v", bind+":/mount", img)
	t.Cleanup(func() { dockertest.Docker(t, "rm", "-f", created) })
	left := map[string]string{"/data": helperOf(volume), "/bind": created}
	other := helperOf(t.TempDir())
	for _, path := range []string{"/data", "/bind"} {
		if err := c.Restore(t.Context(), id, path,
			bytes.NewReader(pack(t, map[string]entry{"a": {Type: tar.TypeReg, Mode: 0o600}}))); err != nil {
			t.Fatal(err)
		}
		if still := dockertest.Docker(t, "ps", "-aq", "--filter", "id="+left[path]); still != "" {
			t.Errorf("the former helper of %s is there", path)
		}
	}
	if dockertest.Docker(t, "ps", "-q", "--filter", "id="+other) == "" {
		t.Error("the helper of another mount was ended")
	}
}

// volumeOf returns the name of the volume that a container of stopped has at /data.
func volumeOf(t *testing.T, id string) string {
	t.Helper()
	return dockertest.Docker(t, "inspect", "-f", `{{range .Mounts}}{{if eq .Destination "/data"}}{{.Name}}{{end}}{{end}}`, id)
}

// helpersOf returns the ids of the helper containers that have a mount.
func helpersOf(t *testing.T, source string) string {
	t.Helper()
	return dockertest.Docker(t, "ps", "-aq", "--no-trunc", "--filter", "label=patchbay.helper", "--filter", "volume="+source)
}

// TestRestoreGivesWay: a restoration whose helper another one has removed may not be taken for one that has left the contents alone.
func TestRestoreGivesWay(t *testing.T) {
	id, bind := stopped(t)
	c := open(t, proxyConfig(t, func() { dockertest.Docker(t, "rm", "-f", helpersOf(t, bind)) }))
	err := c.Restore(within(t, time.Minute), id, "/bind", bytes.NewReader(pack(t, map[string]entry{"a": {Type: tar.TypeReg, Mode: 0o600}})))
	wantError(t, err, codes.DataLoss, errs.Upstream)
}

func TestRestoreRefusals(t *testing.T) {
	c := open(t, "{}")
	id, _ := stopped(t)
	running := container(t, "-v", "/data", imageOf(t, dockertest.Behaviour{Version: "2"}))
	tree := map[string]entry{"a": {Type: tar.TypeReg, Mode: 0o600, Data: "precious"}}
	good := pack(t, tree)
	if err := c.Restore(t.Context(), id, "/data", bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, id, path string
		data           []byte
		code           codes.Code
	}{
		{"runs", running, "/data", good, codes.FailedPrecondition},
		{"read-only", id, "/ro", good, codes.FailedPrecondition},
		{"temporary", id, "/tmpfs", good, codes.InvalidArgument},
		{"file", id, "/file", good, codes.FailedPrecondition},
		{"no mount", id, "/elsewhere", good, codes.InvalidArgument},
		{"below a mount", id, "/data/b", good, codes.InvalidArgument},
		{"detour", id, "/data/../data", good, codes.InvalidArgument},
		{"no container", "nothing-of-this-name", "/data", good, codes.NotFound},
		{"garbage", id, "/data", bytes.Repeat([]byte("no tar "), 1000), codes.InvalidArgument},
		{"nothing", id, "/data", nil, codes.InvalidArgument},
		{"short", id, "/data", good[:100], codes.InvalidArgument},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, c.Restore(t.Context(), tt.id, tt.path, bytes.NewReader(tt.data)), tt.code, errs.Caller)
		})
	}
	if got, _ := contents(t, c, id, "/data"); got["a"].Data != "precious" {
		t.Errorf("a refused restoration changed the data: %v", got)
	}
	wantError(t, c.Archive(t.Context(), id, "/nothing", io.Discard), codes.NotFound, errs.Caller)
	wantError(t, c.Archive(t.Context(), "nothing-of-this-name", "/data", io.Discard), codes.NotFound, errs.Caller)
	if err := c.Archive(t.Context(), id, "/data", failing{}); err != errEnough {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errEnough }

func TestRestoreThatBreaksOff(t *testing.T) {
	c := open(t, "{}")
	id, _ := stopped(t)
	large := pack(t, map[string]entry{"a": {Type: tar.TypeReg, Mode: 0o600, Data: strings.Repeat("x", 3<<20)}})
	half := large[:len(large)/2]
	if err := c.Restore(t.Context(), id, "/data", io.MultiReader(bytes.NewReader(half), iotest.ErrReader(errEnough))); err != errEnough {
		t.Errorf("a reader that fails: %v", err)
	}
	err := c.Restore(t.Context(), id, "/data", bytes.NewReader(half))
	if e := errs.From(err); err == nil || e.Reason != "RESTORE_INCOMPLETE" || e.Code != codes.DataLoss {
		t.Errorf("a stream that is cut: %v", err)
	}
}

// The command that empties a mount does nothing outside of a container of its own.
func TestWipeRefuses(t *testing.T) {
	path, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := exec.Command(path, "engine/docker", "wipe").Run(); !errors.As(err, &exit) || exit.ExitCode() == 0 {
		t.Errorf("wipe outside of a container: %v", err)
	}
}
