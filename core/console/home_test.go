package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// TestHome: the page says in a sentence how things are, and lists what needs somebody: a rejected configuration, and each
// instance that does not serve, with why.
func TestHome(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	v.Get("/system").Says(t, "2 things need attention.", "1 service, 1 of 3 providers ready.", "search.gone", "notify.ops",
		`href="/system/plugins/instance/notify.ops"`, "See why", "No jobs running.")
	s.providers.rejected = "plugin.hcl:7: Unknown attribute"
	v.Get("/system").Says(t, "3 things need attention.", "plugin.hcl was rejected", "plugin.hcl:7: Unknown attribute")
	s.providers.rejected = ""
	for i := range s.providers.instances {
		s.providers.instances[i].State = "ready"
	}
	v.Get("/system").Says(t, "All systems OK.", "1 service, 3 of 3 providers ready.")
	long := s.submit("test.long")
	v.Get("/system").Says(t, "Running now", "/system/jobs/"+long.ID)
	v.Post("/system/jobs/" + long.ID + "/cancel")
	member := s.signedIn(s.member).Get("/system")
	for _, part := range []string{"/system/jobs", "Needs attention", "Start here"} {
		if strings.Contains(member.Body, part) {
			t.Errorf("a member sees %q", part)
		}
	}
}

// TestSteps: the checklist shows what is left, and goes away with the last step that is done or skipped. What a browser sends
// instead of a step changes nothing.
func TestSteps(t *testing.T) {
	s := newSite(t)
	s.part.Steps = []ui.Step{{ID: "first-thing", Title: "First thing", Text: hostile, Command: "do it", Href: "/first", Action: "Begin"}}
	v := s.signedIn(s.admin)
	v.Get("/system").Says(t, "Start here", "1 of 2 done", `value="first-thing"`, "Skip the step: First thing", "do it", `href="/first"`)
	for _, step := range []string{"", "<script>", strings.Repeat("a", 41), "no-such-step"} {
		v.Post("/system/steps/skip", "step", step)
		v.Get("/system").Says(t, "1 of 2 done")
	}
	if p := v.Post("/system/steps/skip", "step", "first-thing"); p.Status != http.StatusSeeOther {
		t.Errorf("skip: status %d", p.Status)
	}
	if p := v.Get("/system"); strings.Contains(p.Body, "Start here") {
		t.Error("the list stays when nothing is left")
	}
	other := s.signedIn(s.admin)
	other.Get("/system").Says(t, "1 of 2 done")
	s.part.Steps[0].Done = true
	if p := other.Get("/system"); strings.Contains(p.Body, "Start here") {
		t.Error("the list stays when everything is done")
	}
}

// TestHomeParts: what services have to show, of whatever they have taken from elsewhere.
func TestHomeParts(t *testing.T) {
	s := newSite(t)
	s.part = ui.HomePart{
		Attention: []ui.Attention{{Tone: "bad", Title: hostile, Text: hostile, Href: "/there", Action: "Mend it"}},
		Figures:   []ui.KeyFigure{{Name: "Searches", Value: "12", Remark: hostile, Href: "/more"}, {Name: "Plain", Value: "7"}},
	}
	s.signedIn(s.admin).Get("/system").Says(t, "3 things need attention.", "Mend it", `href="/there"`, `<a href="/more">12</a>`, "<b>7</b>")
}
