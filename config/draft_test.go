package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/config"
)

// edit is one edit of a draft.
type edit func(*config.Draft) error

func setting(path string, e config.Expression) config.Setting {
	return config.Setting{Path: strings.Split(path, "."), Value: e}
}

func environmentValue(t testing.TB, name string) config.Expression {
	e, err := config.EnvironmentExpression(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func number(t testing.TB, text string) config.Expression {
	e, err := config.NumberExpression(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestDraftGolden edits the same file in many ways. Each golden file is the whole text afterwards.
func TestDraftGolden(t *testing.T) {
	base := filepath.Join("testdata", "edit", "plugin.hcl")
	text, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	for name, edits := range map[string][]edit{
		"untouched": {},
		"add_bare": {func(d *config.Draft) error { return d.AddInstance("search", "remote", "web", nil) },
			func(d *config.Draft) error {
				return d.SetReference("search", "backend", []string{"search.web", "search.docs"})
			}},
		"add_full": {func(d *config.Draft) error {
			return d.AddInstance("search", "remote", "web", []config.Setting{
				setting("base_url", config.StringExpression("https://x.example/${a}\"%{b}")), setting("token", environmentValue(t, "WEB_TOKEN")),
				setting("limit", number(t, "20")), setting("tls.url", config.StringExpression("x")), setting("cold", config.BoolExpression(false)),
				setting("labels", config.MapExpression(map[string]string{"b": "2", "a b": "1"})),
				setting("feeds", config.ListExpression([]string{"a", "b\nc"})),
			})
		}},
		"add_first_of_kind": {func(d *config.Draft) error {
			return d.AddInstance("dns", "manual", "zone", []config.Setting{setting("key", config.SecretFileExpression("data/secrets/dns.zone.key"))})
		}},
		"set_kept_comments": {func(d *config.Draft) error {
			return d.SetConfig("search", "docs", []config.Setting{
				setting("folders", config.ListExpression([]string{"docs"})), setting("mode", config.Expression{}), setting("ratio", number(t, "0.25")),
			})
		}},
		"set_new_config": {func(d *config.Draft) error {
			return d.SetConfig("notify", "ops", []config.Setting{setting("url", environmentValue(t, "OPS_URL")),
				setting("tls.ca", config.StringExpression("x"))})
		}},
		"set_one_line": {func(d *config.Draft) error {
			return d.SetConfig("search", "tiny", []config.Setting{setting("mode", config.StringExpression("exact"))})
		}},
		"references":       {func(d *config.Draft) error { return d.SetReference("mail", "notify", []string{"notify.chat"}) }},
		"reference_one":    {func(d *config.Draft) error { return d.SetReference("search", "backend", []string{"search.tiny"}) }},
		"reference_none":   {func(d *config.Draft) error { return d.SetReference("mail", "notify", nil) }},
		"remove":           {func(d *config.Draft) error { return d.RemoveInstance("notify", "chat") }},
		"remove_commented": {func(d *config.Draft) error { return d.RemoveInstance("search", "tiny") }},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := config.NewDraft(base, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				if err := e(d); err != nil {
					t.Fatal(err)
				}
			}
			golden := filepath.Join("testdata", "edit", name+".golden")
			if *update {
				if err := os.WriteFile(golden, d.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(d.Bytes())); diff != "" {
				t.Error(diff)
			}
			// Windows' ends of lines stay, all of them.
			dos, err := config.NewDraft(base, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				if err := e(dos); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.ReplaceAll(string(dos.Bytes()), "\r\n", "\n"); got != string(want) ||
				strings.Count(string(dos.Bytes()), "\r\n") != strings.Count(got, "\n") {
				t.Error("with Windows' ends of lines the edit is another")
			}
		})
	}
}

func TestDraftRefuses(t *testing.T) {
	const text = "search \"local\" \"docs\" {}\nservice \"search\" {\n  backend = search.docs\n}\n"
	for name, e := range map[string]edit{
		"added twice":      func(d *config.Draft) error { return d.AddInstance("search", "remote", "docs", nil) },
		"bad name":         func(d *config.Draft) error { return d.AddInstance("search", "remote", "Web\" {", nil) },
		"unknown service":  func(d *config.Draft) error { return d.SetReference("mail", "notify", []string{"notify.x"}) },
		"odd reference":    func(d *config.Draft) error { return d.SetReference("search", "backend", []string{"search.docs]"}) },
		"unknown instance": func(d *config.Draft) error { return d.RemoveInstance("search", "web") },
		"no such block": func(d *config.Draft) error {
			return d.SetConfig("search", "web", []config.Setting{setting("a", config.BoolExpression(true))})
		},
	} {
		d, err := config.NewDraft("plugin.hcl", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := e(d); !errors.Is(err, config.ErrNotEditable) || string(d.Bytes()) != text {
			t.Errorf("%s: %v, and the text is\n%s", name, err, d.Bytes())
		}
	}
	for path, text := range map[string]string{"plugin.hcl": "search {", "plugin.hcl.json": "{}"} {
		if _, err := config.NewDraft(path, []byte(text)); !errors.Is(err, config.ErrNotEditable) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, text := range []string{"", "x", "1e99999", strings.Repeat("9", 100)} {
		if _, err := config.NumberExpression(text); err == nil {
			t.Errorf("%q is a number", text)
		}
	}
	if _, err := config.EnvironmentExpression(`A"B`); err == nil {
		t.Error("a name of a variable has quotes")
	}
}

// TestDraftMeansWhatWasAsked edits a file at random. What it comes to is what a model says, and every line of comment is still there.
func TestDraftMeansWhatWasAsked(t *testing.T) {
	base, err := os.ReadFile(filepath.Join("testdata", "edit", "plugin.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	// HCL normalises texts.
	anyText := rapid.Map(rapid.String(), func(s string) string {
		return norm.NFC.String(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", ""))
	})
	rapid.Check(t, func(rt *rapid.T) {
		d, err := config.NewDraft("plugin.hcl", base)
		if err != nil {
			rt.Fatal(err)
		}
		folders, modes, refs := map[string][]string{"docs": {"README.md", "core/docs"}}, map[string]string{"docs": "fast", "tiny": "fast"},
			[]string{"search.docs"}
		names := []string{"docs", "tiny"}
		for range rapid.IntRange(1, 8).Draw(rt, "edits") {
			name := rapid.SampledFrom(names).Draw(rt, "instance")
			switch rapid.IntRange(0, 3).Draw(rt, "edit") {
			case 0:
				fresh := rapid.StringMatching(`[a-z][a-z0-9_-]{0,8}`).Draw(rt, "name")
				if slices.Contains(names, fresh) {
					continue
				}
				list := rapid.SliceOfN(anyText, 0, 3).Draw(rt, "folders")
				err = d.AddInstance("search", "local", fresh, []config.Setting{setting("folders", config.ListExpression(list))})
				names, folders[fresh], modes[fresh] = append(names, fresh), list, "fast"
			case 1:
				list := rapid.SliceOfN(anyText, 0, 3).Draw(rt, "folders")
				err = d.SetConfig("search", name, []config.Setting{setting("folders", config.ListExpression(list))})
				folders[name] = list
			case 2:
				mode := rapid.SampledFrom([]string{"", "exact"}).Draw(rt, "mode")
				e := config.Expression{}
				if modes[name] = "fast"; mode != "" {
					e, modes[name] = config.StringExpression(mode), mode
				}
				err = d.SetConfig("search", name, []config.Setting{setting("mode", e)})
			case 3:
				refs = []string{"search." + name}
				err = d.SetReference("search", "backend", refs)
			}
			if err != nil {
				rt.Fatalf("%v in\n%s", err, d.Bytes())
			}
		}
		checkModel(rt, t, d.Bytes(), folders, modes, refs)
		for line := range strings.Lines(string(base)) {
			if i := strings.IndexByte(line, '#'); i >= 0 && !strings.Contains(line, "optional") &&
				!strings.Contains(string(d.Bytes()), strings.TrimSpace(line[i:])) {
				rt.Fatalf("the comment %q is gone from\n%s", line[i:], d.Bytes())
			}
		}
	})
}

func checkModel(rt *rapid.T, t *testing.T, text []byte, folders map[string][]string, modes map[string]string, refs []string) {
	opts := options(t)
	opts.ReadFile = func(string) ([]byte, error) { return text, nil }
	file, diags := config.Load("plugin.hcl", func(string) (string, bool) { return "", false }, opts)
	if diags.HasErrors() {
		rt.Fatalf("%v in\n%s", diags, text)
	}
	for _, in := range file.Instances {
		if in.Kind != "search" {
			continue
		}
		_, diags := file.DecodeInstance(in, pluginSchema(t, "local"))
		written := file.Written(in)
		if got, _ := written["folders"].Value.([]string); folders[in.Name] != nil && !slices.Equal(got, folders[in.Name]) {
			rt.Fatalf("the folders of %s are %q, not %q (%v) in\n%s", in.Name, got, folders[in.Name], diags, text)
		}
		if got, ok := written["mode"].Value.(string); modes[in.Name] == "exact" && got != "exact" || modes[in.Name] == "fast" && ok &&
			got == "exact" {
			rt.Fatalf("the mode of %s is %q in\n%s", in.Name, got, text)
		}
	}
	if got := file.Service("search").References(); !slices.Equal(got, refs) {
		rt.Fatalf("the backend is %v, not %v in\n%s", got, refs, text)
	}
}
