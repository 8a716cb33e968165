package config_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func noEnv(string) (string, bool) { return "", false }

// loadText loads a file that exists in the test alone.
func loadText(t testing.TB, text string, env config.Env) (*config.File, config.Diagnostics) {
	opts := options(t)
	opts.ReadFile = func(path string) ([]byte, error) {
		if filepath.Base(path) == "plugin.hcl" {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return config.Load("plugin.hcl", env, opts)
}

func mustLoad(t testing.TB, text string, env config.Env) *config.File {
	t.Helper()
	f, ds := loadText(t, text, env)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return f
}

func TestLoadUnreadable(t *testing.T) {
	big := filepath.Join(t.TempDir(), "plugin.hcl")
	if err := os.WriteFile(big, bytes.Repeat([]byte("#"), 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "plugin.hcl"): "Configuration file not found; Create it, or name another one with -config FILE.",
		t.TempDir():                              "Configuration file cannot be read; is a directory.",
		big:                                      "Configuration file too large; It may have at most 1 MiB.",
	} {
		f, ds := config.Load(path, noEnv, options(t))
		if f != nil || len(ds) != 1 || ds[0].String() != path+": "+want {
			t.Errorf("got %v", ds)
		}
	}
}

func TestPrecedence(t *testing.T) {
	env := func(vars map[string]string) config.Env {
		return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	}
	file := `core { http_addr = "file:1" }`
	cases := map[string]struct {
		text       string
		vars       map[string]string
		want, from string
	}{
		"Default":       {"", nil, "0.0.0.0:50883", "default"},
		"File":          {file, nil, "file:1", "plugin.hcl:1"},
		"Environment":   {file, map[string]string{"SVC_HTTP_ADDR": "env:1"}, "env:1", "environment SVC_HTTP_ADDR"},
		"NoBlock":       {"", map[string]string{"SVC_HTTP_ADDR": "env:1"}, "env:1", "environment SVC_HTTP_ADDR"},
		"EmptyVariable": {file, map[string]string{"SVC_HTTP_ADDR": ""}, "file:1", "plugin.hcl:1"},
		"Null":          {"core { http_addr = null }", nil, "0.0.0.0:50883", "default"},
		"Overridden":    {`core { http_addr = env("UNSET") }`, map[string]string{"SVC_HTTP_ADDR": "env:1"}, "env:1", "environment SVC_HTTP_ADDR"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := mustLoad(t, c.text, env(c.vars))
			var got coreConfig
			if ds := f.Core().Decode(&got); ds != nil {
				t.Fatal(ds)
			}
			if from := f.Origins()["core.http_addr"]; got.HTTPAddr != c.want || from != c.from {
				t.Errorf("got %s from %s", got.HTTPAddr, from)
			}
		})
	}
}

func TestInstanceArguments(t *testing.T) {
	f := mustLoad(t, `
defaults {
  timeout = "1m"
}
search "local" "a" {}
search "local" "b" {
  timeout     = "2s"
  concurrency = 3
  isolate     = true
  required    = false
}`, noEnv)
	a, b := f.Instances[0], f.Instances[1]
	if a.Timeout != time.Minute || a.Concurrency != 128 || a.Isolate || !a.Required || a.Ref() != "search.a" {
		t.Errorf("a = %+v", a)
	}
	if b.Timeout != 2*time.Second || b.Concurrency != 3 || !b.Isolate || b.Required {
		t.Errorf("b = %+v", b)
	}
	if o := f.Origins(); o["search.a.timeout"] != "defaults at plugin.hcl:3" || o["search.a.concurrency"] != "default" ||
		o["search.b.timeout"] != "plugin.hcl:7" {
		t.Errorf("origins = %v", o)
	}
}

func TestDecodeInstance(t *testing.T) {
	f := mustLoad(t, `
search "local" "docs" {
  config { folders = ["b", "a"] }
}
search "remote" "main" {
  config {
    feed { url = "u" }
    header "h" { value = "v" }
  }
}`, noEnv)
	want := []string{
		`{"folders":["b","a"],"mode":"fast","ratio":0.5,"weights":null}`,
		`{"base_url":"https://api.example.com","feed":[{"url":"u"}],"header":{"h":{"value":"v"}},"limit":10,"old":null,"tls":null,"token":null,"wait":"1s"}`,
	}
	var wg sync.WaitGroup
	for n, i := range f.Instances {
		wg.Go(func() {
			got, ds := f.DecodeInstance(i, pluginSchema(t, i.Plugin))
			if ds.HasErrors() || string(got) != want[n] {
				t.Errorf("got %s, %v", got, ds)
			}
		})
	}
	wg.Wait()
	data, _ := f.DecodeInstance(f.Instances[1], pluginSchema(t, "remote"))
	var got remotePlugin
	if ds := schema.Decode(data, &got); ds != nil || got.Headers["h"].Value.Reveal() != "v" || got.Wait != time.Second {
		t.Errorf("got %+v, %v", got, ds)
	}
}

func TestFingerprint(t *testing.T) {
	load := func(text string) *config.Instance { return mustLoad(t, text, noEnv).Instances[0] }
	base := load(`search "local" "a" {}`)
	same := base.Fingerprint([]byte(`{"a":1,"b":[2]}`))
	if same != load("\n\n"+`search "local" "a" { timeout = "30s" }`).Fingerprint([]byte(" { \"b\": [2], \"a\": 1 }\n")) {
		t.Error("order, space, place or a written default changes the fingerprint")
	}
	different := map[string]string{
		"json":        base.Fingerprint([]byte(`{"a":1,"b":[3]}`)),
		"plugin":      load(`search "remote" "a" {}`).Fingerprint([]byte(`{"a":1,"b":[2]}`)),
		"name":        load(`search "local" "b" {}`).Fingerprint([]byte(`{"a":1,"b":[2]}`)),
		"timeout":     load(`search "local" "a" { timeout = "1s" }`).Fingerprint([]byte(`{"a":1,"b":[2]}`)),
		"concurrency": load(`search "local" "a" { concurrency = 1 }`).Fingerprint([]byte(`{"a":1,"b":[2]}`)),
		"required":    load(`search "local" "a" { required = false }`).Fingerprint([]byte(`{"a":1,"b":[2]}`)),
	}
	for what, got := range different {
		if got == same {
			t.Errorf("another %s does not change the fingerprint", what)
		}
	}
}

func TestBlocks(t *testing.T) {
	f := mustLoad(t, `
search "local" "docs" {}
service "search" { backend = search.docs }`, noEnv)
	var s searchService
	if ds := f.Service("search").Decode(&s); ds != nil || s != (searchService{"/search", "search.docs"}) {
		t.Errorf("got %+v, %v", s, ds)
	}
	if f.Service("mail") != nil || len(f.Services()) != 1 || f.Core().Declared || f.Storage().Name != "sqlite" || f.Supervisor() == nil {
		t.Error("blocks are wrong")
	}
	if r := f.Service("search").RangeOf(schema.At("backend")); r.String() != "plugin.hcl:3,30-41" {
		t.Errorf("range = %s", r)
	}
	located := f.Service("search").Locate(schema.Errorf(schema.At("base_url"), "is odd"))
	if got := located.Error(); got != "plugin.hcl:3,1-17: base_url: is odd; The value comes from: default." {
		t.Errorf("got %s", got)
	}
}

func TestDiagnosticsOrderAndColour(t *testing.T) {
	ds := append(config.ErrorAt(config.Range{File: "b", Line: 2, Column: 1}, "late", ""),
		config.WarningAt(config.Range{File: "environment X"}, "early", "do it")...)
	ds = append(ds, config.ErrorAt(config.Range{File: "b", Line: 1, Column: 3}, "middle", "")...)
	ds.Sort()
	var out bytes.Buffer
	if err := ds.WriteText(&out, true); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[33mWarning\x1b[0m: early\n  in environment X\ndo it\n\n" +
		"\x1b[31mError\x1b[0m: middle\n  on b line 1\n\n\x1b[31mError\x1b[0m: late\n  on b line 2\n\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if ds.Err() == nil || config.Diagnostics(nil).Err() != nil || ds[:1].Err() != nil {
		t.Error("Err is wrong")
	}
	if err := ds.WriteText(failing{}, false); err == nil {
		t.Error("a failed write is not reported")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestSecretsStayHidden puts a secret into a random place of a file with random damage, and looks for it in everything that is printed.
func TestSecretsStayHidden(t *testing.T) {
	const secret = "hunter2hunter2"
	lines := []string{
		`core {`, `  secret_key = "` + secret + `"`, `  workers = 1.5`, `}`, `search "remote" "a" {`, `  config {`,
		`    token = "` + secret + `"`, `    token = ` + secret, `    tken = "x` + secret + `"`, `    limit = "a"`,
		`    header "x" { value = "` + secret + `" }`, `    header "x" {`, `    token = <<EOT`, secret, `EOT`, `  }`,
		`    token = format("%d", "` + secret + `")`, `    # ` + secret, `token "` + secret + `"`, `    feed {}`, `"`, `service "search" {}`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 1, 14).Draw(rt, "lines"), "\n")
		f, ds := loadText(t, text, noEnv)
		var out bytes.Buffer
		if f != nil {
			for _, i := range f.Instances {
				_, more := f.DecodeInstance(i, pluginSchema(t, i.Plugin))
				ds = append(ds, more...)
			}
			_ = f.Show(&out)
		}
		_ = ds.WriteText(&out, true)
		out.WriteString(ds.Error())
		if strings.Contains(out.String(), secret) {
			rt.Fatalf("shown:\n%s\nof:\n%s", out.String(), text)
		}
	})
}

func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.hcl*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, strings.HasSuffix(path, ".json"))
	}
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		name, opts := "plugin.hcl", options(t)
		if json {
			name += ".json"
		}
		opts.ReadFile = func(path string) ([]byte, error) {
			if filepath.Base(path) == name {
				return text, nil
			}
			return nil, fs.ErrNotExist
		}
		file, ds := check(t, name, environment(text), opts)
		var out bytes.Buffer
		_ = ds.WriteText(&out, true)
		if file != nil {
			_ = file.Show(&out)
		}
	})
}

// TestHugeNumbers loads what would keep the machine busy for minutes if it were written out in decimal.
func TestHugeNumbers(t *testing.T) {
	for _, value := range []string{"1e100000000", "1e-100000000", `"${1e100000000}"`, "1e999 * 1e999", `format("%9999999999d", 1)`} {
		f, ds := loadText(t, "core {\n  level = "+value+"\n}", noEnv)
		if len(ds) != 1 || ds[0].Line != 2 {
			t.Errorf("%s: %v, %v", value, f, ds)
		}
	}
	opts := options(t)
	opts.ReadFile = func(string) ([]byte, error) { return []byte(`{"core": {"level": "${1e100000000}"}}`), nil }
	if _, ds := config.Load("plugin.json", noEnv, opts); len(ds) != 1 || ds[0].Summary != "Number too large" {
		t.Errorf("JSON: %v", ds)
	}
}
