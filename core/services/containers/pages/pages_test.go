package pages

import (
	"bufio"
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/queue"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
)

// lived is a site on which something of everything has happened.
func lived(t testing.TB, base string) (*site, *visitor, project.ServiceDetail) {
	t.Helper()
	s := newSite(t, base)
	v := s.as(s.admin, "en")
	web := s.project("shop", "web", webRepo)
	s.publish(webRepo+":1", 2)
	s.ended(v.began(v.post("/stacks/check", "service", web.ID)).ID)
	update := v.began(v.post("/stacks/update", "service", web.ID, "target", updateTarget(s.find("shop", "web")), "mode", "apply", "backup",
		"force"))
	if update.Status != "success" {
		t.Fatalf("the update ended %s: %+v", update.Status, update)
	}
	s.publish(webRepo+":1", 3, fake.Exited(3))
	v.began(v.post("/stacks/check"))
	v.post("/services/"+web.StackID+"/"+web.ID+"/ignores", "kind", "exact", "value", "9", "note", hostile)
	return s, v, s.find("shop", "web")
}

// addresses are all pages of a site.
func addresses(s *site, web project.ServiceDetail) []string {
	svc := "/services/" + web.StackID + "/" + web.ID
	out := []string{
		"/stacks", "/stacks?q=nothing", "/stacks?show=updates&archived=include", "/stacks?archived=only", "/stacks/" + web.StackID,
		"/stacks/update",
		"/stacks/update?stack=" + web.StackID, "/stacks/update?service=" + web.ID, svc, svc + "?window=7d",
		"/queue/version-inference", "/queue/version-inference?q=web&status=missing", "/discovery", "/discovery?archived=include",
		"/deploy-check", "/settings", "/host-packages", "/host-packages?q=x&selected=selected&decision=ignored",
		"/notifications", "/notifications?before=ntm_0", "/notifications/preview/job_finished", "/notifications/preview/new_version_discovered",
	}
	jobs, _, err := s.service.ListJobs(context.Background(), service.JobFilter{})
	must(s, err)
	for _, j := range jobs {
		out = append(out, "/queue/"+j.ID)
	}
	return out
}

// TestPages reads every page in both languages: no text is missing, nothing becomes markup that is not, no page has script
// or style of its own, and no link leaves the base of the service.
func TestPages(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|\sstyle=|\son[a-z]+=`)
	href := regexp.MustCompile(`(?:href|action)="(/[^"]*)"`)
	for _, base := range []string{"/", "/containers"} {
		s, v, web := lived(t, base)
		for _, lang := range []string{"en", "zh"} {
			v.SetLanguage(lang)
			for _, path := range addresses(s, web) {
				p := v.get(path)
				p.Is(t, lang+" "+path, http.StatusOK, "<h1>")
				p.Lacks(t, lang+" "+path, "⟦", "⟧", hostile, "%!")
				if at := inline.FindString(p.Body); at != "" {
					t.Errorf("%s holds %q", path, at)
				}
				for _, m := range href.FindAllStringSubmatch(p.Body, -1) {
					if link := m[1]; !strings.HasPrefix(link, s.at+"/") && !strings.HasPrefix(link, "/system") && !strings.HasPrefix(link, "/assets") &&
						link != "/supervisor/" && link != ui.ManifestPath {
						t.Errorf("%s leads to %s", path, link)
					}
				}
				if lang == "zh" && strings.Contains(p.Body, ">Update<") {
					t.Errorf("%s is not translated", path)
				}
			}
		}
		v.get("/services/"+web.StackID+"/"+web.ID).Is(t, "the note", http.StatusOK, "&lt;script&gt;")
	}
}

func TestStart(t *testing.T) {
	s := newSite(t, "/containers")
	v := s.as(s.admin, "en")
	if p := v.get("/"); p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/containers/stacks" {
		t.Errorf("status %d, to %s", p.Status, p.Header.Get("Location"))
	}
	v.get("/stacks").Is(t, "without a project", http.StatusOK, "No compose project was found yet", "mount the socket of the engine",
		`href="/containers/deploy-check"`)
	v.get("/discovery").Is(t, "without a project", http.StatusOK, "A project is found by the labels of its containers")
	v.Get("/system").Is(t, "the home page", http.StatusOK, `value="containers-stacks"`, `href="/containers/discovery"`)
	s.project("shop", "web", webRepo)
	v.Get("/system").Is(t, "the home page", http.StatusOK, "1 of 1 running", `href="/containers/stacks"`, "in 1 stack", "All systems OK.")
	v.get("/stacks").Is(t, "the list", http.StatusOK, "shop")
}

// TestMembers: the pages are for administrators alone.
func TestMembers(t *testing.T) {
	s, _, web := lived(t, "/")
	member := s.as(s.member, "en")
	for _, path := range addresses(s, web) {
		member.get(path).Is(t, path, http.StatusForbidden)
	}
	member.post("/stacks/check").Is(t, "a check", http.StatusForbidden)
	member.Get("/system").Lacks(t, "home", "Stacks", "/queue")
	nobody := s.visitor("en")
	nobody.get("/stacks").Is(t, "nobody", http.StatusUnauthorized, "Sign in")
	foreign := s.as(s.admin, "en")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	foreign.post("/stacks/check").Is(t, "from another site", http.StatusForbidden)
}

// TestSelf: this instance is marked, and links to where it is upgraded.
func TestSelf(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	self := s.project("patchbay", "core", selfRepo)
	s.publish(selfRepo+":1", 2)
	v.began(v.post("/stacks/check"))
	svc := "/services/" + self.StackID + "/" + self.ID
	v.get("/stacks").Is(t, "stacks", http.StatusOK, "this instance", `href="/supervisor/"`)
	v.get("/stacks").Lacks(t, "stacks", "/stacks/update?service=")
	p := v.get(svc)
	p.Is(t, "the service", http.StatusOK, "This is Patchbay itself", `href="/supervisor/"`)
	p.Lacks(t, "the service", svc+"/action", "/stacks/update?service=", svc+"/rollback")
	v.post(svc+"/action", "action", "stop").Is(t, "a stop", http.StatusConflict, "use the supervisor")
	v.post("/stacks/"+self.StackID+"/action", "action", "stop").Is(t, "a stop of the stack", http.StatusConflict)
	v.post("/stacks/update", "service", self.ID, "target", updateTarget(s.find("patchbay", "core"))).Is(t, "an update", http.StatusConflict)
}

// heard reads the next event of a stream whose data holds a text.
func heard(t *testing.T, lines *bufio.Scanner, text string) string {
	t.Helper()
	var data strings.Builder
	for lines.Scan() {
		line := lines.Text()
		if d, ok := strings.CutPrefix(line, "data: "); ok {
			data.WriteString(d + "\n")
		}
		if line == "" {
			if strings.Contains(data.String(), text) {
				return data.String()
			}
			data.Reset()
		}
	}
	t.Fatalf("the stream ended before %q: %v", text, lines.Err())
	return ""
}

// TestLive: what happens shows on the parts that are kept current, and the stream of a job ends with it.
func TestLive(t *testing.T) {
	s, v, web := lived(t, "/")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	open := func(path string) *bufio.Scanner {
		resp := v.Request(ctx, http.MethodGet, path, nil)
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s: status %d, %s", path, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		return lines
	}
	entered, release := s.engine.Hold("pull")
	began := v.post("/stacks/update", "service", web.ID, "target", updateTarget(web), "mode", "apply", "backup", "skip")
	id := strings.TrimPrefix(began.Header.Get("Location"), "/queue/")
	select {
	case <-entered:
	case <-ctx.Done():
		t.Fatalf("the update does not pull: %d %s", began.Status, began.Body)
	}
	v.get("/queue/"+id).Is(t, "the job", http.StatusOK, "Cancel the job", "rolls it back to the previous image", "<progress",
		`hx-sse:connect="/queue/`+id+`/live"`)
	v.get("/services/"+web.StackID+"/"+web.ID).Is(t, "the service", http.StatusOK, "A job works on this service: Update.", "/queue/"+id)
	if p := v.post("/services/"+web.StackID+"/"+web.ID+"/action", "action", "restart"); p.Header.Get("Location") != "/queue/"+id {
		t.Errorf("a restart meanwhile leads to %q, status %d", p.Header.Get("Location"), p.Status)
	}
	job, stacks := open("/queue/"+id+"/live"), open("/stacks/live")
	heard(t, job, "<progress")
	heard(t, stacks, "/queue/"+id)
	release()
	heard(t, job, "The previous image is running again.")
	heard(t, stacks, ">0</b>")
	if !job.Scan() {
		t.Error("the stream of the job does not say that it is done")
	}
	v.get("/queue/"+id).Is(t, "the job at its end", http.StatusOK, "rolled back", "It failed at: health check.")
	v.get("/queue/"+id).Lacks(t, "the job at its end", "hx-sse:connect", "Cancel the job")
	for _, path := range []string{"/stacks/" + web.StackID, "/services/" + web.StackID + "/" + web.ID, "/discovery", "/deploy-check",
		"/queue/version-inference", "/host-packages", "/notifications"} {
		heard(t, open(path+"/live"), "<")
	}
	heard(t, open("/host-packages/inbox"), "No webhooks received yet")
	v.get("/queue/job_none/live").Is(t, "no job", http.StatusNotFound)
	v.get("/stacks/stk_none/live").Is(t, "no stack", http.StatusNotFound)
	v.get("/services/stk_none/"+web.ID+"/live").Is(t, "another stack", http.StatusNotFound)
}

// TestJobsInOneList: the former list leads to that of all jobs, which names what each job works on and leads to its page.
func TestJobsInOneList(t *testing.T) {
	s, v, web := lived(t, "/containers")
	for from, to := range map[string]string{
		"/queue": "/system/jobs", "/queue?type=check&status=open": "/system/jobs?state=open&type=containers.check",
		"/queue?stackId=" + web.StackID: "/system/jobs?tag=stack%3A" + web.StackID,
		"/queue?serviceId=" + web.ID:    "/system/jobs?tag=service%3A" + web.ID,
	} {
		if p := v.get(from); p.Status != http.StatusSeeOther || p.Header.Get("Location") != to {
			t.Errorf("%s: status %d, to %s", from, p.Status, p.Header.Get("Location"))
		}
	}
	updates, _, err := s.service.ListJobs(t.Context(), service.JobFilter{Types: []string{work.JobUpdate}})
	must(t, err)
	id := updates[0].ID
	system := func(path string) webtest.Page { t.Helper(); return v.Get(path) }
	system("/system/jobs").Is(t, "the list", http.StatusOK, "Update of services", "Check for new versions", `href="/containers/queue/`+id+`"`,
		`href="/containers/services/`+web.StackID+"/"+web.ID+`"`, "shop / web", "Everything")
	system("/system/jobs?tag=service%3A"+web.ID).Is(t, "the jobs of a service", http.StatusOK, `href="/containers/queue/`+id+`"`)
	if p := system("/system/jobs/" + id); p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/containers/queue/"+id {
		t.Errorf("the page of a job: status %d, to %s", p.Status, p.Header.Get("Location"))
	}
	_, _, err = s.queue.Submit(t.Context(), queue.Submission{Type: "containers.housekeeping"})
	must(t, err)
	const name = `Housekeeping of the containers service</a>` // as the title of a row: the filter names every type
	system("/system/jobs").Lacks(t, "the list", name)
	system("/system/jobs?housekeeping=shown").Is(t, "the list with housekeeping", http.StatusOK, name)
	system("/system/jobs?type=containers.housekeeping").Is(t, "the list of one type", http.StatusOK, name)
	v.SetLanguage("zh")
	system("/system/jobs?housekeeping=shown").Is(t, "in Chinese", http.StatusOK, "更新服务", "容器服务的日常清理", "日常清理")
}
