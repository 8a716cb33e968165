package containers

import "testing"

// TestUpToDateIsSaidOfWhatWasCompared: every service that a check could not compare is unknown, with the reason, and counted as such.
func TestUpToDateIsSaidOfWhatWasCompared(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.project("blog", 1, map[string]string{"web": webRepo + ":1", "shell": appRepo + ":1", "stopped": dbRepo + ":1",
			"local": imageHost + "/acme/local:1", "denied": imageHost + "/acme/denied:1"})
		// The tag came from the shell that started it: the file has none.
		e.file("blog/compose.yaml", composeText(map[string]string{
			"web": webRepo + ":1", "shell": appRepo + ":${IMAGE_TAG}", "stopped": dbRepo + ":1", "local": imageHost + "/acme/local:1",
			"denied": imageHost + "/acme/denied:1",
		}))
		e.discovered()
		states := func() map[string]string {
			t.Helper()
			out := map[string]string{}
			d, err := e.svc.Stack(t.Context(), e.stackOf("blog").ID)
			e.must(err)
			for _, s := range d.Services {
				out[s.Name] = s.Status + " " + s.UnknownReason
			}
			return out
		}
		for name, got := range states() {
			if got != "unknown never_checked" {
				t.Errorf("before the first check %s is %q", name, got)
			}
		}
		e.vanish("blog")
		for _, name := range []string{"web", "shell", "denied"} {
			ref := map[string]string{"web": webRepo, "shell": appRepo, "denied": imageHost + "/acme/denied"}[name] + ":1"
			e.container("blog", name, ref)
		}
		local := e.image(imageHost+"/acme/local", 9)
		local.RepoDigests, local.RepoTags = nil, []string{imageHost + "/acme/local:1"}
		e.engine.AddImage(local)
		e.container("blog", "local", imageHost+"/acme/local:1")
		e.publish(webRepo+":1", 1)
		e.publish(dbRepo+":1", 1)
		_, sum := e.checked()
		want := map[string]string{"web": "ok ", "shell": "unknown no_tag", "stopped": "unknown not_running", "local": "unknown local_image",
			"denied": "unknown check_failed"}
		for name, got := range states() {
			if got != want[name] {
				t.Errorf("%s is %q, want %q", name, got, want[name])
			}
		}
		list, err := e.svc.Stacks(t.Context(), "")
		e.must(err)
		if sum.ServicesUnknown != 4 || list[0].Unknown != 4 {
			t.Errorf("counted: %d in the check, %d in the list", sum.ServicesUnknown, list[0].Unknown)
		}
	})
}
