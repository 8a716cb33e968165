package compose_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
)

// disk is what a test can read.
type disk map[string]string

func (d disk) read(path string) ([]byte, error) {
	text, ok := d[path]
	if !ok {
		return nil, fmt.Errorf("open: %w", fs.ErrNotExist)
	}
	return []byte(text), nil
}

func container(service, files string) compose.Observed {
	return compose.Observed{Project: "p", Service: service, ConfigFiles: &files, WorkingDir: "/w"}
}

func TestObserveLists(t *testing.T) {
	odd := container("web", " compose.yaml ,/w/./compose.yaml\n../x/b.yaml,")
	odd.EnvFiles = ".env,/etc/vars"
	unlabelled := compose.Observed{Project: "q", Service: "a"}
	lost := container("a", "compose.yaml")
	lost.Project, lost.WorkingDir = "r", ""
	empty := container("a", " ,\n")
	empty.Project = "s"
	got := compose.Observe([]compose.Observed{odd, odd, {Service: "no project"}, unlabelled, lost, empty, {Project: "p", Service: "one-off"}},
		compose.Options{ReadFile: disk{}.read})
	want := []compose.Group{
		{Project: "p", Services: []string{"one-off", "web"}, WorkingDir: "/w", Files: []string{"/w/compose.yaml", "/x/b.yaml"},
			EnvFiles: []string{"/w/.env", "/etc/vars"}},
		{Project: "q", Services: []string{"a"}, Err: &compose.Error{Kind: compose.FilesMissing}},
		{Project: "r", Services: []string{"a"}, Err: &compose.Error{Kind: compose.FilesRelative}},
		{Project: "s", Services: []string{"a"}, Err: &compose.Error{Kind: compose.FilesEmpty}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestObserveVariants(t *testing.T) {
	const (
		images = "services:\n  web: {image: 'web@sha256:1'}\n"
		other  = "services: {db: {image: 'db:2'}}"
		more   = "services: {web: {image: x, command: y}}"
		roots  = "services: {web: {image: x}}\nvolumes: {}"
	)
	tests := []struct {
		name     string
		lists    map[string]string // service: label
		disk     disk
		override string
		files    string // "" for an error
		mode     string
		warning  string
		detail   string
	}{
		{"superset", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": images}, "", "a,o", "superset", compose.WarnSuperset, ""},
		{"superset in between", map[string]string{"db": "a,c", "web": "a,o,c"}, disk{"/w/o": images}, "", "a,o,c", "superset",
			compose.WarnSuperset, ""},
		{"three lists", map[string]string{"db": "a", "x": "a,c", "web": "a,c,o"}, disk{"/w/o": images, "/w/c": images}, "", "a,c,o", "superset",
			compose.WarnSuperset, ""},
		{"extra unreadable", map[string]string{"db": "a", "web": "a,o"}, disk{}, "", "a", "common", compose.WarnUnreadable, ""},
		{"one of two extras unreadable", map[string]string{"db": "a", "web": "a,o,u"}, disk{"/w/o": images}, "", "a", "common",
			compose.WarnUnreadable, ""},
		{"extra names others", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": other}, "", "a", "common", compose.WarnUnsafe, ""},
		{"unreadable before unsafe", map[string]string{"db": "a", "web": "a,o,u"}, disk{"/w/o": other}, "", "a", "common",
			compose.WarnUnreadable, ""},
		{"extra says more", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": more}, "", "", "", "", "o says more than images"},
		{"extra has other roots", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": roots}, "", "", "", "", "o says more than images"},
		{"extra is empty", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": ""}, "", "", "", "", "o says more than images"},
		{"extra without services", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": "services: {}"}, "", "", "", "",
			"o names no service"},
		{"extra with a null service", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": "services: {web: }"}, "", "", "", "",
			"o says more than images"},
		{"extra is no YAML", map[string]string{"db": "a", "web": "a,o"}, disk{"/w/o": "["}, "", "", "", "", "o cannot be read"},
		{"no superset, extras unreadable", map[string]string{"db": "a,b", "web": "a,c"}, disk{}, "", "a", "common", compose.WarnConflict, ""},
		{"no superset, one readable", map[string]string{"db": "a,b", "web": "a,c"}, disk{"/w/c": images}, "", "", "", "", "such as c"},
		{"other order", map[string]string{"db": "a,b", "web": "b,a"}, disk{"/w/a": more, "/w/b": more}, "", "", "", "", "different orders"},
		{"nothing in common", map[string]string{"db": "a", "web": "b"}, disk{}, "", "", "", "", "no file in common"},
		{"supervisor", map[string]string{"db": "a", "web": "a,/s/o"}, disk{"/s/o": images}, "/s/./o", "a,/s/o", "superset", "", ""},
		{"supervisor and another", map[string]string{"db": "a", "web": "a,/s/o,c"}, disk{"/s/o": images, "/w/c": images}, "/s/o", "a,/s/o,c",
			"superset", compose.WarnSuperset, ""},
		{"supervisor unreadable", map[string]string{"db": "a", "web": "a,/s/o"}, disk{}, "/s/o", "a", "single", compose.WarnUnreadable, ""},
		{"supervisor unreadable, alone", map[string]string{"web": "a,/s/o"}, disk{}, "/s/o", "a", "", compose.WarnUnreadable, ""},
		{"supervisor only", map[string]string{"web": "/s/o"}, disk{}, "/s/o", "", "", "", ""},
		{"supervisor says more", map[string]string{"db": "a", "web": "a,/s/o"}, disk{"/s/o": more}, "/s/o", "", "", "",
			"o says more than images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var all []compose.Observed
			for service, files := range tt.lists {
				all = append(all, container(service, files))
			}
			groups := compose.Observe(all, compose.Options{ReadFile: tt.disk.read, SupervisorOverride: tt.override})
			if len(groups) != 1 {
				t.Fatalf("%+v", groups)
			}
			g := groups[0]
			if got := strings.ReplaceAll(strings.Join(g.Files, ","), "/w/", ""); got != tt.files || g.Warning != tt.warning {
				t.Errorf("files %q, warning %q, error %v", got, g.Warning, g.Err)
			}
			if (g.Err == nil) != (tt.files != "") || g.Err != nil && !strings.Contains(g.Err.Detail, tt.detail) {
				t.Errorf("error %v, want %q", g.Err, tt.detail)
			}
			mode := ""
			if g.Variants != nil && g.Variants.Selected != nil {
				mode = g.Variants.Selected.Mode
			}
			if mode != tt.mode || (g.Variants != nil) != (len(tt.lists) > 1) {
				t.Errorf("mode %q of %+v", mode, g.Variants)
			}
		})
	}
}

func TestVariantsAsJSON(t *testing.T) {
	g := compose.Observe([]compose.Observed{container("web", "a,o"), container("db", "a"), container("app", "a")},
		compose.Options{ReadFile: disk{}.read})[0]
	text, err := json.Marshal(g.Variants)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"config_files_variants","variants":[{"configFiles":["/w/a"],"services":["app","db"]},{"configFiles":["/w/a","/w/o"],"services":["web"]}],` +
		`"selected":{"mode":"common","configFiles":["/w/a"],"reason":"config_files_extra_unreadable_fallback_common"}}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// What is chosen does not depend on the order of containers, is part of what they name, and files that all name are
// always chosen.
func TestObserveRapid(t *testing.T) {
	texts := []string{"services: {s0: {image: x}}", "services: {s0: {image: x}, s1: {image: y}}", "services: {s2: {command: x}}", "", "["}
	rapid.Check(t, func(t *rapid.T) {
		d := disk{}
		for _, name := range []string{"/w/a", "/w/b", "/w/c", "/w/d"} {
			if rapid.Bool().Draw(t, "readable "+name) {
				d[name] = rapid.SampledFrom(texts).Draw(t, "text "+name)
			}
		}
		o := compose.Options{ReadFile: d.read, SupervisorOverride: rapid.SampledFrom([]string{"", "/w/d"}).Draw(t, "override")}
		var all []compose.Observed
		for i := range rapid.IntRange(1, 5).Draw(t, "containers") {
			files := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID[string]).Draw(t, "files")
			all = append(all, container(fmt.Sprintf("s%d", i%3), strings.Join(files, ",")))
		}
		g := compose.Observe(all, o)[0]
		turned := slices.Clone(all)
		slices.Reverse(turned)
		h := compose.Observe(turned, o)[0]
		if !slices.Equal(g.Files, h.Files) || g.Warning != h.Warning || (g.Err == nil) != (h.Err == nil) {
			t.Fatalf("%+v and %+v", g, h)
		}
		if (g.Err == nil) != (len(g.Files) > 0) || g.Err != nil && g.Warning != "" {
			t.Fatalf("%+v", g)
		}
		named := map[string]int{}
		lists := 0
		for _, c := range all {
			if *c.ConfigFiles == "" {
				continue
			}
			lists++
			for _, f := range strings.Split(*c.ConfigFiles, ",") {
				named["/w/"+f]++
			}
		}
		for _, f := range g.Files {
			if named[f] == 0 {
				t.Fatalf("nobody names %s", f)
			}
		}
		for f, n := range named {
			if _, err := d.read(f); g.Err == nil && n == lists && !slices.Contains(g.Files, f) && (f != o.SupervisorOverride || err == nil) {
				t.Fatalf("all name %s: %+v", f, g)
			}
		}
		var told error = g.Err
		if g.Err != nil && !errors.As(told, new(*compose.Error)) {
			t.Fatal(told)
		}
	})
}
