package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
)

const oneBackend = `# The configuration of a test.

search "one" "main" {
  config { answer = "first" } # as it was
}

service "search" {
  backend = search.main # the only one
}
`

const somebody = "usr_1"

// changing starts a core on one backend whose plugins can be chosen in a form.
func changing(t *testing.T) (*reloadable, string) {
	t.Helper()
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well, "two": testplugin.Well}, oneBackend)
	r.start()
	return r, text
}

// forms are the pages of the settings in use.
func (r *reloadable) forms() *providers { return newProviders(r.App, r.inUse.Load().File) }

func (r *reloadable) propose(p console.Proposal) console.Change {
	r.t.Helper()
	c, err := r.forms().Propose(r.t.Context(), somebody, p)
	must(r.t, err)
	return c
}

func (r *reloadable) apply(c console.Change) console.Change {
	r.t.Helper()
	out, err := r.forms().Apply(r.t.Context(), somebody, c.ID)
	must(r.t, err)
	return out
}

func (r *reloadable) text() string {
	r.t.Helper()
	text, err := os.ReadFile(r.path)
	must(r.t, err)
	return string(text)
}

// secretFiles are the secrets that the console wrote.
func (r *reloadable) secretFiles() []string {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(r.path), "data", "secrets", "*"))
	return files
}

// another is a proposal to search with a new instance of the plugin two first.
func another(values ...console.Value) console.Proposal {
	return console.Proposal{
		Add: "search/two", Name: "web", Values: values,
		Uses: []console.Reference{{Service: "search", Attribute: "backend", Refs: []string{"search.web", "search.main"}}},
	}
}

func TestChangeIsCheckedAndApplied(t *testing.T) {
	r, text := changing(t)
	c := r.propose(another(console.Value{Name: "answer", Source: console.FromForm, Text: "second"}))
	if c.State != console.ChangeChecked || r.text() != text {
		t.Fatalf("got %+v", c)
	}
	for _, want := range []string{"+search \"two\" \"web\" {", "+    answer = \"second\"", "-  backend = search.main # the only one",
		"+  backend = [search.web, search.main] # the only one"} {
		if !strings.Contains(c.Difference, want+"\n") {
			t.Errorf("%q is missing in the difference\n%s", want, c.Difference)
		}
	}
	out := r.apply(c)
	if out.State != console.ChangeApplied || r.catalog.Instance("search.web") == nil || r.outcome.rejected() != nil {
		t.Fatalf("got %+v", out)
	}
	if got := r.text(); !strings.Contains(got, "# as it was") || !strings.Contains(got, "[search.web, search.main] # the only one") {
		t.Errorf("the file is\n%s", got)
	}
	if kept, err := os.ReadFile(out.Backup); err != nil || string(kept) != text {
		t.Errorf("the backup is %q, %v", kept, err)
	}
	if _, err := r.forms().Apply(t.Context(), somebody, c.ID); err == nil {
		t.Error("a change was applied twice")
	}
	if _, err := r.forms().Change("usr_2", c.ID); err == nil {
		t.Error("somebody else sees the change")
	}
	removed := r.propose(console.Proposal{Remove: "search.web"})
	if !removed.Errors() || !strings.Contains(removed.Findings[0].Text, "search.web") {
		t.Errorf("an instance that is named can be removed: %+v", removed)
	}
	back := r.propose(console.Proposal{Remove: "search.web",
		Uses: []console.Reference{{Service: "search", Attribute: "backend", Refs: []string{"search.main"}}}})
	if out := r.apply(back); out.State != console.ChangeApplied || r.catalog.Instance("search.web") != nil {
		t.Errorf("got %+v", out)
	}
}

// What is wrong is told at its field, and nothing is written.
func TestChangeIsRefusedAtItsField(t *testing.T) {
	r, text := changing(t)
	for _, tc := range []struct {
		name, field, says string
		change            func(*console.Proposal)
	}{
		{"no name", "name", "change.bad_name", func(p *console.Proposal) { p.Name = "Web Search" }},
		{"name taken", "name", "change.name_taken", func(p *console.Proposal) { p.Name = "main" }},
		{"not true or false", "reject", "change.bad_bool", func(p *console.Proposal) {
			p.Values = []console.Value{{Name: "reject", Source: console.FromForm, Text: "perhaps"}}
		}},
		{"the plugin says no", "reject", "rejected as asked", func(p *console.Proposal) {
			p.Values = []console.Value{{Name: "reject", Source: console.FromForm, Text: "true"}}
		}},
		{"not set", "answer", "ANSWER_OF_NOBODY is not set", func(p *console.Proposal) {
			p.Values = []console.Value{{Name: "answer", Source: console.FromEnvironment, Text: "ANSWER_OF_NOBODY"}}
		}},
		{"unknown instance", "", "There is no search.elsewhere", func(p *console.Proposal) { p.Uses[0].Refs = []string{"search.elsewhere"} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := another()
			tc.change(&p)
			c := r.propose(p)
			if !c.Errors() || len(c.Findings) == 0 || c.Findings[0].Field != tc.field ||
				!strings.Contains(c.Findings[0].TextID+c.Findings[0].Text, tc.says) {
				t.Fatalf("got %+v", c)
			}
			if _, err := r.forms().Apply(t.Context(), somebody, c.ID); err == nil || r.text() != text {
				t.Error("it could be applied")
			}
		})
	}
}

// A plugin that accepts a configuration and then cannot open it: the file is what it was, to the byte, and so is what runs.
func TestChangeIsTakenBack(t *testing.T) {
	r, text := changing(t)
	before := r.catalog.Instance("search.main")
	p := another(console.Value{Name: "reject_open", Source: console.FromForm, Text: "true"},
		console.Value{Name: "answer", Source: console.FromFile, Text: "typed-in"})
	c := r.propose(p)
	if c.State != console.ChangeChecked {
		t.Fatalf("got %+v", c)
	}
	out := r.apply(c)
	if out.State != console.ChangeReverted || !strings.Contains(out.Reason, "rejected at opening") {
		t.Fatalf("got %+v", out)
	}
	if r.text() != text || r.catalog.Instance("search.main") != before || r.catalog.Instance("search.web") != nil ||
		r.outcome.rejected() != nil {
		t.Errorf("not all is as before; the file is\n%s", r.text())
	}
	if left := r.secretFiles(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSecretsOfChanges(t *testing.T) {
	const typed = "typed-in-secret-1"
	r, _ := changing(t)
	refused := r.propose(another(console.Value{Name: "answer", Source: console.FromFile, Text: typed},
		console.Value{Name: "reject", Source: console.FromForm, Text: "true"}))
	if !refused.Errors() || refused.Proposal.Values[0].Text != "" || len(r.secretFiles()) > 0 {
		t.Fatalf("got %+v", refused)
	}
	// The secret need not be typed again.
	p := another(console.Value{Name: "answer", Source: console.FromFile})
	p.Draft = refused.ID
	c := r.propose(p)
	if strings.Contains(c.Difference, typed) || !strings.Contains(c.Difference, `secret_file("data/secrets/search.web.answer-`) {
		t.Errorf("the difference is\n%s", c.Difference)
	}
	if out := r.apply(c); out.State != console.ChangeApplied {
		t.Fatalf("got %+v", out)
	}
	files := r.secretFiles()
	if len(files) != 1 || !strings.Contains(string(r.catalog.Instance("search.web").JSON), typed) || strings.Contains(r.text(), typed) {
		t.Fatalf("files %v, configuration %s", files, r.catalog.Instance("search.web").JSON)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if folder, err := os.Stat(filepath.Dir(files[0])); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("the mode of the folder is %v", folder.Mode())
	}
	_, current, err := r.forms().Settings(t.Context(), "search.web")
	must(t, err)
	if got := current["answer"]; !strings.HasPrefix(got.Expression, "secret_file(") {
		t.Errorf("the form has %+v", got)
	}
	set := r.propose(console.Proposal{Set: "search.web",
		Values: []console.Value{{Name: "answer", Source: console.FromFile, Text: "typed-in-secret-2"}}})
	if out := r.apply(set); out.State != console.ChangeApplied ||
		!strings.Contains(string(r.catalog.Instance("search.web").JSON), "typed-in-secret-2") {
		t.Fatalf("got %+v", out)
	}
	// The former secret stays as long as a backup names it.
	if len(r.secretFiles()) != 2 {
		t.Errorf("the files are %v", r.secretFiles())
	}
	must(t, os.RemoveAll(r.set.BackupsDir()))
	out := r.apply(r.propose(console.Proposal{Set: "search.web",
		Values: []console.Value{{Name: "answer", Source: console.FromForm, Text: "third"}}}))
	if out.State != console.ChangeApplied {
		t.Fatalf("got %+v", out)
	}
	if len(r.secretFiles()) != 1 {
		t.Errorf("the files are %v", r.secretFiles())
	}
}

func TestChangeOfAFileThatWasEditedMeanwhile(t *testing.T) {
	r, text := changing(t)
	c := r.propose(another())
	byHand := text + "# by hand\n"
	r.write(byHand)
	if out := r.apply(c); out.State != console.ChangeOutdated || r.text() != byHand || r.catalog.Instance("search.web") != nil {
		t.Errorf("got %+v", out)
	}
	// A new check is about what stands there now, and says that more than the change will be put into use.
	again := r.propose(another())
	if again.State != console.ChangeChecked || !again.Pending {
		t.Fatalf("got %+v", again)
	}
	if out := r.apply(again); out.State != console.ChangeApplied || !strings.Contains(r.text(), "# by hand") {
		t.Errorf("got %+v", out)
	}
	r.write("search {")
	p := another()
	p.Name = "more"
	if _, err := r.forms().Propose(t.Context(), somebody, p); err == nil || !strings.Contains(err.Error(), "syntax errors") {
		t.Errorf("got %v", err)
	}
}

func TestChangeOfAFileThatMustNotBeWritten(t *testing.T) {
	r, text := changing(t)
	must(t, os.Chmod(r.path, 0o444))
	c := r.propose(another())
	if c.State != console.ChangeChecked || r.forms().Writing().ReadOnly != "file" {
		t.Fatalf("got %+v, %+v", c, r.forms().Writing())
	}
	if _, err := r.forms().Apply(t.Context(), somebody, c.ID); err == nil || r.text() != text {
		t.Errorf("got %v", err)
	}
	must(t, os.Chmod(r.path, 0o600))
	r.write("core {\n  console_writes = false\n}\n" + text)
	must(t, r.reload())
	if got := r.forms().Writing().ReadOnly; got != "off" {
		t.Errorf("switched off, it is %q", got)
	}
	if _, err := r.forms().Apply(t.Context(), somebody, r.propose(another()).ID); err == nil {
		t.Error("switched off, it was written")
	}
}

func TestReferencesAndChoices(t *testing.T) {
	r, _ := changing(t)
	refs := r.forms().References()
	if len(refs) != 2 || refs[0].Attribute != "backend" || !refs[0].IsList || len(refs[0].Refs) != 1 || refs[1].Kind != "notify" {
		t.Errorf("got %+v", refs)
	}
	choices, err := r.forms().Choices(t.Context())
	must(t, err)
	if len(choices) == 0 || choices[0].Kind == "" || len(choices[0].Settings) == 0 {
		t.Errorf("got %+v", choices)
	}
}
