package config_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

var update = flag.Bool("update", false, "write the golden files")

type coreConfig struct {
	HTTPAddr  string            `patchbay:"http_addr,env=SVC_HTTP_ADDR,default='0.0.0.0:50883'" doc:"Where the core listens."`
	AdminAddr string            `patchbay:"admin_addr,env=SVC_ADMIN_ADDR,default='127.0.0.1:50885'"`
	SecretKey schema.Secret     `patchbay:"secret_key,env=SVC_SECRET_KEY"`
	Proxies   []string          `patchbay:"proxies,env=SVC_PROXIES,default=127.0.0.1"`
	Labels    map[string]string `patchbay:"labels,env=SVC_LABELS"`
	Grace     time.Duration     `patchbay:"grace,env=SVC_GRACE,default=30s"`
	Level     string            `patchbay:"level,env=SVC_LEVEL,enum=debug|info,default=info"`
	Workers   int               `patchbay:"workers,env=SVC_WORKERS,default=4"`
	DevOpen   bool              `patchbay:"dev_open,env=SVC_DEV_OPEN,default=false"`
	Listen    string            `patchbay:"listen,deprecated=Write http_addr instead"`
}

type sqliteConfig struct {
	Path string `patchbay:"path,default=data/app.sqlite3"`
}

type postgresConfig struct {
	URL schema.Secret `patchbay:"url,required,env=SVC_DATABASE_URL" doc:"Address of the database."`
}

type searchService struct {
	BaseURL string `patchbay:"base_url,default=/search"`
	Backend string `patchbay:"backend,required,ref=search"`
}

type smtpConfig struct {
	Listen string `patchbay:"listen,env=SVC_SMTP_ADDR,default='127.0.0.1:2525'"`
}

type mailService struct {
	BaseURL string      `patchbay:"base_url,default=/mail"`
	Notify  []string    `patchbay:"notify,ref=notify,env=SVC_MAIL_NOTIFY"`
	SMTP    *smtpConfig `patchbay:"smtp"`
}

type localPlugin struct {
	Folders []string          `patchbay:"folders,required" doc:"Files and directories to index."`
	Weights map[string]string `patchbay:"weights"`
	Mode    string            `patchbay:"mode,enum=fast|exact,default=fast"`
	Ratio   float64           `patchbay:"ratio,default=0.5"`
}

type feedBlock struct {
	URL string `patchbay:"url,required"`
}

type remotePlugin struct {
	BaseURL string                 `patchbay:"base_url,default=https://api.example.com"`
	Token   schema.Secret          `patchbay:"token"`
	Limit   int                    `patchbay:"limit,default=10"`
	Wait    time.Duration          `patchbay:"wait,default=1s"`
	Old     string                 `patchbay:"old,deprecated=Write base_url instead"`
	Feeds   []feedBlock            `patchbay:"feed"`
	Headers map[string]headerBlock `patchbay:"header"`
	TLS     *feedBlock             `patchbay:"tls"`
}

type headerBlock struct {
	Value schema.Secret `patchbay:"value,required"`
}

func mustSchema(t testing.TB, v any) *schema.Schema {
	t.Helper()
	s, err := schema.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func options(t testing.TB) config.Options {
	return config.Options{
		Kinds:          []string{"search", "dns", "notify"},
		Services:       map[string]*schema.Schema{"search": mustSchema(t, searchService{}), "mail": mustSchema(t, mailService{})},
		Storage:        map[string]*schema.Schema{"sqlite": mustSchema(t, sqliteConfig{}), "postgres": mustSchema(t, postgresConfig{})},
		DefaultStorage: "sqlite",
		Core:           mustSchema(t, coreConfig{}),
		Supervisor:     mustSchema(t, struct{}{}),
		Backup:         mustSchema(t, struct{}{}),
		Builtins:       map[string][]string{"search": {"local", "remote"}, "notify": {"webhook"}},
	}
}

func pluginSchema(t testing.TB, plugin string) *schema.Schema {
	switch plugin {
	case "local":
		return mustSchema(t, localPlugin{})
	case "remote":
		return mustSchema(t, remotePlugin{})
	}
	return &schema.Schema{}
}

// environment reads the variables that a file names in comments of the form "# env NAME=value".
func environment(text []byte) config.Env {
	vars := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if assignment, ok := strings.CutPrefix(line, "# env "); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(assignment), "=")
			vars[name] = value
		}
	}
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// rejections are what the plugins of the test find about a configuration.
func rejections(i *config.Instance, data []byte) schema.Diagnostics {
	if i.Name != "rejected" {
		return nil
	}
	if i.Plugin == "local" {
		return schema.Diagnostics{
			{Severity: schema.Error, Summary: "the folder does not exist", Detail: "Write a folder that does.", Path: schema.At("folders").Index(1)},
			{Severity: schema.Error, Summary: "a weight is a number", Path: schema.At("weights").Key("b")},
			{Severity: schema.Error, Summary: "fast is not possible here", Path: schema.At("mode")},
		}
	}
	var got remotePlugin
	schema.Decode(data, &got)
	return schema.Diagnostics{
		{Severity: schema.Error, Summary: "the token " + got.Token.Reveal() + " is malformed", Path: schema.At("token")},
		{Severity: schema.Error, Summary: "must use https", Path: schema.At("feed").Index(1).Attr("url")},
		{Severity: schema.Error, Summary: "is empty", Path: schema.At("header").Key("x").Attr("value")},
		{Severity: schema.Error, Summary: "is missing", Path: schema.At("tls").Attr("url")},
		{Severity: schema.Warning, Summary: "the account is about to expire"},
		{Severity: schema.Error, Summary: "points nowhere", Path: schema.At("nothing").Index(7).Key("x")},
	}
}

// check does what the host does with a file, and returns all findings.
func check(t testing.TB, path string, env config.Env, opts config.Options) (*config.File, config.Diagnostics) {
	f, all := config.Load(path, env, opts)
	if f == nil {
		return nil, all
	}
	for _, i := range f.Instances {
		data, ds := f.DecodeInstance(i, pluginSchema(t, i.Plugin))
		all = append(all, ds...)
		if data != nil {
			all = append(all, f.Locate(i, rejections(i, data))...)
		}
	}
	var mounts []config.Mount
	for _, b := range f.Services() {
		var base struct{ BaseURL string }
		var search searchService
		var mail mailService
		if b.Name == "search" {
			_ = b.Decode(&search)
			base.BaseURL = search.BaseURL
		} else {
			_ = b.Decode(&mail)
			base.BaseURL = mail.BaseURL
		}
		mounts = append(mounts, config.Mount{Service: b.Name, BaseURL: base.BaseURL, Range: b.RangeOf(schema.At("base_url"))})
	}
	all = append(all, config.CheckMounts(mounts)...)
	lock, ds := config.LoadLock(strings.TrimSuffix(path, filepath.Ext(path)) + ".lock")
	all = append(append(all, ds...), f.CheckLock(lock, "linux_amd64")...)
	all.Sort()
	return f, all
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}

// TestGolden loads every file of testdata and compares all findings, and the effective configuration if there is no error.
// The word SECRET in a file stands for something that must appear nowhere.
func TestGolden(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"testdata/*.hcl", "testdata/*.hcl.json"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, ds := check(t, path, environment(text), options(t))
			var out bytes.Buffer
			if err := ds.WriteText(&out, false); err != nil {
				t.Fatal(err)
			}
			for _, d := range ds {
				fmt.Fprintln(&out, d)
			}
			if !ds.HasErrors() {
				if err := f.Show(&out); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(out.String(), "SECRET") || strings.Contains(out.String(), "from-file-secret") {
				t.Errorf("a secret is shown:\n%s", out.String())
			}
			golden(t, path+".golden", out.Bytes())
		})
	}
}
