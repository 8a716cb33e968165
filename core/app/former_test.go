package app

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	sdksearch "github.com/patchbay-dev/patchbay/sdk/search"
)

// formerFolder holds databases of former versions; its README says how they are made.
const formerFolder = "testdata/former"

// envWriteFormer is the variable with the name of a dump that is to be written.
const envWriteFormer = "PATCHBAY_WRITE_FORMER"

// TestFormerDatabase shows that databases which former versions have written open, and show what they showed then.
func TestFormerDatabase(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		if name := os.Getenv(envWriteFormer); name != "" {
			writeFormer(t, cfg, filepath.Join(formerFolder, name+"."+string(cfg.Dialect)))
			return
		}
		dumps, err := filepath.Glob(filepath.Join(formerFolder, "*."+string(cfg.Dialect)+".sql"))
		must(t, err)
		if len(dumps) == 0 {
			t.Fatal("there is no dump")
		}
		fresh := testkit.OpenStore(t, cfg, settings.Source{Services: Modules()}.Migrations()...)
		for _, dump := range dumps {
			t.Run(strings.TrimSuffix(filepath.Base(dump), ".sql"), func(t *testing.T) {
				cfg := freshConfig(t, cfg.Dialect)
				loadDump(t, cfg, dump)
				st := testkit.OpenStore(t, cfg, settings.Source{Services: Modules()}.Migrations()...)
				if diff := cmp.Diff(findSchema(t, fresh), findSchema(t, st)); diff != "" {
					t.Errorf("its schema is not that of a fresh database (-fresh +migrated):\n%s", diff)
				}
				must(t, st.Close())
				text, err := os.ReadFile(strings.TrimSuffix(dump, "sql") + "json")
				must(t, err)
				var want, got any
				must(t, json.Unmarshal(text, &want))
				must(t, json.Unmarshal([]byte(newFormer(t, cfg).describe()), &got))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("it shows something else (-former +now):\n%s", diff)
				}
			})
		}
	})
}

// findSchema returns the tables, columns and indexes of a database, sorted.
func findSchema(t *testing.T, st *store.Store) (out []string) {
	t.Helper()
	query := `SELECT type || ' ' || name || ': ' || COALESCE(sql, '') FROM sqlite_master ORDER BY 1`
	if st.Dialect() == store.Postgres {
		query = `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '') FROM information_schema.columns
			WHERE table_schema = 'public' UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`
	}
	must(t, st.DB(t.Context()).Raw(query).Scan(&out).Error)
	return out
}

func freshConfig(t *testing.T, d store.Dialect) store.Config {
	if d == store.Postgres {
		return testkit.PostgresConfig(t)
	}
	return testkit.SQLiteConfig(t)
}

// formerNow returns the time that quotas are shown at.
func formerNow() time.Time { return time.Date(2026, time.November, 22, 12, 0, 30, 0, time.UTC) }

// former is the core's database with the services on it. Nothing runs by itself.
type former struct {
	t          *testing.T
	store      *store.Store
	engine     *fake.Engine
	registry   *fake.Registry
	users      *auth.Users
	search     *search.Service
	containers *containers.Service
	sender     *notify.Sender
	channels   *channels.Manager
	queue      *queue.Queue
}

func newFormer(t *testing.T, cfg store.Config) *former {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(formerFolder, "master.key"))
	must(t, err)
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	must(t, err)
	ring, err := secret.NewKeyring(key)
	must(t, err)
	f := &former{t: t, store: testkit.OpenStore(t, cfg, settings.Source{Services: Modules()}.Migrations()...), engine: fake.NewEngine(),
		registry: fake.NewRegistry()}
	f.users, err = auth.New(auth.Config{Store: f.store, Keyring: ring, Scopes: module.Names(Modules())})
	must(t, err)
	f.search, err = search.New(t.Context(), search.Config{
		Store: f.store, Keyring: ring, People: f.users, Now: formerNow,
		Settings: search.Settings{BaseURL: "/search", Backend: []string{"search.main"}},
		Backends: []client.Search{fake.NewSearch(sdksearch.Descriptor{Credential: true})},
	})
	must(t, err)
	t.Cleanup(f.search.Close)
	notifiers := map[string]*fake.Notifier{}
	var listed []channels.Channel
	for _, role := range append(sdk.Roles(), "") {
		ref := "notify." + strings.ToLower(role+"main")
		notifiers[ref] = fake.NewNotifier(sdk.Descriptor{Role: role})
		listed = append(listed, channels.Channel{Ref: ref, Notifier: notifiers[ref]})
	}
	f.sender, err = notify.New(notify.Config{Store: f.store,
		Channel: func(ref string) (client.Notifier, error) { return notifiers[ref], nil }})
	must(t, err)
	f.channels, err = channels.New(channels.Config{Store: f.store, Keyring: ring, Sender: f.sender})
	must(t, err)
	f.containers, err = containers.New(containers.Config{
		Store: f.store, Keyring: ring, Sender: f.sender, Channels: f.channels, DataDir: "/data", Version: "1.0.0",
		Settings: containers.Settings{BaseURL: "/", Locale: "en", Engine: "engine.main", ImageRepo: "registry.example/patchbay", Parallel: 2,
			PerHost: 2, RetryAttempts: 1, DeployTimeout: 5},
		Providers: containers.Providers{Engine: f.engine, Registries: []client.Registry{f.registry}, CodeHost: fake.NewCodeHost("ghp_test"),
			Notify: listed},
	})
	must(t, err)
	t.Cleanup(f.containers.Close)
	f.queue, err = queue.New(queue.Config{Store: f.store, Bus: event.NewBus(), Handlers: append(f.containers.Jobs(), f.sender.Jobs()...)})
	must(t, err)
	f.containers.Use(f.queue)
	f.sender.Use(f.queue)
	return f
}

// describe returns what the services read from the database, as JSON. Secrets are in it as they are used.
func (f *former) describe() string {
	f.t.Helper()
	ctx := f.t.Context()
	out := map[string]any{}
	add := func(name string, v any, err error) {
		f.t.Helper()
		must(f.t, err)
		out[name] = v
	}
	people, err := f.users.List(ctx)
	add("users", people, err)
	for _, u := range people {
		keys, err := f.users.Keys.List(ctx, u.ID)
		add("api keys of "+u.Email, keys, err)
	}
	tokens, err := f.search.FindTokens(ctx, access.TokenFilter{}, 1, 20)
	add("access tokens", tokens, err)
	for _, token := range tokens.Items {
		text, err := f.search.TokenText(ctx, token.ID)
		add("access token "+token.ID, text, err)
	}
	keys, err := f.search.FindKeys(ctx, keys.KeyFilter{}, 1, 20)
	add("upstream keys", keys, err)
	f.describeContainers(ctx, add)
	f.describeChannels(ctx, add)
	raw, err := json.MarshalIndent(out, "", " ")
	must(f.t, err)
	return string(raw) + "\n"
}

func (f *former) describeContainers(ctx context.Context, add func(string, any, error)) {
	stacks, err := f.containers.Overview(ctx, "")
	add("stacks", stacks, err)
	jobs, _, err := f.containers.ListJobs(ctx, containers.JobFilter{Limit: 20})
	add("jobs", jobs, err)
	system, err := f.containers.SystemSettings(ctx)
	add("settings", []any{system.Backup, system.Monitor, system.Schedules, system.Instance}, err)
	hooks, err := f.containers.Webhooks.HookSettings(ctx)
	add("webhook settings", hooks, err)
}

func (f *former) describeChannels(ctx context.Context, add func(string, any, error)) {
	set, err := f.channels.Settings(ctx)
	add("channels", set, err)
	subscribers, err := f.channels.Subscribers(ctx)
	add("subscriptions", subscribers, err)
	history, err := f.channels.History(ctx, "", 20)
	add("history", history, err)
	last, err := f.channels.LastDeliveries(ctx)
	add("last deliveries", last, err)
	recipients := []notify.Recipient{{Name: sdk.RoleChat}, {Name: sdk.RoleEmail}, {Name: sdk.RoleWebhook}}
	for _, s := range subscribers {
		recipients = append(recipients, notify.Recipient{Name: sdk.RoleWebPush, Key: s.ID})
	}
	for _, r := range recipients {
		r.Channel = "notify." + strings.ToLower(r.Name+"main")
		to, err := f.channels.Target(ctx, r)
		add("target "+r.Name+" "+r.Key, []string{string(to.JSON), to.Secret.Reveal()}, err)
	}
	active, err := f.sender.Active(ctx, "search")
	add("alerts", active, err)
}
