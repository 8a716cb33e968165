package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// containersHCL is a core with the containers service on the engine of this machine. more goes into the service's block.
func containersHCL(compose, more string) string {
	return fmt.Sprintf(`
registry "oci" "default" {}
engine "docker" "local" {}
service "containers" {
  base_url    = "/"
  engine      = engine.local
  registries  = registry.default
  compose_bin = %q
  settle_time = "2s"
  health_timeout = "20s"
  discovery_interval_seconds = 10
%s
}
`, compose, more)
}

// job is what the tests read of a job.
type job struct {
	ID, Type, Status, Reason, CreatedBy string
	Summary                             json.RawMessage
	ResultReason                        struct{ Summary, Detail, Raw string }
	Progress                            struct {
		Phase, Message string
		Percent        int
	}
	Logs []struct{ Level, Msg string }
}

func (j job) final() bool { return j.Status != "queued" && j.Status != "running" }

// service is what the tests read of a service.
type service struct {
	ID, StackID, Name, Status, LifecycleState, CheckError string
	Archived                                              bool
	Image                                                 struct{ Ref, Tag, Digest, DigestError, ResolvedTag string }
	Candidate                                             *struct {
		Tag, Digest, ArchMatch, ResolvedTag string
		RolledBack                          *struct{ JobID, Error string }
	}
	NewerTags []string
}

type stack struct {
	ID, Name string
	Archived bool
	Services []service
}

// api calls the JSON API and expects a status.
func (c *core) api(t testing.TB, method, path, body string, want int) answer {
	t.Helper()
	a := c.send(t, request{method: method, path: path, body: body})
	if a.status != want {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.status, want, a.body)
	}
	return a
}

// ask reads an answer of the JSON API.
func ask[T any](t testing.TB, c *core, path string) T {
	t.Helper()
	return decode[T](t, c.api(t, http.MethodGet, path, "", http.StatusOK).body)
}

// beginJob makes a job and returns its id.
func (c *core) beginJob(t testing.TB, path, body string) string {
	t.Helper()
	return decode[struct{ JobID string }](t, c.api(t, http.MethodPost, path, body, http.StatusOK).body).JobID
}

func (c *core) job(t testing.TB, id string) job {
	t.Helper()
	return ask[struct{ Job job }](t, c, "/api/jobs/"+id).Job
}

// finished waits for the end of a job, which must be the wanted one.
func (c *core) finished(t testing.TB, id, want string) job {
	t.Helper()
	var j job
	eventually(t, 2*time.Minute, "the job ends", func() bool { j = c.job(t, id); return j.final() })
	if j.Status != want {
		t.Fatalf("the %s job ended %s, want %s: %+v\nlog: %+v\nsummary: %s", j.Type, j.Status, want, j.ResultReason, j.Logs, j.Summary)
	}
	return j
}

// stackNamed waits until discovery has found a project with a running service.
func (c *core) stackNamed(t testing.TB, name string) stack {
	t.Helper()
	var out stack
	eventually(t, 30*time.Second, "discovery finds "+name, func() bool {
		list := ask[struct{ Stacks []struct{ ID, Name string } }](t, c, "/api/stacks").Stacks
		i := slices.IndexFunc(list, func(s struct{ ID, Name string }) bool { return s.Name == name })
		if i < 0 {
			return false
		}
		out = ask[struct{ Stack stack }](t, c, "/api/stacks/"+list[i].ID).Stack
		return slices.ContainsFunc(out.Services, func(s service) bool { return s.Image.Digest != "" })
	})
	return out
}

func (s stack) service(t testing.TB, name string) service {
	t.Helper()
	i := slices.IndexFunc(s.Services, func(x service) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("the stack %s has no service %s: %+v", s.Name, name, s.Services)
	}
	return s.Services[i]
}

func (c *core) service(t testing.TB, id string) service {
	t.Helper()
	return ask[struct{ Service service }](t, c, "/api/services/"+id).Service
}

// check checks a service and returns it as it is then.
func (c *core) check(t testing.TB, id string) service {
	t.Helper()
	job := c.beginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, id))
	c.finished(t, job, "success")
	return c.service(t, id)
}

// updateBody asks for the candidate of a service.
func updateBody(s service, more string) string {
	return fmt.Sprintf(`{"scope":"service","serviceId":%q,"targetTag":%q,"targetDigest":%q,"pullTags":[]%s}`, s.ID, s.Candidate.Tag,
		s.Candidate.Digest, more)
}

// running is the image of the container of a service: its id, and the digests under which the engine knows it.
func running(t testing.TB, dir, svc string) (container, image string, digests []string) {
	t.Helper()
	container = dockertest.FindContainer(t, dir, svc)
	image = strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.Image}}", container))
	text := dockertest.Docker(t, "image", "inspect", "-f", "{{json .RepoDigests}}", image)
	if err := json.Unmarshal([]byte(text), &digests); err != nil {
		t.Fatal(err)
	}
	return container, image, digests
}

// hasDigest reports whether one of the references ends in the digest.
func hasDigest(refs []string, digest string) bool {
	return slices.ContainsFunc(refs, func(r string) bool { return strings.HasSuffix(r, "@"+digest) })
}

// app is a project with a service web that is updated, and a neighbour that is left alone.
type app struct {
	reg     *dockertest.Reg
	repo    string
	dir     string
	project string
}

// startApp pushes the first version and starts a project on it with a compose command.
func startApp(t testing.TB, bin dockertest.ComposeBin, first dockertest.Behaviour) *app {
	t.Helper()
	a := &app{reg: dockertest.Registry(t, dockertest.RegistryOptions{}), repo: "demo/" + dockertest.Name(t)}
	dockertest.App(t, a.reg, a.repo, "1", first)
	dockertest.App(t, a.reg, a.repo+"-side", "1", dockertest.Behaviour{Version: "side"})
	a.dir = dockertest.Project(t, map[string]string{
		".env": "TAG=1\n",
		"docker-compose.yml": fmt.Sprintf(`version: "3.7"
services:
  web:
    image: "%[1]s/%[2]s:${TAG}"
    volumes: ["data:/data"]
    stop_grace_period: 1s
  side:
    image: "%[1]s/%[2]s-side:1"
    stop_grace_period: 1s
volumes:
  data: {}
`, a.reg.Host, a.repo),
	})
	a.project = filepath.Base(a.dir)
	dockertest.Up(t, bin, a.dir, "up", "-d")
	return a
}

// push pushes another version under the project's tag.
func (a *app) push(t testing.TB, b dockertest.Behaviour) string {
	t.Helper()
	return dockertest.App(t, a.reg, a.repo, "1", b)
}
