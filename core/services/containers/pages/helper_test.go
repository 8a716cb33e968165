package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// The images of the tests.
const (
	webRepo  = "registry.example/acme/web"
	selfRepo = "registry.example/acme/patchbay"
	// hostile is what must not become markup.
	hostile = `<script>alert("x")</script>`
	// patience is how long the tests wait for what should come soon.
	patience = 20 * time.Second
)

var must = testkit.Must

// site is the pages of a containers service on a real listener, with a real queue and doubles of what is outside.
type site struct {
	testing.TB
	service  *service.Service
	store    *store.Store
	queue    *queue.Queue
	engine   *fake.Engine
	registry *fake.Registry
	codeHost *fake.CodeHost
	// chat, mail and push play roles, other has its recipient in the configuration.
	chat, mail, push, other *fake.Notifier
	dir                     string
	// at is the base of the service without a slash at its end, url the address of the listener.
	at, url       string
	admin, member string
}

func newSite(t testing.TB, base string) *site {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	s := &site{
		TB: t, engine: fake.NewEngine(), registry: fake.NewRegistry(), codeHost: fake.NewCodeHost("planted-token"), dir: t.TempDir(),
		at: strings.TrimSuffix(base, "/"),
	}
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations(), auth.Migrations(), service.Migrations())
	s.store = st
	ring, err := secret.NewKeyring(bytes.Repeat([]byte{3}, secret.KeySize))
	must(t, err)
	users, err := auth.New(auth.Config{Store: st, Keyring: ring, Scopes: []string{"containers", "mail", "search"}})
	must(t, err)
	sender, err := notify.New(notify.Config{Store: st, Channel: s.channel})
	must(t, err)
	manager, err := channels.New(channels.Config{Store: st, Keyring: ring, Sender: sender})
	must(t, err)
	s.service, err = service.New(service.Config{
		Sender: sender, Channels: manager, Store: st, Keyring: ring, DataDir: filepath.Join(s.dir, "data"), Version: "1.2.3",
		Providers: service.Providers{Engine: s.engine, Registries: []client.Registry{s.registry}, CodeHost: s.codeHost, Notify: s.channels()},
		Settings: service.Settings{
			BaseURL: base, Locale: "zh", ComposeBin: "docker-compose", SelfUpgradeURL: "/supervisor/", ImageRepo: selfRepo, Discovery: 60,
			MaxActions: 200, DeployTimeout: 5,
			Parallel: 4, PerHost: 4, RetryBaseMS: 1, RetryMaxMS: 2, UpdateRetries: 1, UpdateBaseMS: 1, UpdateMaxMS: 2,
			HealthTimeout: time.Second, SettleTime: 50 * time.Millisecond, PackageHosts: []string{"registry.example"},
		},
	})
	must(t, err)
	bus := event.NewBus()
	s.queue, err = queue.New(queue.Config{Store: st, Bus: bus, Handlers: append(s.service.Jobs(), sender.Jobs()...), Workers: 4,
		Poll: 20 * time.Millisecond, Grace: 50 * time.Millisecond})
	must(t, err)
	s.service.Use(s.queue)
	sender.Use(s.queue)
	must(t, s.queue.Start(context.Background()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.queue.Stop(ctx); err != nil {
			t.Error(err)
		}
		s.service.Close()
		bus.Close()
	})
	s.serve(users, bus, base)
	_, s.admin, err = users.Create(t.Context(), "ada@example.com", "Ada", auth.Admin)
	must(t, err)
	_, s.member, err = users.Create(t.Context(), "bob@example.com", "Bob", auth.Member)
	must(t, err)
	return s
}

func (s *site) serve(users *auth.Users, bus *event.Bus, base string) {
	s.Helper()
	clients, err := httpd.NewClients(nil)
	must(s, err)
	access := auth.Access{Trusted: clients}
	section, err := Section(Config{Service: s.service, Inbox: s.service.Inbox, Notices: s.service.Notices, Usage: s.service.Usage,
		Hooks: s.service.Webhooks, Bus: bus, Base: base})
	must(s, err)
	c, err := console.New(console.Config{Users: users, Access: access, Queue: s.queue, Bus: bus, Providers: noProviders{},
		Sections: []ui.Section{section}})
	must(s, err)
	mount := api.Mount(s.service, base)
	mount.Routes = append(mount.Routes, c.SectionRoutes("containers")...)
	mount.Errors = c.Errors(mount.Errors)
	h := webtest.Serve(s, httpd.Options{Guard: users.Guard(access), Clients: clients},
		httpd.Mount{Service: httpd.CoreService, BaseURL: "/", Routes: c.Routes(), Errors: c.Errors(nil)}, mount)
	s.url = "http://" + h.Addr()
}

func made256(kind string, n int) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n)))
}

// publish makes a reference stand for version n, for registry and engine.
func (s *site) publish(ref string, n int, steps ...fake.Step) {
	repo, tag, _ := strings.Cut(ref, ":")
	s.registry.Set(repo, tag, fake.Image{Digest: made256("digest", n),
		Platforms: []registry.Platform{{OS: "linux", Arch: "amd64", Digest: made256("amd64", n)}}})
	s.engine.Publish(ref, engine.Image{ID: made256("image", n), RepoDigests: []string{repo + "@" + made256("digest", n)}, OS: "linux",
		Arch: "amd64"})
	if len(steps) == 0 {
		steps = []fake.Step{fake.Healthy()}
	}
	s.engine.ScriptImage(made256("image", n), steps...)
}

// project is a compose project that runs version 1 of its one image, with a volume.
func (s *site) project(name, svc, repo string) project.ServiceDetail {
	s.Helper()
	dir := filepath.Join(s.dir, name)
	must(s, os.MkdirAll(dir, 0o755))
	file := filepath.Join(dir, "compose.yaml")
	must(s, os.WriteFile(file, fmt.Appendf(nil, "services:\n  %s:\n    image: %s:1\n    volumes: [\"data:/data\"]\nvolumes:\n  data: {}\n",
		svc, repo), 0o644))
	s.publish(repo+":1", 1)
	s.engine.AddImage(engine.Image{ID: made256("image", 1), RepoTags: []string{repo + ":1"},
		RepoDigests: []string{repo + "@" + made256("digest", 1)}, OS: "linux", Arch: "amd64"})
	id := s.engine.AddContainer(engine.Container{
		Name: name + "-" + svc + "-1", Image: repo + ":1", Mounts: []engine.Mount{{Type: "volume", Name: name + "_data", Destination: "/data"}},
		Labels: map[string]string{
			fake.LabelProject: name, fake.LabelService: svc, "com.docker.compose.project.working_dir": dir,
			"com.docker.compose.project.config_files": file,
			"com.docker.compose.config-hash":          "hash", "com.docker.compose.version": "2.40.3",
		},
	})
	s.engine.SetContents(id, "/data", []byte("contents"))
	job, err := s.service.Discover(context.Background())
	must(s, err)
	s.ended(job)
	return s.find(name, svc)
}

// find reads a service by its names.
func (s *site) find(stack, svc string) project.ServiceDetail {
	s.Helper()
	list, err := s.service.Overview(context.Background(), project.ArchivedInclude)
	must(s, err)
	for _, st := range list {
		i := slices.IndexFunc(st.Services, func(d project.ServiceDetail) bool { return d.Name == svc })
		if st.Name == stack && i >= 0 {
			return st.Services[i]
		}
	}
	s.Fatalf("there is no service %s / %s: %+v", stack, svc, list)
	return project.ServiceDetail{}
}

// ended waits for the end of a job.
func (s *site) ended(id string) service.JobDetail {
	s.Helper()
	deadline := time.Now().Add(patience)
	for {
		j, err := s.service.JobDetail(context.Background(), id)
		must(s, err)
		if isFinal(j.Status) {
			return j
		}
		if time.Now().After(deadline) {
			s.Fatalf("the job does not end: %+v", j)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// hosted has the code host know a repository.
func (s *site) hosted(full string) {
	owner, _, _ := strings.Cut(full, "/")
	s.codeHost.SetResolution(full, codehost.Resolution{Kind: codehost.KindRepo, Owner: owner,
		Repos: []codehost.Repo{{FullName: full, Visibility: "public"}}})
}

// visitor is a browser at the site.
type visitor struct {
	*site
	*webtest.Browser
}

func (s *site) visitor(lang string) *visitor { return &visitor{s, webtest.NewBrowser(s, s.url, lang)} }

// as is a visitor who has signed in with an API key.
func (s *site) as(key, lang string) *visitor {
	s.Helper()
	v := s.visitor(lang)
	v.SignIn(key, "/system")
	return v
}

// get reads a page below the base of the service.
func (v *visitor) get(path string) webtest.Page { v.Helper(); return v.Get(v.at + path) }

// post sends a form to a path below the base of the service.
func (v *visitor) post(path string, form ...string) webtest.Page {
	v.Helper()
	return v.Post(v.at+path, form...)
}

// began expects that a form has made a job, and waits for its end.
func (v *visitor) began(p webtest.Page) service.JobDetail {
	v.Helper()
	id, ok := strings.CutPrefix(p.Header.Get("Location"), v.at+"/queue/")
	if p.Status != http.StatusSeeOther || !ok {
		v.Fatalf("no job was made: status %d, to %q\n%s", p.Status, p.Header.Get("Location"), p.Body)
	}
	return v.ended(id)
}

// hookSpec is a webhook as the service would make it, but another one.
func hookSpec(callback string) codehost.HookSpec {
	return codehost.HookSpec{URL: callback, Events: []string{"package"}, Active: true}
}
