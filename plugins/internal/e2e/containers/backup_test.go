package containers

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// put writes a file into the container of a service.
func put(t testing.TB, a *kit.App, name, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dockertest.Docker(t, "cp", path, dockertest.FindContainer(t, a.Dir, "web")+":/data/"+name)
}

// listing is what /data of a service holds, by name.
func listing(t testing.TB, a *kit.App) map[string]string {
	t.Helper()
	dir := t.TempDir()
	dockertest.Docker(t, "cp", dockertest.FindContainer(t, a.Dir, "web")+":/data/.", dir)
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(raw)
	}
	return out
}

type backup struct {
	ID, Kind, Target, Status, ArtifactPath, Error string
	SizeBytes                                     int64
	Restorable                                    bool
}

func TestContainersBackUpAndRestore(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1", Healthcheck: true})
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			put(t, a, "kept.txt", "before")
			a.Push(t, dockertest.Behaviour{Version: "2", Healthcheck: true})
			web = c.Check(t, web.ID)
			up := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")
			list := kit.Ask[struct{ Backups []backup }](t, c, "/api/services/"+web.ID+"/backups").Backups
			if len(list) != 1 || list[0].Status != "success" || list[0].Kind != "docker-volume" || list[0].Target != a.Project+"_data" ||
				!list[0].Restorable {
				t.Fatalf("backups %+v, log %+v", list, up.Logs)
			}
			put(t, a, "kept.txt", "after")
			put(t, a, "new.txt", "made by the new version")
			c.Finished(t, c.BeginJob(t, "/api/backups/"+list[0].ID+"/restore", ""), "success")
			if got := listing(t, a); len(got) != 1 || got["kept.txt"] != "before" {
				t.Errorf("after the restore the volume holds %v", got)
			}
			if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, web.Candidate.Digest) {
				t.Errorf("the restore changed what runs: %v", digests)
			}

			// A file that was changed is not restored, and nothing is touched.
			put(t, a, "new.txt", "still there")
			if err := os.WriteFile(list[0].ArtifactPath, []byte("something else"), 0o600); err != nil {
				t.Fatal(err)
			}
			j := c.Finished(t, c.BeginJob(t, "/api/backups/"+list[0].ID+"/restore", ""), "failed")
			if got := listing(t, a); len(got) != 2 || !strings.Contains(j.ResultReason.Detail, "was changed") {
				t.Errorf("after a refused restore: %v, %+v", got, j.ResultReason)
			}
			c.API(t, http.MethodPost, "/api/backups/bkp_none/restore", "", http.StatusNotFound)
		})
	}
}

// TestContainersBackupFails has the file system refuse: nothing is changed, and the service runs as before.
func TestContainersBackupFails(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1", Healthcheck: true})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
	web := c.StackNamed(t, a.Project).Service(t, "web")
	_, first, _ := kit.RunningImage(t, a.Dir, "web")
	put(t, a, "large.bin", strings.Repeat("x", 3<<20))
	settings := func(dir string, limit int, require bool) {
		t.Helper()
		c.API(t, http.MethodPut, "/api/settings",
			fmt.Sprintf(`{"backup":{"enabled":true,"requireSuccess":%v,"baseDir":%q,"skipTargetsOverBytes":%d}}`, require, dir, limit),
			http.StatusOK)
	}
	a.Push(t, dockertest.Behaviour{Version: "2", Healthcheck: true})
	web = c.Check(t, web.ID)

	small := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := mountTmpfs(small, "1m"); err != nil {
		t.Logf("no small file system can be mounted (%v): a file stands where the directory was when it was saved", err)
		settings(small, 0, true)
		if err := errors.Join(os.Remove(small), os.WriteFile(small, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Cleanup(func() { _ = unmount(small) })
		put(t, a, "random.bin", randomText(t, 2<<20))
		settings(small, 0, true)
	}
	j := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "failed")
	if !strings.Contains(j.ResultReason.Detail, "backup") {
		t.Errorf("the reason is %+v", j.ResultReason)
	}
	oneHealthy(t, a, first)

	settings(t.TempDir(), 1<<20, false)
	j = c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")
	list := kit.Ask[struct{ Backups []backup }](t, c, "/api/services/"+web.ID+"/backups").Backups
	if list[0].Status != "skipped_by_size" || list[0].Restorable {
		t.Errorf("backups %+v, log %+v", list, j.Logs)
	}
}
