package supervisor

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const repository = "registry.example/patchbay"

// site is an engine with a core of version 1 under the tag latest, which answers with the version of the image that it runs.
type site struct {
	engine   *fake.Engine
	dir, url string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{engine: fake.NewEngine(), dir: t.TempDir()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"version":%q}`, strings.TrimPrefix(s.core().ImageID, "sha256:")[:1])
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	if err := os.WriteFile(s.file(), []byte("services: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.engine.AddImage(imageOfVersion("1", repository+":latest"))
	s.addCore("patchbay")
	return s
}

// core is the container of the core.
func (s *site) core() engine.Container { return s.engine.ContainersOf("site", "patchbay")[0] }

func (s *site) file() string { return filepath.Join(s.dir, "compose.yaml") }

func (s *site) statePath() string { return filepath.Join(s.dir, "state", "self-upgrade.json") }

// addCore adds a container of a compose service that runs the image of the core.
func (s *site) addCore(service string) {
	s.engine.AddContainer(engine.Container{Name: "site-" + service + "-1", Image: repository + ":latest", Labels: map[string]string{
		engine.LabelProject: "site", engine.LabelService: service, engine.LabelNumber: "1", labelWorkingDir: s.dir, labelFiles: s.file(),
	}})
}

// imageOfVersion is an image of a core, with other names than its id.
func imageOfVersion(version string, tags ...string) engine.Image {
	return engine.Image{ID: "sha256:" + strings.Repeat(version, 64), RepoTags: tags,
		RepoDigests: []string{repository + "@sha256:" + strings.Repeat("a", 63) + version}, Labels: map[string]string{labelVersion: version}}
}

// supervise starts a supervisor of the site, which ends with the test.
func (s *site) supervise(t *testing.T, change func(*Config)) *Supervisor {
	t.Helper()
	cfg := Config{
		Logger: hclog.NewNullLogger(), StatePath: s.statePath(), CoreURL: s.url, HealthTimeout: 2 * time.Second,
		Container: ContainerConfig{Engine: s.engine, ImageRepo: repository, Service: "patchbay", ComposeBin: "docker-compose",
			VersionCommand: []string{"version"}, EngineTimeout: time.Second},
	}
	if change != nil {
		change(&cfg)
	}
	out, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

// ended waits for the end of the last operation, which must have a state.
func ended(t *testing.T, s *Supervisor, want Status) Operation {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if o := lastChanged(s.Operations()); o != nil && s.runningOperation() == nil && o.Status != Running {
			if o.Status != want {
				t.Fatalf("the operation ended %s at %s: %s", o.Status, o.Step, o.Message)
			}
			return *o
		}
	}
	t.Fatal("the operation does not end")
	return Operation{}
}

func refusedFor(t *testing.T, what string, err error, reason string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Ext["reason"] != reason {
		t.Errorf("%s: %v, want the reason %s", what, err, reason)
	}
}

// TestRefusals: what stands in the way is said before anything is changed.
func TestRefusals(t *testing.T) {
	apply := Request{Mode: Apply, RollbackOnFailure: true}
	for name, tt := range map[string]struct {
		change func(*site, *Config)
		says   string
	}{
		"no such image":     {func(_ *site, c *Config) { c.Container.ImageRepo = "registry.example/other" }, "target_image_repo"},
		"several":           {func(s *site, c *Config) { s.addCore("second"); c.Container.Service = "third" }, "target_container_id"},
		"not reached":       {func(_ *site, c *Config) { c.CoreURL = "http://127.0.0.1:1" }, "core_url"},
		"file not readable": {func(s *site, _ *Config) { os.Remove(s.file()) }, "mount it at the same path"},
		"no compose":        {func(s *site, _ *Config) { s.engine.SetInfo(engine.Info{}, nil) }, "compose command"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			sup := s.supervise(t, func(c *Config) { tt.change(s, c) })
			if _, err := sup.Begin(apply); err != nil {
				t.Fatal(err)
			}
			if o := ended(t, sup, Failed); !strings.Contains(o.Message, tt.says) || len(s.engine.CallsOf("compose", "tag")) > 0 {
				t.Errorf("%q does not say %q, or something was changed: %v", o.Message, tt.says, s.engine.CallsOf("compose", "tag"))
			}
			refusedFor(t, "a rollback of nothing", sup.BeginRollback(t.Context(), ""), "nothing_to_roll_back")
		})
	}
}

// TestRollbackNeedsWhatTheUpgradeLeft: what somebody else has changed meanwhile is left alone, and an upgrade to the image that runs
// is none to take back.
func TestRollbackNeedsWhatTheUpgradeLeft(t *testing.T) {
	s := newSite(t)
	sup := s.supervise(t, nil)
	s.engine.Publish(repository+":latest", imageOfVersion("2"))
	for range 2 {
		if _, err := sup.Begin(Request{Mode: Apply, RollbackOnFailure: true}); err != nil {
			t.Fatal(err)
		}
		if o := ended(t, sup, Succeeded); s.core().ImageID != imageOfVersion("2").ID {
			t.Fatalf("%s: the core runs %s", o.Message, s.core().ImageID)
		}
	}
	mine := s.core()
	s.engine.RemoveContainer(mine.ID)
	s.engine.AddImage(imageOfVersion("3", repository+":latest"))
	s.addCore("patchbay")
	refusedFor(t, "a core that somebody else has changed", sup.BeginRollback(t.Context(), ""), "changed_since")
	s.engine.RemoveContainer(s.core().ID)
	s.engine.AddContainer(mine)
	refusedFor(t, "another operation", sup.BeginRollback(t.Context(), "sup_other"), "not_the_last")
	if err := sup.BeginRollback(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	ended(t, sup, RolledBack)
	if got := s.core().ImageID; got != imageOfVersion("1").ID {
		t.Errorf("after the rollback the core runs %s", got)
	}
	refusedFor(t, "nothing is left", sup.BeginRollback(t.Context(), ""), "nothing_to_roll_back")
}

// TestEngineIsAwayInEachCall: a call that the engine's end cuts off is made again.
func TestEngineIsAwayInEachCall(t *testing.T) {
	s := newSite(t)
	sup := s.supervise(t, nil)
	s.engine.Publish(repository+":latest", imageOfVersion("2"))
	for _, op := range []string{"containers", "inspect", "images", "pull", "run", "tag", "compose"} {
		s.engine.Fail(op, fault.New(fault.PluginUnavailable, "gone"))
	}
	if _, err := sup.Begin(Request{Mode: DryRun}); err != nil {
		t.Fatal(err)
	}
	ended(t, sup, Succeeded)
}

// TestJournalOfAKilledSupervisor: what the supervisor was writing when it was killed is removed, and nothing else.
func TestJournalOfAKilledSupervisor(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".state.json.123", ".self-upgrade.override.yml.45", ".state.json.old", ".other.json.123"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := OpenJournal(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if want := []string{filepath.Join(dir, ".other.json.123"), filepath.Join(dir, ".state.json.old")}; err != nil ||
		!slices.Equal(left, want) {
		t.Errorf("left are %v, want %v: %v", left, want, err)
	}
}

// TestJournal: the file holds what was put, in the order of its beginning, and survives a new start; upgrades outlive dry runs.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "state.json")
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path); err == nil || !strings.Contains(err.Error(), "another supervisor") {
		t.Errorf("a second supervisor: %v", err)
	}
	put := func(id string, mode Mode) {
		t.Helper()
		o := Operation{ID: id, Request: Request{Mode: mode}, Step: StepDone, Target: Image{ID: "new"}, Previous: Image{ID: "old"}}
		if err := j.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	put("upgrade", Apply)
	for i := range maxOperations + 5 {
		put(fmt.Sprint("dry-", i), DryRun)
	}
	j.Close()
	if j, err = OpenJournal(path); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all := j.Operations()
	if len(all) != maxOperations || all[0].ID != fmt.Sprint("dry-", maxOperations+4) || all[len(all)-1].ID != "upgrade" {
		t.Errorf("%d operations, from %s to %s", len(all), all[0].ID, all[len(all)-1].ID)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
	for name, content := range map[string]string{"damaged": "{", "of a later version": `{"schemaVersion": 2}`} {
		other := filepath.Join(t.TempDir(), "state.json")
		if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenJournal(other); err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("a file %s: %v", name, err)
		}
	}
}

// TestReferences: tags, digests and addresses as they are written.
func TestReferences(t *testing.T) {
	for ref, want := range map[string]string{"a/b": "latest", "a/b:1": "1", "host:5000/a/b": "latest", "host:5000/a/b:2@sha256:1": "2",
		"a/b@sha256:1": ""} {
		if got := cutTag(ref); got != want {
			t.Errorf("the tag of %s is %q, want %q", ref, got, want)
		}
	}
	for tag, want := range map[string]bool{"1.2.0": true, "v1_a-b": true, "-a": false, ".a": false, "a b": false, "a/b": false,
		strings.Repeat("a", maxTag): true} {
		if isTag(tag) != want {
			t.Errorf("%q is a tag: %v", tag, !want)
		}
	}
	core := newContainer(&Supervisor{}, ContainerConfig{ImageRepo: repository})
	d := &engine.Detail{Container: engine.Container{Labels: map[string]string{engine.LabelService: "core"}}, Config: &engine.ContainerConfig{
		ImageConfig: engine.ImageConfig{Env: []string{"SVC_HTTP_ADDR=0.0.0.0:8080"}},
		Ports:       []string{"127.0.0.1:9000:8080/tcp", "::1:9001:8080/tcp", "::8080/tcp", ":53:8080/udp", "0.0.0.0:9002:8080/tcp"},
	}}
	want := []string{"http://127.0.0.1:9000", "http://127.0.0.1:9002", "http://[::1]:9001", "http://core:8080"}
	if got := core.listURLs(d); !slices.Equal(got, want) {
		t.Errorf("the addresses are %q, want %q", got, want)
	}
	if !core.isOfRepository(repository+"@sha256:1") || core.isOfRepository(repository+"-side:1") {
		t.Error("images of the repository are not told from others")
	}
}
