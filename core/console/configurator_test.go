package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
)

// configurator notes what is asked for and answers with what a test wants.
type configurator struct {
	readOnly string
	// next is what Propose returns; asked what it was asked.
	next    console.Change
	asked   console.Proposal
	applied []string
}

func (c *configurator) Writing() console.Writing {
	return console.Writing{Path: "plugin.hcl", ReadOnly: c.readOnly}
}

func (c *configurator) Choices(context.Context) ([]console.Choice, error) {
	return []console.Choice{{Kind: "search", Plugin: "files", Summary: hostile, Origin: "built-in", Settings: []console.Setting{
		{Name: "folders", Type: "string_list", Doc: hostile, Required: true}, {Name: "key", Type: "string", Secret: true},
		{Name: "mode", Type: "string", Enum: []string{"a", "b"}, Default: `"a"`}, {Name: "wait", Type: "duration", Default: `"1s"`},
		{Name: "deep", Type: "bool"}, {Name: "labels", Type: "string_map"}, {Name: "limits.day", Type: "integer"},
		{Name: "feed.url", Type: "string", Repeated: true},
	}}}, nil
}

func (c *configurator) References() []console.Reference {
	return []console.Reference{
		{Service: "search", Attribute: "backend", Kind: "search", IsList: true, Required: true, Refs: []string{"search.docs"}},
		{Service: "search", Attribute: "notify", Kind: "notify", IsList: true},
	}
}

func (c *configurator) Settings(ctx context.Context, ref string) (console.Choice, map[string]console.Current, error) {
	all, err := c.Choices(ctx)
	return all[0], map[string]console.Current{
		"folders": {Text: "one\ntwo"}, "key": {Expression: `env("KEY")`}, "wait": {Expression: `format("%ds", 3)`},
	}, err
}

func (c *configurator) Propose(_ context.Context, _ string, p console.Proposal) (console.Change, error) {
	c.asked = p
	c.next.ID, c.next.Proposal = "c1", p
	return c.next, nil
}

func (c *configurator) Change(_, id string) (console.Change, error) {
	if id != "c1" {
		return console.Change{}, fault.New(fault.NotFound, "There is no such change any more.")
	}
	return c.next, nil
}

func (c *configurator) Apply(_ context.Context, _, id string) (console.Change, error) {
	c.applied = append(c.applied, id)
	c.next.State = console.ChangeApplied
	return c.next, nil
}

// A secret that is typed in counts, also if the choice beside it was left as it was.
func TestTypedSecretCounts(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	for _, tc := range []struct{ source, file, env, wantSource, wantText string }{
		{console.FromForm, "typed", "", console.FromFile, "typed"}, {console.Keep, "", "NAME", console.FromEnvironment, "NAME"},
		{console.FromForm, "", "", console.FromForm, ""}, {console.Keep, "", "", console.Keep, ""},
		{console.FromEnvironment, "typed", "NAME", console.FromEnvironment, "NAME"},
	} {
		v.Post("/system/plugins/propose", "set", "search.docs", "source.key", tc.source, "file.key", tc.file, "env.key", tc.env)
		if got := s.configurator.asked.Values; len(got) != 1 || got[0].Source != tc.wantSource || got[0].Text != tc.wantText {
			t.Errorf("%+v: asked for %+v", tc, got)
		}
	}
}

// What is wrong with a form stands at its fields, with what was typed, and without the secret.
func TestProviderForm(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	v.Get("/system/plugins").Says(t, "/system/plugins/use/search/backend", "Add a provider")
	v.Get("/system/plugins/add").Says(t, "/system/plugins/add/search/files", "folders", "&lt;script&gt;")
	v.Get("/system/plugins/use/search/backend").Says(t, `name="place.search.docs"`, "/system/plugins/add/search/files?for=search.backend")
	if a := v.Get("/system/plugins/use/search/nothing"); a.Status != http.StatusNotFound {
		t.Errorf("status %d", a.Status)
	}
	v.Get("/system/plugins/add/search/files?for=search.backend").Says(t, `name="value.folders"`,
		`<option value="" selected>Choose: instead of`, "Default: 1s.")

	s.configurator.next = console.Change{State: console.ChangeRejected, Findings: []console.Finding{
		{Field: "folders", Text: "no such folder " + hostile}, {Field: "name", TextID: "change.name_taken"}, {Text: "somewhere else"},
		{Field: "key", TextID: "change.no_secret"},
	}}
	a := v.Post("/system/plugins/propose", "add", "search/files", "name", "web", "value.folders", "a\r\nb", "source.key", "file", "file.key",
		"s3cret", "value.mode", "b",
		"value.feed.url", "x", "use.search.backend", "first")
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/system/plugins/add/search/files?draft=c1" {
		t.Fatalf("status %d to %q", a.Status, a.Header.Get("Location"))
	}
	asked := s.configurator.asked
	if asked.Name != "web" || len(asked.Values) != 3 || asked.Values[0].Text != "a\nb" ||
		asked.Values[1] != (console.Value{Name: "key", Source: console.FromFile, Text: "s3cret"}) {
		t.Errorf("asked for %+v", asked)
	}
	if len(asked.Uses) != 1 || strings.Join(asked.Uses[0].Refs, " ") != "search.web search.docs" {
		t.Errorf("asked for %+v", asked.Uses)
	}
	page := v.Get(a.Header.Get("Location"))
	page.Says(t, `aria-describedby="v-folders-error"`, "no such folder &lt;script&gt;", "a\nb", `value="b" selected`,
		"There is an instance with this name already.", "somewhere else",
		"Typed in already", `value="first" selected`)
	if strings.Contains(page.Body, "s3cret") || strings.Contains(page.Body, "<script>alert") {
		t.Error("the page has the secret, or markup of others")
	}
}

func TestSettingsOfAnInstanceAreKept(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	v.Get("/system/plugins/instance/search.docs/settings").Says(t, "one\ntwo", "env(&#34;KEY&#34;)", "format(&#34;%ds&#34;, 3)")
	s.configurator.next = console.Change{State: console.ChangeChecked, Difference: "@@ -1,1 +1,1 @@\n-old\n+new " + hostile + "\n"}
	a := v.Post("/system/plugins/propose", "set", "search.docs", "value.folders", "one\r\ntwo", "source.key", "keep", "value.wait", "",
		"value.mode", "")
	if a.Header.Get("Location") != "/system/plugins/changes/c1" {
		t.Fatalf("status %d to %q", a.Status, a.Header.Get("Location"))
	}
	for _, value := range s.configurator.asked.Values {
		if value.Name != "mode" && value.Source != console.Keep {
			t.Errorf("asked for %+v", value)
		}
	}
	// A session of an API key has no passkey: nothing can be applied.
	v.Get("/system/plugins/changes/c1").Says(t, `class="a"`, "+new &lt;script&gt;", "signed in with a passkey",
		"patchbay config check -config plugin.hcl")
	if a := v.Post("/system/plugins/changes/c1/apply"); a.Status != http.StatusForbidden || len(s.configurator.applied) > 0 {
		t.Errorf("status %d, applied %v", a.Status, s.configurator.applied)
	}
	if a := s.signedIn(s.member).Get("/system/plugins/add"); a.Status != http.StatusForbidden {
		t.Errorf("a member gets %d", a.Status)
	}
	if a := v.Get("/system/plugins/changes/c2"); a.Status != http.StatusNotFound {
		t.Errorf("status %d", a.Status)
	}
}

func TestOrderOfProviders(t *testing.T) {
	s := newSite(t)
	s.configurator.next = console.Change{State: console.ChangeRejected, Findings: []console.Finding{{Text: "what is wrong"}}}
	v := s.signedIn(s.admin)
	a := v.Post("/system/plugins/propose", "use", "search.backend", "place.search.docs", "2", "place.search.gone", "1", "place.notify.ops",
		"3")
	if got := s.configurator.asked.Uses; len(got) != 1 || strings.Join(got[0].Refs, " ") != "search.gone search.docs" {
		t.Errorf("asked for %+v", got)
	}
	v.Get(a.Header.Get("Location")).Says(t, "The change has errors", "what is wrong")
	v.Post("/system/plugins/propose", "remove", "search.gone")
	if s.configurator.asked.Remove != "search.gone" || len(s.configurator.asked.Uses) > 0 {
		t.Errorf("asked for %+v", s.configurator.asked)
	}
}

// Each end of a change says what is true afterwards.
func TestOutcomesOfChanges(t *testing.T) {
	s := newSite(t)
	link, err := s.users.Links.CreateFirst(t.Context())
	must(t, err)
	if link != "" {
		t.Fatal("there is no user")
	}
	v := s.signedIn(s.admin)
	const difference = "@@ -1,1 +1,2 @@\n a\n+b\n"
	for state, texts := range map[string][]string{
		console.ChangeApplied:  {"The change is in use", "plugin.hcl was written and loaded", "Former file", "data/configurations/x"},
		console.ChangeReverted: {"The change was rolled back", "has its former text", "why " + "&lt;script&gt;"},
		console.ChangeOutdated: {"Check the change again", "Nothing was written"},
		console.ChangeFailed:   {"The change failed", "why &lt;script&gt;"},
		console.ChangeChecked:  {"Review the change", "other changes, made by hand"},
	} {
		s.configurator.next = console.Change{ID: "c1", State: state, Difference: difference, Reason: "why " + hostile,
			Backup: "data/configurations/x", Pending: true}
		v.Get("/system/plugins/changes/c1").Says(t, texts...)
	}
	for _, reason := range []string{"off", "json", "file", "folder", "mount"} {
		s.configurator.readOnly = reason
		s.configurator.next = console.Change{ID: "c1", State: console.ChangeChecked, Difference: difference}
		v.Get("/system/plugins/changes/c1").Says(t, "Do it by hand", "Lines to add", "patchbay config check")
		v.Get("/system/plugins/add").Says(t, "You can check a change here")
	}
}
