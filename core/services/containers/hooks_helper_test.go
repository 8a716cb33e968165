package containers

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	hookPAT      = "pat-planted-0123456789"
	hookTrigger  = "trigger-planted-0123456789"
	hookCallback = "https://patchbay.example/api/webhooks/host-packages"
	hookImages   = "registry.example"
)

// hookEnv is a service with doubles of everything outside, and the real queue, which works once run is called.
type hookEnv struct {
	testing.TB
	store *store.Store
	queue *queue.Queue
	host  *fake.CodeHost
	svc   *Service
	logs  *testkit.Buffer
	base  string
	// channels are those of notifications.
	notifiers channelSet
	// answers are the bodies of all answers, for the search for secrets.
	answers bytes.Buffer
}

func hookDialects(t *testing.T, test func(e *hookEnv)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) { test(newHookEnv(t, cfg)) })
}

func newHookEnv(t testing.TB, cfg store.Config) *hookEnv {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	ring, err := secret.NewKeyring(bytes.Repeat([]byte{7}, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	e := &hookEnv{TB: t, store: testkit.OpenStore(t, cfg, allMigrations()...), host: fake.NewCodeHost(hookPAT), logs: &testkit.Buffer{}}
	log := hclog.New(&hclog.LoggerOptions{Output: e.logs, Level: hclog.Debug})
	e.host.OnParse(hookParse)
	sender := e.notifiers.sender(t, e.store, nil)
	manager, err := channels.New(channels.Config{Store: e.store, Keyring: ring, Sender: sender})
	if err != nil {
		t.Fatal(err)
	}
	e.svc, err = New(Config{
		Sender: sender, Channels: manager,
		Store: e.store, Keyring: ring, Logger: log, DataDir: t.TempDir(),
		Settings: Settings{
			BaseURL: "/", PackageHosts: []string{hookImages}, WebhookSecret: hookTrigger, Parallel: 2, PerHost: 2, RetryBaseMS: 1, RetryMaxMS: 1,
			ComposeBin: "compose",
			Discovery:  60, MaxActions: 100, DeployTimeout: 5, HostPlatform: "linux/amd64",
		},
		Providers: Providers{Engine: fake.NewEngine(), Registries: []client.Registry{fake.NewRegistry(hookImages)}, CodeHost: e.host,
			Notify: e.notifiers.listed()},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.queue, err = queue.New(queue.Config{Store: e.store, Bus: event.NewBus(), Logger: log, Handlers: append(e.svc.Jobs(), sender.Jobs()...),
		Poll: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e.svc.Use(e.queue)
	sender.Use(e.queue)
	t.Cleanup(e.svc.Close)
	e.listen(log)
	return e
}

// without takes the code host away.
func (e *hookEnv) without() {
	e.Helper()
	p := e.svc.state.Load().providers
	p.CodeHost = nil
	if err := e.svc.Reload(e.svc.settings(), p); err != nil {
		e.Fatal(err)
	}
}

// run has the queue work.
func (e *hookEnv) run() {
	e.Helper()
	if err := e.queue.Start(context.Background()); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := e.queue.Stop(ctx); err != nil {
			e.Error(err)
		}
	})
}

func (e *hookEnv) listen(log hclog.Logger) {
	e.Helper()
	mount := mountAPI(e.svc, e.svc.settings().BaseURL)
	guard := func(c *gin.Context, _ string, _ httpd.Route) error {
		if c.GetHeader("X-Test-User") == "" {
			return fault.New("auth_required", "Sign in.").WithStatus(http.StatusUnauthorized)
		}
		who := &auth.Principal{User: auth.User{ID: "usr_1", Name: "ann", Role: "admin"}, Via: auth.ViaForward}
		c.Request = c.Request.WithContext(auth.With(c.Request.Context(), who))
		return nil
	}
	e.base = "http://" + webtest.Serve(e, httpd.Options{Logger: log, Guard: guard}, mount).Addr()
}

// hookGot is an answer, read whole.
type hookGot struct {
	status int
	body   string
	json   map[string]any
}

func (g hookGot) text(key string) string { s, _ := g.json[key].(string); return s }

func (g hookGot) list(key string) []any { l, _ := g.json[key].([]any); return l }

func (e *hookEnv) send(method, path, body string, header ...string) hookGot {
	e.Helper()
	resp, raw := webtest.Send(e, method, e.base+path, body, header...)
	e.answers.Write(raw)
	g := hookGot{status: resp.StatusCode, body: string(raw)}
	_ = json.Unmarshal(raw, &g.json)
	return g
}

// api calls an endpoint of the integration as a person, and wants a status.
func (e *hookEnv) api(status int, method, path, body string) hookGot {
	e.Helper()
	g := e.send(method, "/api/host-packages"+path, body, "X-Test-User", "ann", "Content-Type", "application/json")
	if g.status != status {
		e.Fatalf("%s %s %s: %d %s, want %d", method, path, body, g.status, g.body, status)
	}
	return g
}

func (e *hookEnv) post(status int, path, body string) hookGot {
	e.Helper()
	return e.api(status, http.MethodPost, path, body)
}

// setUp switches the integration on and tracks repositories; those in selected are selected without a job.
func (e *hookEnv) setUp(selected ...string) {
	e.Helper()
	e.api(200, http.MethodPut, "/settings", `{"enabled":true,"callbackUrl":"`+hookCallback+`","pat":"`+hookPAT+`"}`)
	for _, full := range selected {
		e.track(full, true)
	}
}

// track puts a repository into the table and onto the code host.
func (e *hookEnv) track(full string, selected bool) {
	e.Helper()
	owner, _, _ := strings.Cut(full, "/")
	e.host.SetResolution(full, codehost.Resolution{Kind: codehost.KindRepo, Owner: owner, Repos: []codehost.Repo{{FullName: full}}})
	err := e.store.Tx(context.Background(), "track", func(ctx context.Context) error {
		row := trackedRow{Name: strings.ToLower(full), FullName: full, Selected: selected, WebhookState: webhook.StateUnknown, CreatedAt: 1}
		return e.store.Writer(ctx).Create(&row).Error
	})
	if err != nil {
		e.Fatal(err)
	}
}

func (e *hookEnv) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// trackedRow is a tracked repository as it is stored.
type trackedRow struct {
	Name, FullName, WebhookState, HookID, JobID, LastOp, LastError, Visibility string
	Selected, Removing                                                         bool
	CreatedAt, LastActivity, LastSyncAt, LastAuditAt                           int64
}

// TableName implements gorm's Tabler.
func (trackedRow) TableName() string { return "containers_repos" }

// repo reads a tracked repository; nil without one.
func (e *hookEnv) repo(full string) *trackedRow {
	e.Helper()
	var rows []trackedRow
	if err := e.store.DB(context.Background()).Where("name = ?", strings.ToLower(full)).Find(&rows).Error; err != nil {
		e.Fatal(err)
	}
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}

// nameHook makes a webhook the one that was made for a repository.
func (e *hookEnv) nameHook(repo, id string) {
	e.Helper()
	e.must(e.store.Tx(context.Background(), "name a webhook", func(ctx context.Context) error {
		return e.store.Writer(ctx).Exec("UPDATE containers_repos SET hook_id = ? WHERE name = ?", id, repo).Error
	}))
}

// hostedBy puts another code host into use.
func (e *hookEnv) hostedBy(host client.CodeHost) {
	e.Helper()
	p := e.svc.state.Load().providers
	p.CodeHost = host
	e.must(e.svc.Reload(e.svc.settings(), p))
}

// manage puts services with images into the inventory and returns their ids.
func (e *hookEnv) manage(images ...string) (ids []string) {
	e.Helper()
	err := e.store.Tx(context.Background(), "manage", func(ctx context.Context) error {
		dir := e.TempDir()
		st := record.Stack{ID: store.NewID("stk"), Project: store.NewID("p"), WorkingDir: dir,
			Files: []string{filepath.Join(dir, "compose.yaml")}, CreatedAt: 1}
		files := "services:\n"
		if err := e.store.Writer(ctx).Create(&st).Error; err != nil {
			return err
		}
		for i, ref := range images {
			svc := record.Service{ID: store.NewID("svc"), StackID: st.ID, Name: "s" + string(rune('a'+i)), Image: ref, State: record.StateRunning,
				MinAge: -1, CreatedAt: 1}
			svc.Repo, svc.Tag = svc.ImageRef().Repo(), svc.ImageRef().Tag
			if err := e.store.Writer(ctx).Create(&svc).Error; err != nil {
				return err
			}
			ids = append(ids, svc.ID)
			files += "  " + svc.Name + ":\n    image: " + ref + "\n"
		}
		return os.WriteFile(st.Files[0], []byte(files), 0o600)
	})
	if err != nil {
		e.Fatal(err)
	}
	return ids
}

// ended waits for a job and returns it.
func (e *hookEnv) ended(id string) queue.Job {
	e.Helper()
	var job queue.Job
	testkit.Eventually(e, 20*time.Second, func() bool {
		var err error
		if job, err = e.queue.Get(context.Background(), id); err != nil {
			e.Fatal(err)
		}
		return job.State != queue.Queued && job.State != queue.Running
	}, "the job "+id+" ends")
	return job
}

func (e *hookEnv) jobs(kinds ...string) []queue.Job {
	e.Helper()
	jobs, _, err := e.queue.List(context.Background(), queue.Filter{Types: work.QualifiedTypes(kinds)}, "", 200)
	if err != nil {
		e.Fatal(err)
	}
	return jobs
}

// secret is the secret that deliveries are signed with.
func (e *hookEnv) secret() string {
	e.Helper()
	_, secret, _ := e.storedSecrets()
	return secret
}

// storedSecrets returns the access token and the secret of the settings, and whether the integration is on.
func (e *hookEnv) storedSecrets() (pat, secret string, enabled bool) {
	e.Helper()
	var stored struct {
		Enabled     bool
		PAT, Secret string
	}
	_, err := e.svc.repo.ReadSetting(context.Background(), "host_packages", &stored)
	e.must(err)
	plain := map[string]string{}
	for column, sealed := range map[string]string{"pat": stored.PAT, "secret": stored.Secret} {
		if sealed == "" {
			continue
		}
		raw, err := e.svc.cfg.Keyring.Open(sealed, "containers_settings", "host_packages", column)
		e.must(err)
		plain[column] = string(raw)
	}
	return plain["pat"], plain["secret"], stored.Enabled
}
