package containers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// patience is how long the tests wait for what should come soon.
const patience = 20 * time.Second

// The images of the tests are in a registry of this name.
const (
	imageHost = "registry.example"
	webRepo   = imageHost + "/acme/web"
	dbRepo    = imageHost + "/acme/db"
	appRepo   = imageHost + "/acme/app"
)

// env is a service with everything around it: a real database and queue, and doubles of what is outside.
type env struct {
	testing.TB
	store    *store.Store
	ring     *secret.Keyring
	engine   *fake.Engine
	registry *fake.Registry
	codeHost *fake.CodeHost
	set      Settings
	// asEngine replaces the double where a test needs something around it.
	asEngine client.Engine
	// ahead moves the clock of the service, in nanoseconds.
	ahead   atomic.Int64
	dir     string
	workers int
	// outageWait is for how long a step waits for the engine.
	outageWait time.Duration
	// idle has the queue look around as seldom as in the product.
	idle  bool
	svc   *Service
	queue *queue.Queue
	// cluster is what the process is a node of; nil is a process alone.
	cluster *cluster.Cluster
	// notifiers are the channels of notifications.
	notifiers channelSet
	manager   *channels.Manager
	base      string
	guard     guardFunc
}

func keyring(t testing.TB) *secret.Keyring {
	t.Helper()
	ring, err := secret.NewKeyring(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// forEach runs a test with a service on each kind of database.
func forEach(t *testing.T, test func(t *testing.T, e *env), change ...func(*env)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		test(t, newEnvOn(t, testkit.OpenStore(t, cfg, allMigrations()...), change...))
	})
}

// newEnv makes a service on SQLite; change may alter what it is made of.
func newEnv(t testing.TB, change ...func(*env)) *env {
	t.Helper()
	return newEnvOn(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), allMigrations()...), change...)
}

// testSettings are short where waiting is concerned.
func testSettings() Settings {
	return Settings{
		BaseURL: "/", Locale: "zh", Engine: "engine.test", Registries: []string{"registry.test"}, PackageHosts: []string{imageHost},
		ComposeBin:     "docker-compose",
		SelfUpgradeURL: "/supervisor/", ImageRepo: imageHost + "/acme/patchbay", Discovery: 60, MaxActions: 200, DeployTimeout: 5, Parallel: 8,
		PerHost:       5,
		RetryAttempts: 3, RetryBaseMS: 1, RetryMaxMS: 4, Cooldown: 21600, UpdateRetries: 2, UpdateBaseMS: 1, UpdateMaxMS: 2,
		HealthTimeout: 1200 * time.Millisecond, SettleTime: 100 * time.Millisecond,
	}
}

func newEnvOn(t testing.TB, st *store.Store, change ...func(*env)) *env {
	t.Helper()
	e := &env{
		TB: t, store: st, ring: keyring(t), engine: fake.NewEngine(), registry: fake.NewRegistry(), codeHost: fake.NewCodeHost("ghp_test"),
		set: testSettings(), dir: t.TempDir(), workers: 8, guard: testGuard,
	}
	for _, f := range change {
		f(e)
	}
	e.start()
	return e
}

func (e *env) now() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) }

func (e *env) advance(d time.Duration) { e.ahead.Add(int64(d)) }

// start makes the service and its queue on the database, which may hold what an earlier one has left.
func (e *env) start() {
	e.Helper()
	eng := e.asEngine
	if eng == nil {
		eng = e.engine
	}
	sender := e.notifiers.sender(e, e.store, e.now)
	e.manager = e.newManager(sender, e.ring)
	svc, err := New(Config{
		Sender: sender, Channels: e.manager, Store: e.store, Keyring: e.ring, Settings: e.set, DataDir: filepath.Join(e.dir, "data"),
		Version: "1.2.3", Now: e.now, OutageWait: e.outageWait, Cluster: e.cluster,
		Providers: Providers{Engine: eng, Registries: []client.Registry{e.registry}, CodeHost: e.codeHost, Notify: e.notifiers.listed()},
	})
	e.must(err)
	cfg := queue.Config{Store: e.store, Bus: event.NewBus(), Handlers: append(svc.Jobs(), sender.Jobs()...), Schedules: svc.Schedules(),
		NoSchedules: true, Workers: e.workers, Cluster: e.cluster}
	if !e.idle {
		cfg.Heartbeat, cfg.Poll, cfg.Grace = 100*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	}
	q, err := queue.New(cfg)
	e.must(err)
	svc.Use(q)
	sender.Use(q)
	e.must(q.Start(context.Background()))
	e.svc, e.queue = svc, q
	e.Cleanup(func() { e.stop(q, svc) })
}

func (e *env) stop(q *queue.Queue, svc *Service) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := q.Stop(ctx); err != nil {
		e.Error(err)
	}
	svc.Close()
}

// inferring runs the search for versions, and nothing else of what Start begins.
func (e *env) inferring() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.svc.FindVersions(ctx)
	}()
	e.Cleanup(func() { cancel(); <-done })
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// digest and imageID are made up, and differ with n.
func digest(n int) string { return made256("digest", n) }

func imageID(n int) string { return made256("image", n) }

func made256(kind string, n int) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n)))
}

// image is version n of a repository, with the platforms of a small index.
func (e *env) image(repo string, n int) engine.Image {
	return engine.Image{ID: imageID(n), RepoDigests: []string{repo + "@" + digest(n)}, OS: "linux", Arch: "amd64"}
}

func platforms(n int) []registry.Platform {
	return []registry.Platform{
		{OS: "linux", Arch: "amd64", Digest: made256("amd64", n)}, {OS: "linux", Arch: "arm64", Variant: "v8", Digest: made256("arm64", n)},
	}
}

// publish makes a tag of a repository stand for version n, for registry and engine. Its containers are healthy at once.
func (e *env) publish(ref string, n int, change ...func(*fake.Image)) {
	repo, tag, _ := strings.Cut(ref, ":")
	img := fake.Image{Digest: digest(n), Platforms: platforms(n)}
	for _, f := range change {
		f(&img)
	}
	e.registry.Set(repo, tag, img)
	e.engine.Publish(ref, e.image(repo, n))
	e.engine.ScriptImage(imageID(n), fake.Healthy())
}

// file writes a file below the folder of the test and returns its path.
func (e *env) file(name, text string) string {
	e.Helper()
	path := filepath.Join(e.dir, name)
	e.must(os.MkdirAll(filepath.Dir(path), 0o755))
	e.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// composeText is a compose file; images go from service to image.
func composeText(images map[string]string, more ...string) string {
	text := "services:\n"
	for _, name := range sortedKeys(images) {
		text += "  " + name + ":\n    image: " + images[name] + "\n"
	}
	return text + strings.Join(more, "")
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// container is one of a project, as compose would have made it.
func (e *env) container(project, service, image string, files ...string) string {
	dir := filepath.Join(e.dir, project)
	if len(files) == 0 {
		files = []string{filepath.Join(dir, "compose.yaml")}
	}
	return e.engine.AddContainer(engine.Container{
		Name: project + "-" + service + "-1", Image: image,
		Labels: map[string]string{host.LabelProject: project, host.LabelService: service, engine.LabelNumber: "1", host.LabelWorkingDir: dir,
			host.LabelFiles: strings.Join(files, ","), host.LabelConfigHash: "hash", host.LabelComposeVersion: "2.40.3"},
	})
}

// project is a compose project that runs: its file, version n of its images, and a container of each service.
func (e *env) project(name string, n int, images map[string]string) {
	e.Helper()
	e.file(name+"/compose.yaml", composeText(images))
	for _, svc := range sortedKeys(images) {
		ref := images[svc]
		repo, _, _ := strings.Cut(ref, ":")
		img := e.image(repo, n)
		img.RepoTags = []string{ref}
		e.engine.AddImage(img)
		e.engine.ScriptImage(imageID(n), fake.Healthy())
		e.container(name, svc, ref)
	}
}
