package app

import (
	"compress/gzip"
	"context"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// writeFormer fills the database by what the services do, and writes it and what it shows into two files.
func writeFormer(t *testing.T, cfg store.Config, name string) {
	folder := t.TempDir()
	write := func(file, text string) {
		must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, folder, "/srv")), 0o644))
	}
	t.Run("fill", func(t *testing.T) {
		f := newFormer(t, cfg)
		f.fill(folder)
		write(name+".json", f.describe())
	})
	var dump *exec.Cmd
	if cfg.Dialect == store.Postgres {
		dump = exec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", "--no-privileges", cfg.URL)
	} else {
		dump = exec.CommandContext(t.Context(), "sqlite3", cfg.Path, ".dump")
	}
	raw, err := dump.Output()
	must(t, err)
	var text strings.Builder
	for line := range strings.Lines(string(raw)) {
		if line != "\n" && !strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "SET ") && !strings.HasPrefix(line, `\`) &&
			!strings.Contains(line, "set_config") {
			text.WriteString(line)
		}
	}
	write(name+".sql", text.String())
}

// readDump returns the text of a dump, which is compressed if its name ends in .gz.
func readDump(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		in, err = gzip.NewReader(f)
		must(t, err)
	}
	text, err := io.ReadAll(in)
	must(t, err)
	return text
}

// loadDump puts a dump into a fresh database.
func loadDump(t *testing.T, cfg store.Config, path string) {
	t.Helper()
	text := readDump(t, path)
	if cfg.Dialect == store.SQLite {
		db, err := sql.Open("sqlite3", cfg.Path)
		must(t, err)
		_, err = db.ExecContext(t.Context(), string(text))
		must(t, err)
		must(t, db.Close())
		return
	}
	conn, err := pgx.Connect(t.Context(), cfg.URL)
	must(t, err)
	_, err = conn.Exec(t.Context(), string(text), pgx.QueryExecModeSimpleProtocol)
	must(t, err)
	must(t, conn.Close(t.Context()))
}

// fill does what people and schedules would have done in a small installation.
func (f *former) fill(folder string) {
	t, ctx := f.t, f.t.Context()
	must(t, f.queue.Start(ctx))
	for i, email := range []string{"ann@example.org", "ben@example.org"} {
		u, _, err := f.users.Create(ctx, email, strings.ToUpper(email[:3]), []auth.Role{auth.Admin, auth.Member}[i])
		must(t, err)
		_, _, err = f.users.Keys.Create(ctx, &auth.Principal{User: u, Via: auth.ViaSession},
			auth.NewKey{Name: "script", Scopes: []string{"search"}})
		must(t, err)
		_, err = f.search.CreateToken(ctx, access.NewToken{Note: "token of " + email, Group: "people", OwnerID: u.ID})
		must(t, err)
	}
	_, err := f.search.AddKeys(ctx, "default", []string{"tvly-former-one-0000000000", "tvly-former-two-0000000000"})
	must(t, err)
	f.fillChannels(ctx)
	f.fillContainers(ctx, folder)
	_, err = f.sender.Raise(ctx, notify.Alert{Service: "search", Kind: "pool_empty", DedupKey: "pool_empty/search.main", Severity: sdk.Error,
		Title: "No upstream key can be used"}, time.Hour, []string{"notify.main"})
	must(t, err)
	f.settle()
	stop, cancel := context.WithTimeout(context.Background(), eventuallyWithin)
	defer cancel()
	must(t, f.queue.Stop(stop))
}

func (f *former) fillChannels(ctx context.Context) {
	on, off := true, false
	token, chat, smtp, address, signing := "123456:former-bot-token", "-100200300",
		"smtps://ops:former%20password@mail.example/?to=ann@example.org", "https://hooks.example/patchbay", "whsec_Zm9ybWVyLXNpZ25pbmctc2VjcmV0"
	_, err := f.channels.MakeVAPIDKeys(ctx)
	must(f.t, err)
	subject := "mailto:ops@example.org"
	must(f.t, f.channels.Change(ctx, channels.NotificationChange{
		Events: channels.EventChange{"ghcrWebhookAnomaly": &off}, Chat: &channels.ChatChange{Enabled: &on, BotToken: &token, ChatID: &chat},
		Email:   &channels.EmailChange{Enabled: &off, SMTPURL: &smtp},
		Webhook: &channels.WebhookChange{Enabled: &on, URL: &address, Secret: &signing},
		WebPush: &channels.PushChange{Enabled: &on, Subject: &subject}, Channels: map[string]channels.OtherChange{"main": {Enabled: &off}},
	}))
	for _, browser := range []string{"one", "two"} {
		must(f.t, f.channels.Subscribe(ctx, channels.Subscription{Endpoint: "https://push.example/" + browser, Keys: channels.SubscriptionKeys{
			P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
		}}, "browser "+browser))
	}
	_, err = f.channels.SendTest(ctx, sdk.RoleEmail, "A test of mail alone.")
	must(f.t, err)
}

func (f *former) fillContainers(ctx context.Context, folder string) {
	t := f.t
	f.addProject(folder, "blog", "web", "db")
	f.addProject(folder, "wiki", "app")
	wait := func(id string, err error) {
		t.Helper()
		must(t, err)
		f.settle()
	}
	wait(f.containers.Discover(ctx))
	wait(f.containers.Check(ctx, project.ScanRequest{Scope: work.ScopeAll, Reason: work.ReasonSchedule}))
	on, cron, interval, public := true, "15 4 * * *", 30, "https://patchbay.example/"
	must(t, f.containers.ChangeSettings(ctx, containers.SettingsChange{
		Monitor:   &containers.MonitorChange{Enabled: &on, SampleInterval: &interval},
		Instance:  &containers.InstanceChange{PublicBaseURL: api.OptionalText{Set: true, Text: public}},
		Schedules: &containers.SchedulesChange{UpdateCheck: &containers.ScheduleChange{Enabled: &on, Cron: &cron}},
	}))
	must(t, f.containers.Webhooks.ChangeHookSettings(ctx,
		webhook.HookChange{CallbackURL: "https://patchbay.example/api/webhooks/host-packages", PAT: "ghp_test"}))
}

// addProject makes a compose project run whose images have a new version at the registry.
func (f *former) addProject(folder, name string, services ...string) {
	dir := filepath.Join(folder, name)
	must(f.t, os.MkdirAll(dir, 0o755))
	text := "services:\n"
	for i, svc := range services {
		repo := "registry.example/" + name + "/" + svc
		now, next := "sha256:"+strings.Repeat("a", 63)+string(rune('0'+i)), "sha256:"+strings.Repeat("b", 63)+string(rune('0'+i))
		f.engine.AddImage(engine.Image{ID: now, RepoTags: []string{repo + ":1"}, RepoDigests: []string{repo + "@" + now}, OS: "linux",
			Arch: "amd64"})
		f.registry.Set(repo, "1", fake.Image{Digest: next, Platforms: []registry.Platform{{OS: "linux", Arch: "amd64", Digest: next}}})
		f.engine.AddContainer(engine.Container{Name: name + "-" + svc + "-1", Image: repo + ":1", Labels: map[string]string{
			"com.docker.compose.project": name, "com.docker.compose.service": svc, engine.LabelNumber: "1",
			"com.docker.compose.project.working_dir":  dir,
			"com.docker.compose.project.config_files": filepath.Join(dir, "compose.yaml"), "com.docker.compose.config-hash": "hash",
			"com.docker.compose.version": "2.40.3",
		}})
		text += "  " + svc + ":\n    image: " + repo + ":1\n"
	}
	must(f.t, os.WriteFile(filepath.Join(dir, "compose.yaml"), []byte(text), 0o644))
}

// settle waits until no job is queued or runs.
func (f *former) settle() {
	f.t.Helper()
	testkit.Eventually(f.t, eventuallyWithin, func() bool {
		var states []string
		must(f.t, f.store.DB(f.t.Context()).Raw("SELECT state FROM jobs").Scan(&states).Error)
		return !slices.Contains(states, "queued") && !slices.Contains(states, "running")
	}, "no job is open")
}
