package kit

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

// ContainersHCL is a core with the containers service on the engine of this machine. more goes into the service's block.
func ContainersHCL(compose, more string) string {
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

// Job is what the tests read of a job.
type Job struct {
	ID, Type, Status, Reason, CreatedBy string
	Summary                             json.RawMessage
	ResultReason                        struct{ Summary, Detail, Raw string }
	Progress                            struct {
		Phase, Message string
		Percent        int
	}
	Logs []struct{ Level, Msg string }
}

// Final reports whether the job has ended.
func (j Job) Final() bool { return j.Status != "queued" && j.Status != "running" }

// Service is what the tests read of a service.
type Service struct {
	ID, StackID, Name, Status, LifecycleState, CheckError string
	Archived                                              bool
	Image                                                 struct{ Ref, Tag, Digest, DigestError, ResolvedTag string }
	Candidate                                             *struct {
		Tag, Digest, ArchMatch, ResolvedTag string
		RolledBack                          *struct{ JobID, Error string }
	}
	NewerTags []string
}

// Stack is what the tests read of a stack.
type Stack struct {
	ID, Name string
	Archived bool
	Services []Service
}

// API calls the JSON API and expects a status.
func (c *Core) API(t testing.TB, method, path, body string, want int) Answer {
	t.Helper()
	a := c.Send(t, Request{Method: method, Path: path, Body: body})
	if a.Status != want {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.Status, want, a.Body)
	}
	return a
}

// Ask reads an answer of the JSON API.
func Ask[T any](t testing.TB, c *Core, path string) T {
	t.Helper()
	return Decode[T](t, c.API(t, http.MethodGet, path, "", http.StatusOK).Body)
}

// BeginJob makes a job and returns its id.
func (c *Core) BeginJob(t testing.TB, path, body string) string {
	t.Helper()
	return Decode[struct{ JobID string }](t, c.API(t, http.MethodPost, path, body, http.StatusOK).Body).JobID
}

// Job reads a job.
func (c *Core) Job(t testing.TB, id string) Job {
	t.Helper()
	return Ask[struct{ Job Job }](t, c, "/api/jobs/"+id).Job
}

// Finished waits for the end of a job, which must be the wanted one.
func (c *Core) Finished(t testing.TB, id, want string) Job {
	t.Helper()
	var j Job
	Eventually(t, 2*time.Minute, "the job ends", func() bool { j = c.Job(t, id); return j.Final() })
	if j.Status != want {
		t.Fatalf("the %s job ended %s, want %s: %+v\nlog: %+v\nsummary: %s", j.Type, j.Status, want, j.ResultReason, j.Logs, j.Summary)
	}
	return j
}

// StackNamed waits until discovery has found a project with a running service.
func (c *Core) StackNamed(t testing.TB, name string) Stack {
	t.Helper()
	var out Stack
	Eventually(t, 30*time.Second, "discovery finds "+name, func() bool {
		list := Ask[struct{ Stacks []struct{ ID, Name string } }](t, c, "/api/stacks").Stacks
		i := slices.IndexFunc(list, func(s struct{ ID, Name string }) bool { return s.Name == name })
		if i < 0 {
			return false
		}
		out = Ask[struct{ Stack Stack }](t, c, "/api/stacks/"+list[i].ID).Stack
		return slices.ContainsFunc(out.Services, func(s Service) bool { return s.Image.Digest != "" })
	})
	return out
}

// Service returns the service of a name, which must be there.
func (s Stack) Service(t testing.TB, name string) Service {
	t.Helper()
	i := slices.IndexFunc(s.Services, func(x Service) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("the stack %s has no service %s: %+v", s.Name, name, s.Services)
	}
	return s.Services[i]
}

// Service reads a service.
func (c *Core) Service(t testing.TB, id string) Service {
	t.Helper()
	return Ask[struct{ Service Service }](t, c, "/api/services/"+id).Service
}

// Check checks a service and returns it as it is then.
func (c *Core) Check(t testing.TB, id string) Service {
	t.Helper()
	job := c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, id))
	c.Finished(t, job, "success")
	return c.Service(t, id)
}

// UpdateBody asks for the candidate of a service.
func UpdateBody(s Service, more string) string {
	return fmt.Sprintf(`{"scope":"service","serviceId":%q,"targetTag":%q,"targetDigest":%q,"pullTags":[]%s}`, s.ID, s.Candidate.Tag,
		s.Candidate.Digest, more)
}

// RunningImage is the image of the container of a service: its id, and the digests under which the engine knows it.
func RunningImage(t testing.TB, dir, svc string) (container, image string, digests []string) {
	t.Helper()
	container = dockertest.FindContainer(t, dir, svc)
	image = strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.Image}}", container))
	text := dockertest.Docker(t, "image", "inspect", "-f", "{{json .RepoDigests}}", image)
	if err := json.Unmarshal([]byte(text), &digests); err != nil {
		t.Fatal(err)
	}
	return container, image, digests
}

// HasDigest reports whether one of the references ends in the digest.
func HasDigest(refs []string, digest string) bool {
	return slices.ContainsFunc(refs, func(r string) bool { return strings.HasSuffix(r, "@"+digest) })
}

// App is a project with a service web that is updated, and a neighbour that is left alone.
type App struct {
	Reg     *dockertest.Reg
	Repo    string
	Dir     string
	Project string
}

// StartApp pushes the first version and starts a project on it with a compose command.
func StartApp(t testing.TB, bin dockertest.ComposeBin, first dockertest.Behaviour) *App {
	t.Helper()
	a := &App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}
	dockertest.App(t, a.Reg, a.Repo, "1", first)
	dockertest.App(t, a.Reg, a.Repo+"-side", "1", dockertest.Behaviour{Version: "side"})
	a.Dir = dockertest.Project(t, map[string]string{
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
`, a.Reg.Host, a.Repo),
	})
	a.Project = filepath.Base(a.Dir)
	dockertest.Up(t, bin, a.Dir, "up", "-d")
	return a
}

// Push pushes another version under the project's tag.
func (a *App) Push(t testing.TB, b dockertest.Behaviour) string {
	t.Helper()
	return dockertest.App(t, a.Reg, a.Repo, "1", b)
}
