package compose_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

// write makes a folder of files.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loadProject reads compose.yaml of a folder.
func loadProject(t testing.TB, dir string, files ...string) (*compose.Project, error) {
	t.Helper()
	if len(files) == 0 {
		files = []string{"compose.yaml"}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return compose.Load(ctx, compose.Source{Project: "blog", WorkingDir: dir, Files: files})
}

func images(p *compose.Project) (out []string) {
	for _, s := range p.Services {
		out = append(out, s.Name+"="+s.Image)
	}
	return out
}

func TestLoad(t *testing.T) {
	t.Setenv("TAG", "from-the-process")
	dir := write(t, map[string]string{
		".env": "TAG=1.25\nSECRET_VALUE=hunter22\n",
		"compose.yaml": `
version: "3.8"
services:
  web:
    image: nginx:${TAG}
    depends_on: [db, cache]
    env_file: secrets.env
    label_file: labels.txt
    labels: {homepage.name: Blog}
    volumes:
      - data:/var/lib/data
      - ./conf:/etc/conf:ro
      - outside:/srv
      - /anonymous
      - {type: tmpfs, target: /tmp}
  db: {image: "localhost:5055/demo/db@sha256:` + strings.Repeat("a", 64) + `"}
  cache: {image: cache, profiles: [extra]}
  tool: {build: ./tool, profiles: [dev, extra]}
  odd: {image: "UPPER:${NONE}", scale: 3}
volumes: {data: {}, outside: {external: true, name: shared}}
`,
		"override.yaml": "services: {cache: {image: 'cache:2'}}",
	})
	p, err := loadProject(t, dir, "compose.yaml", filepath.Join(dir, "override.yaml"), "./compose.yaml", " ")
	if err != nil {
		t.Fatal(err)
	}
	ref := func(s string) image.Ref {
		r, err := image.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	digest := "localhost:5055/demo/db@sha256:" + strings.Repeat("a", 64)
	want := &compose.Project{
		Name: "blog", Files: []string{filepath.Join(dir, "compose.yaml"), filepath.Join(dir, "override.yaml")},
		Services: []compose.Service{
			{Name: "cache", Image: "cache:2", Ref: ref("cache:2"), Profiles: []string{"extra"}},
			{Name: "db", Image: digest, Ref: ref(digest)},
			{Name: "odd", Image: "UPPER:"},
			{Name: "tool", Profiles: []string{"dev", "extra"}, HasBuild: true},
			{
				Name: "web", Image: "nginx:1.25", Ref: ref("nginx:1.25"), EnvFiles: []string{filepath.Join(dir, "secrets.env")},
				DependsOn: []string{"cache", "db"}, Labels: map[string]string{"homepage.name": "Blog"},
				Volumes: []compose.Mount{
					{Kind: "docker-volume", Name: "blog_data", Target: "/var/lib/data"},
					{Kind: "bind-mount", Source: filepath.Join(dir, "conf"), Target: "/etc/conf", ReadOnly: true},
					{Kind: "docker-volume", Name: "shared", Target: "/srv"},
				},
			},
		},
	}
	for i := range want.Services {
		want.Services[i].Replicas = 1
	}
	want.Service("odd").Replicas = 3
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if p.Service("web") == nil || p.Service("none") != nil {
		t.Error("services are not found by name")
	}
}

func TestLoadProfilesAndEnvFiles(t *testing.T) {
	dir := write(t, map[string]string{
		".env": "TAG=1", "one.env": "TAG=2\nBASE=x", "two.env": "export TAG=${BASE}3",
		"compose.yaml": "services: {a: {image: 'a:${TAG}'}, b: {image: b, profiles: [x]}, c: {image: c, profiles: [y]}}",
	})
	p, err := compose.Load(t.Context(), compose.Source{Project: "Blog!", WorkingDir: dir, Files: []string{"compose.yaml"},
		EnvFiles: []string{"one.env", "two.env"}, Profiles: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a=a:x3", "b=b"}, images(p)); diff != "" {
		t.Error(diff)
	}
}

func TestLoadIncludesAndExtends(t *testing.T) {
	dir := write(t, map[string]string{
		".env": "WHERE=sub",
		"compose.yaml": "include:\n  - ${WHERE}/compose.yaml\n  - {path: [other/a.yaml, other/b.yaml], env_file: other/vars}\n" +
			"services:\n  web: {extends: {file: base/base.yaml, service: web}}\n  mine: {extends: web}\n",
		"sub/.env":              "TAG=7",
		"sub/compose.yaml":      "include: [deep/compose.yaml]\nservices: {sub: {image: 'sub:${TAG}', volumes: ['./x:/x']}}",
		"sub/deep/compose.yaml": "services: {deep: {image: 'deep:${TAG}'}}",
		"other/a.yaml":          "services: {other: {image: 'other:${V}'}}",
		"other/b.yaml":          "services: {other: {labels: {a: b}}}",
		"other/vars":            "V=9",
		"base/base.yaml":        "services: {web: {extends: {file: more/root.yaml, service: root}, labels: {l: m}}}",
		"base/more/root.yaml":   "services: {root: {image: 'root:1'}}",
	})
	p, err := loadProject(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"deep=deep:7", "mine=root:1", "other=other:9", "sub=sub:7", "web=root:1"}, images(p)); diff != "" {
		t.Error(diff)
	}
	if got := p.Service("sub").Volumes[0].Source; got != filepath.Join(dir, "sub/x") {
		t.Errorf("the mount is at %s", got)
	}
	var parts []string
	for _, name := range []string{"base/base.yaml", "base/more/root.yaml", "other/a.yaml", "other/b.yaml", "sub/compose.yaml",
		"sub/deep/compose.yaml"} {
		parts = append(parts, filepath.Join(dir, name))
	}
	if diff := cmp.Diff(parts, p.Parts); diff != "" {
		t.Error(diff)
	}
}

func TestLoadErrors(t *testing.T) {
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat("*"+string(c-1)+", ", 10))
	}
	doubling := "A=" + strings.Repeat("x", 100) + "\n"
	for c := 'B'; c < 'Z'; c++ {
		doubling += fmt.Sprintf("%c=$%c$%c$%c$%c\n", c, c-1, c-1, c-1, c-1)
	}
	loop := map[string]string{}
	for i := range 80 {
		loop[fmt.Sprintf("c%d.yaml", i)] = fmt.Sprintf("include: [c%d.yaml]\nservices: {s%d: {image: x}}", i+1, i)
	}
	loop["c80.yaml"] = "services: {z: {image: x}}"
	loop["compose.yaml"] = "include: [c0.yaml]"
	only := func(text string) map[string]string { return map[string]string{"compose.yaml": text} }
	tests := []struct {
		name   string
		files  map[string]string
		list   []string
		kind   string
		detail string
		all    bool
	}{
		{"all absent", nil, []string{"compose.yaml", "b.yaml"}, compose.FileMissing, "compose.yaml, b.yaml", true},
		{"some absent", only("services: {a: {image: a}}"), []string{"compose.yaml", "b.yaml"}, compose.FileMissing, "b.yaml", false},
		{"a folder", map[string]string{"compose.yaml/x": ""}, nil, compose.FileUnreadable, "compose.yaml: it is not a regular file", false},
		{"too large", only("# " + strings.Repeat("x", 4<<20)), nil, compose.FileUnreadable, "compose.yaml: it is too large", false},
		{"no list", nil, []string{" "}, compose.FilesEmpty, "", false},
		{"no YAML", only("services: ["), nil, compose.FileInvalid, "", false},
		{"empty", only(""), nil, compose.FileInvalid, "", false},
		{"not a mapping", only("- a\n- b"), nil, compose.FileInvalid, "", false},
		{"unknown member", only("services: {a: {imagee: a}}"), nil, compose.FileInvalid, "", false},
		{"services are a list", only("services: [a]"), nil, compose.FileInvalid, "", false},
		{"no services", only("volumes: {a: {}}"), nil, compose.NoServices, "", false},
		{"binary", only("\x00\x01\xff\xfe"), nil, compose.FileInvalid, "", false},
		{"aliases", only(laughs + "services: {a: {image: a}}"), nil, compose.FileInvalid, "more than 20000 values", false},
		{"alias within itself", only("services: &s {a: {image: a, x-b: *s}}"), nil, compose.FileInvalid, "within itself", false},
		{"deep", only("x-a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000)), nil, compose.FileInvalid, "nested deeper", false},
		{"very deep", only("x-a: " + strings.Repeat("[", 2_000_000)), nil, compose.FileInvalid, "", false},
		{"deep through anchors", only("x-a: &a " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\nx-b: &b " + strings.Repeat("[", 60) +
			"*a" + strings.Repeat("]", 60)), nil, compose.FileInvalid, "nested deeper", false},
		{"nested variables", only("services: {a: {image: '" + strings.Repeat("${A:-", 5000) + "'}}"), nil, compose.FileInvalid, "nested deeper",
			false},
		{"long variables", only("services: {a: {image: '" + strings.Repeat("$A", 50_000) + "'}}"), nil, compose.FileInvalid, "longer than",
			false},
		{"growing variables", map[string]string{".env": doubling, "compose.yaml": "services: {a: {image: $Y}}"}, nil, compose.FileInvalid,
			"become longer", false},
		{"many variables", map[string]string{".env": "A=" + strings.Repeat("x", 100_000),
			"compose.yaml": "services: {a: {image: a, labels: {" + strings.Repeat("'$A': x, ", 1) + "x: '" + strings.Repeat("$A", 30_000) + "'}}}"},
			nil, compose.FileInvalid, "become longer", false},
		{"required variable", only("services: {a: {image: '${A:?needed}'}}"), nil, compose.FileInvalid,
			"compose.yaml: line 1: a required variable has no value", false},
		{"large env", map[string]string{".env": strings.Repeat("# x\n", 100_000), "compose.yaml": "services: {a: {image: a}}"}, nil,
			compose.FileUnreadable, ".env: it is too large", false},
		{"bad env", map[string]string{".env": "A='topsecret", "compose.yaml": "services: {a: {image: a}}"}, nil, compose.FileInvalid, ".env",
			false},
		{"include cycle", map[string]string{"compose.yaml": "include: [b.yaml]", "b.yaml": "include: [compose.yaml]"}, nil, compose.FileInvalid,
			"cycle", false},
		{"extends cycle", only("services: {a: {extends: b}, b: {extends: a}}"), nil, compose.FileInvalid, "cycle", false},
		{"extends cycle by files", map[string]string{"compose.yaml": "services: {a: {extends: {file: b.yaml, service: b}}}",
			"b.yaml": "services: {b: {extends: {file: compose.yaml, service: a}}}"},
			nil, compose.FileInvalid, "cycle", false},
		{"long chain", loop, nil, compose.FileInvalid, "more than 64 files", false},
		{"include absent", only("include: [none.yaml]"), nil, compose.FileUnreadable, "none.yaml", false},
		{"include of a device", only("include: [/dev/zero]"), nil, compose.FileRefused, "zero", false},
		{"extends of a device", only("services: {a: {extends: {file: /dev/zero, service: b}}}"), nil, compose.FileRefused, "zero", false},
		{"extends by a merge key", only("x-e: &e {extends: {file: /dev/zero, service: b}}\nservices: {a: {<<: *e}}"), nil, compose.FileInvalid,
			"not part of the project", false},
		{"extends with a number", only("services: {a: {extends: {file: 1, service: 2}}}"), nil, compose.FileRefused, "", false},
		{"env of a device", only("include: [{path: compose2.yaml, env_file: /dev/zero}]"), nil, compose.FileRefused, "zero", false},
		{"remote include", only("include: ['https://example.com/compose.yaml']"), nil, compose.FileInvalid, "remote", false},
		{"remote repository", only("include: ['git@example.com:a/b.git']"), nil, compose.FileInvalid, "remote", false},
		{"remote artefact", only("services: {a: {extends: {file: 'oci://example.com/a', service: b}}}"), nil, compose.FileInvalid, "remote",
			false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := loadProject(t, write(t, tt.files), tt.list...)
			var told *compose.Error
			if !errors.As(err, &told) {
				t.Fatalf("%+v, %v", p, err)
			}
			if told.Kind != tt.kind || !strings.Contains(told.Detail, tt.detail) || compose.AllFilesAbsent(err) != tt.all ||
				len(told.Error()) > 400 {
				t.Errorf("got %q (all: %v), want %s with %q", told, told.All, tt.kind, tt.detail)
			}
			if strings.Contains(told.Error(), "topsecret") || strings.Contains(told.Error(), "\n") {
				t.Errorf("it tells too much: %q", told)
			}
		})
	}
}

// A path through two links to its own folder has many names.
func TestLoadLinkLoop(t *testing.T) {
	dir := write(t, map[string]string{"compose.yaml": "include: [l/compose.yaml, m/compose.yaml]"})
	for _, name := range []string{"l", "m"} {
		if err := os.Symlink(".", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := loadProject(t, dir); err == nil || !strings.Contains(err.Error(), "more than 64 files") {
		t.Error(err)
	}
}

func TestLoadPipe(t *testing.T) {
	dir := write(t, map[string]string{"compose.yaml": "include: [pipe.yaml]"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadProject(t, dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func TestLoadErrorsHideValues(t *testing.T) {
	dir := write(t, map[string]string{".env": "PASSWORD=hunter22\n", "compose.yaml": "services: {a: {image: a, ports: ['${PASSWORD}:x']}}"})
	_, err := loadProject(t, dir)
	if err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Error(err)
	}
}

func TestLoadNeedsAWorkingDir(t *testing.T) {
	for _, dir := range []string{"", "relative"} {
		_, err := compose.Load(t.Context(), compose.Source{Project: "x", WorkingDir: dir, Files: []string{"compose.yaml"}})
		var told *compose.Error
		if !errors.As(err, &told) || told.Kind != compose.FilesRelative {
			t.Errorf("%q: %v", dir, err)
		}
	}
	dir := write(t, map[string]string{"compose.yaml": "services: {a: {image: a, volumes: ['./d:/d']}}"})
	p, err := compose.Load(t.Context(), compose.Source{Project: "x", Files: []string{filepath.Join(dir, "compose.yaml")},
		Roots: []string{dir}})
	if err != nil || p.Services[0].Volumes[0].Source != filepath.Join(dir, "d") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLoadEndsWithTheContext(t *testing.T) {
	dir := write(t, map[string]string{"compose.yaml": "services: {a: {image: a}}"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compose.Load(ctx, compose.Source{Project: "x", WorkingDir: dir, Files: []string{"compose.yaml"}}); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"services: {a: {image: 'a:${B:-1}'}}", "include: [b]\nservices: &s {a: *s}",
		"services:\n  a:\n    extends: {file: compose.yaml, service: a}", "x: !reset\n"} {
		f.Add(s, "A=1\nB=$A")
	}
	f.Fuzz(func(t *testing.T, text, env string) {
		dir := write(t, map[string]string{"compose.yaml": text, ".env": env})
		var told *compose.Error
		if p, err := loadProject(t, dir); err != nil && !errors.As(err, &told) || err == nil && len(p.Services) == 0 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
