package pages

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// TestUpdates goes from the check to the update, the one that is rolled back, and the rollback by hand.
func TestUpdates(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	web := s.project("shop", "web", webRepo)
	svc := "/services/" + web.StackID + "/" + web.ID
	v.get("/stacks/update").Is(t, "nothing to update", http.StatusOK, "There is nothing to update")
	v.get(svc).Is(t, "not checked", http.StatusOK, "Nobody has asked the registry yet", "Patchbay has not updated it yet")
	s.publish(webRepo+":1", 2)
	check := v.began(v.post("/stacks/check", "stack", web.StackID))
	v.get("/queue/"+check.ID).Is(t, "the check", http.StatusOK, "1 services checked: 1 with a new version", "/stacks/update?service="+web.ID)
	target := updateTarget(s.find("shop", "web"))

	for _, path := range []string{"/stacks/update", "/stacks/update?stack=" + web.StackID, "/stacks/update?service=" + web.ID} {
		v.get(path).Is(t, path, http.StatusOK, made256("digest", 1), made256("digest", 2), "docker-compose recreate shop web", target,
			"pull "+webRepo+"@"+made256("digest", 2))
	}
	v.get("/stacks/update?service=svc_none").Is(t, "no service", http.StatusNotFound)
	v.get("/stacks/update?stack=stk_none").Is(t, "no stack", http.StatusNotFound)
	v.post("/stacks/update", "target", "half").Is(t, "half a target", http.StatusBadRequest)
	v.post("/stacks/update", "service", web.ID, "target", web.ID+" 1 "+made256("digest", 9)).Is(t, "another digest", http.StatusConflict,
		"check again")

	dry := v.began(v.post("/stacks/update", "stack", web.StackID, "target", target, "mode", "dry-run"))
	v.get("/queue/"+dry.ID).Is(t, "the plan", http.StatusOK, "nothing was changed", "shop_data", "/stacks/update?stack="+web.StackID)
	up := v.began(v.post("/stacks/update", "target", target, "mode", "apply"))
	v.get("/queue/"+up.ID).Is(t, "the update", http.StatusOK, "success", shortDigest(made256("digest", 1)), shortDigest(made256("digest", 2)),
		"shop_data")
	v.get(svc).Is(t, "after it", http.StatusOK, "The registry has nothing newer", "Goes back to 1", svc+"/rollback", "shop_data")

	s.publish(webRepo+":1", 3, fake.Exited(3))
	v.began(v.post("/stacks/check", "service", web.ID))
	bad := v.began(v.post("/stacks/update", "service", web.ID, "target", updateTarget(s.find("shop", "web")), "mode", "apply", "backup", "skip"))
	if bad.Status != "rolled_back" {
		t.Fatalf("a crash ends %s", bad.Status)
	}
	crash := v.get("/queue/" + bad.ID)
	crash.Is(t, "the crash", http.StatusOK, "The new container did not become healthy.", "The previous image is running again.", "health check")
	if notes := regexp.MustCompile(`(?s)<pre.*?</pre>`).ReplaceAllString(crash.Body, ""); strings.Count(notes, "ended with exit code 3") != 1 {
		t.Errorf("the error is not told once beside the log:\n%s", notes)
	}
	v.SetLanguage("zh")
	v.get("/queue/"+bad.ID).Is(t, "the crash in Chinese", http.StatusOK, "新容器未能恢复健康。", "原镜像已恢复运行。", "已退出，退出代码 3。")
	v.SetLanguage("en")
	v.get(svc).Is(t, "the version that was rolled back", http.StatusOK, "The update to 1 failed and was rolled back", "rolled back</span>",
		svc+"/ignore-version", "Update anyway…")
	v.get("/stacks").Is(t, "the list", http.StatusOK, "rolled back</span>", "1 service is left out: its new version was rolled back")
	all := v.get("/stacks/update")
	all.Is(t, "an update of everything", http.StatusOK, "There is nothing to update", "shop / web",
		"Updates of several services leave this version out", "Ignore this version")
	v.get("/stacks/update?service="+web.ID).Is(t, "an update all the same", http.StatusOK, updateTarget(s.find("shop", "web")),
		"The update to 1 failed and was rolled back")
	v.SetLanguage("zh")
	v.get("/stacks/update").Is(t, "an update of everything in Chinese", http.StatusOK, "更新到 1 失败，已回滚", "忽略此版本")
	v.SetLanguage("en")
	if p := v.post(svc+"/ignore-version", "digest", made256("digest", 3), "version", "1", "back",
		"/stacks/update"); p.Header.Get("Location") != "/stacks/update" {
		t.Errorf("an ignored version leads to %q, %d", p.Header.Get("Location"), p.Status)
	}
	v.get(svc).Is(t, "the ignored version", http.StatusOK, "digest "+made256("digest", 3), "Held back by")
	v.get("/stacks/update").Lacks(t, "an ignored version", "shop / web")
	plan := v.get(svc + "/rollback")
	plan.Is(t, "the rollback", http.StatusOK, "Goes back to 1", made256("digest", 1), made256("digest", 2), "up -d --no-deps web",
		"container is replaced")
	plan.Lacks(t, "nothing to allow", `name="drift"`)
	back := v.began(v.post(svc + "/rollback"))
	if back.Status != "success" || s.find("shop", "web").Image.Digest != made256("digest", 1) {
		t.Errorf("the rollback ends %s, and %s runs", back.Status, s.find("shop", "web").Image.Digest)
	}
}

// TestRollbackNeedsConsent: what recreating would change besides the image is shown by name before a rollback, which is
// refused without leave.
func TestRollbackNeedsConsent(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	web := s.project("shop", "web", webRepo)
	svc := "/services/" + web.StackID + "/" + web.ID
	none := v.get(svc + "/rollback")
	none.Is(t, "before any update", http.StatusOK, "Patchbay has not updated it yet")
	none.Lacks(t, "no form", "<form method=\"post\" action=\""+svc+"/rollback")
	s.publish(webRepo+":1", 2)
	v.began(v.post("/stacks/check", "stack", web.StackID))
	v.began(v.post("/stacks/update", "service", web.ID, "target", updateTarget(s.find("shop", "web")), "mode", "apply", "backup", "skip"))
	s.engine.ConfigureImage(made256("image", 2), engine.ImageConfig{})
	s.engine.ScriptContainer(s.engine.ContainersOf("shop", "web")[0].ID, func(d *engine.Detail) {
		d.RestartPolicy, d.Config = "no", &engine.ContainerConfig{ImageConfig: engine.ImageConfig{Env: []string{"GONE=planted-value"}},
			Networks: []string{"shop_default"}}
	})
	page := v.get(svc + "/rollback")
	page.Is(t, "the page", http.StatusOK, "Environment variable", "GONE", "is removed", `name="drift"`)
	page.Lacks(t, "a value", "planted-value")
	v.SetLanguage("zh")
	v.get(svc+"/rollback").Is(t, "the page in Chinese", http.StatusOK, "环境变量", "将移除", "同时应用这些变更", "回滚")
	v.post(svc+"/rollback").Is(t, "without leave in Chinese", http.StatusConflict, "重建它不仅会更换镜像")
	v.SetLanguage("en")
	v.post(svc+"/rollback").Is(t, "without leave", http.StatusConflict, "GONE")
	if back := v.began(v.post(svc+"/rollback", "drift", "yes")); back.Status != "success" ||
		s.find("shop", "web").Image.Digest != made256("digest", 1) {
		t.Errorf("with leave it ends %s", back.Status)
	}
}

// TestUpdateWithDrift: the page names what else would change, without values, and asks for consent.
func TestUpdateWithDrift(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	web := s.project("shop", "web", webRepo)
	s.publish(webRepo+":1", 2)
	v.began(v.post("/stacks/check", "stack", web.StackID))
	s.engine.ConfigureImage(made256("image", 1), engine.ImageConfig{})
	s.engine.ScriptContainer(s.engine.ContainersOf("shop", "web")[0].ID, func(d *engine.Detail) {
		d.RestartPolicy, d.Config = "no", &engine.ContainerConfig{ImageConfig: engine.ImageConfig{Env: []string{"GONE=planted-value"}},
			Networks: []string{"shop_default"}}
	})
	page := v.get("/stacks/update?service=" + web.ID)
	page.Is(t, "the update", http.StatusOK, "Environment variable", "GONE", "is removed", `name="drift"`)
	if strings.Contains(page.Body, "planted-value") {
		t.Error("the page shows a value")
	}
	v.SetLanguage("zh")
	v.get("/stacks/update?service="+web.ID).Is(t, "the update in Chinese", http.StatusOK, "环境变量", "将移除", "同时应用这些变更")
	v.SetLanguage("en")
	target := updateTarget(s.find("shop", "web"))
	v.post("/stacks/update", "service", web.ID, "target", target, "mode", "apply").Is(t, "without consent", http.StatusConflict, "GONE")
	dry := v.began(v.post("/stacks/update", "service", web.ID, "target", target, "mode", "dry-run"))
	v.get("/queue/"+dry.ID).Is(t, "the plan", http.StatusOK, "Other changes", "GONE")
	if up := v.began(v.post("/stacks/update", "service", web.ID, "target", target, "mode", "apply", "drift", "yes")); up.Status != "success" {
		t.Errorf("with consent it ends %s", up.Status)
	}
}

// TestLifecycleAndArchive starts, stops, archives and restores.
func TestLifecycleAndArchive(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	web := s.project("shop", "web", webRepo)
	svc, stack := "/services/"+web.StackID+"/"+web.ID, "/stacks/"+web.StackID
	v.get(svc).Is(t, "running", http.StatusOK, "docker-compose -p shop restart web", "docker-compose -p shop stop web",
		"Stop shop / web? This runs:")
	stopped := v.began(v.post(svc+"/action", "action", "stop"))
	v.get("/queue/"+stopped.ID).Is(t, "the stop", http.StatusOK, "Stop of a service", "stopped")
	v.get(svc).Is(t, "stopped", http.StatusOK, "docker-compose -p shop start web")
	v.began(v.post(stack+"/action", "action", "start"))
	v.get(stack).Is(t, "started", http.StatusOK, "docker-compose -p shop restart</code>", "compose.yaml")
	v.post(svc+"/action", "action", "explode").Is(t, "no action", http.StatusBadRequest)
	scan := v.began(v.post("/stacks/scan", "stack", web.StackID))
	v.get("/queue/"+scan.ID).Is(t, "the scan", http.StatusOK, "1 services looked at")

	for _, at := range []struct{ path, done, page string }{{svc, "The service is archived.", svc},
		{stack, "The stack is archived.", "/stacks"}} {
		p := v.post(at.path + "/archive")
		if p.Header.Get("Location") != at.page {
			t.Errorf("%s leads to %s", at.path, p.Header.Get("Location"))
		}
		v.get(at.page).Is(t, at.path, http.StatusOK, at.done)
		v.get(at.path).Is(t, at.path+" archived", http.StatusOK, "Archived by a person", at.path+"/restore")
		v.post(at.path+"/restore").Is(t, at.path, http.StatusSeeOther)
		v.get(at.path).Lacks(t, at.path+" restored", "Archived by a person")
	}
	v.post("/discovery/archive", "project", "shop").Is(t, "a project", http.StatusSeeOther)
	v.get("/discovery").Lacks(t, "without the archived", stack+`"`)
	v.get("/discovery?archived=only").Is(t, "the archived", http.StatusOK, "shop", "Restore", "archived")
	v.post("/discovery/restore", "project", "shop").Is(t, "a project", http.StatusSeeOther)
	v.post("/discovery/archive", "project", "none").Is(t, "no project", http.StatusNotFound)
	v.get("/services/stk_none/"+web.ID).Is(t, "another stack", http.StatusNotFound)
	v.post("/services/stk_none/"+web.ID+"/archive").Is(t, "another stack", http.StatusNotFound)
}

// TestServiceSettings changes what people set for a service, and refuses what is not valid.
func TestServiceSettings(t *testing.T) {
	s, v, web := lived(t, "/")
	svc := "/services/" + web.StackID + "/" + web.ID
	v.post(svc+"/settings", "healthTimeoutSeconds", "45", "minimumAgeSeconds", "", "repo_url", "https://code.example/acme/web",
		"mount.0.name", "shop_data", "mount.0", "force").
		Is(t, "settings", http.StatusSeeOther)
	set := s.find("shop", "web").Settings
	if set.AutoRollback || *set.HealthTimeout != 45 || set.MinAge != nil || *set.RepoURL != "https://code.example/acme/web" ||
		set.BackupTargets.VolumeNames["shop_data"] != "force" {
		t.Errorf("stored: %+v", set)
	}
	v.get(svc).Is(t, "settings", http.StatusOK, "https://code.example/acme/web", `value="45"`)
	for _, bad := range [][]string{{"healthTimeoutSeconds", "x"}, {"healthTimeoutSeconds", "0"}, {"minimumAgeSeconds", "-1"},
		{"repo_url", "javascript:alert(1)"}, {"mount.0.name", "shop_data", "mount.0", "x"}} {
		v.post(svc+"/settings", bad...).Is(t, strings.Join(bad, " "), http.StatusBadRequest)
	}
	v.post(svc+"/ignores", "kind", "regex", "value", "(", "note", "why").Is(t, "a bad pattern", http.StatusBadRequest, `open data-dialog`,
		`id="value-error"`, `value="("`, `value="why"`)
	rules, err := s.service.IgnoreRules(t.Context(), web.ID)
	must(t, err)
	if len(rules) != 1 {
		t.Fatalf("rules: %+v", rules)
	}
	v.post(svc+"/ignores/delete", "rule", rules[0].ID).Is(t, "a rule", http.StatusSeeOther)
	v.get(svc).Is(t, "no rule", http.StatusOK, "No rule: every new version counts.")

	list, err := s.service.ListBackups(t.Context(), web.ID)
	must(t, err)
	if len(list) != 1 || !list[0].Restorable {
		t.Fatalf("backups: %+v", list)
	}
	v.post(svc+"/restore-backup", "backup", list[0].ID, "confirm_name", "shop").Is(t, "another name", http.StatusBadRequest,
		"Type the name to confirm")
	v.post(svc+"/restore-backup", "backup", "bkp_none", "confirm_name", "web").Is(t, "no backup", http.StatusNotFound)
	restored := v.began(v.post(svc+"/restore-backup", "backup", list[0].ID, "confirm_name", "web"))
	v.get("/queue/"+restored.ID).Is(t, "the restore", http.StatusOK, "shop_data was replaced.")
	v.post(svc+"/inference", "digest", web.Image.Digest, "back", "//evil.example").Is(t, "inference", http.StatusSeeOther)
	if p := v.post(svc+"/inference", "digest", web.Image.Digest, "back", "//evil.example"); p.Header.Get("Location") != svc {
		t.Errorf("it leads to %s", p.Header.Get("Location"))
	}
	v.get(svc+"?window=9y").Is(t, "no window", http.StatusBadRequest)
}

// TestSettings changes each part of the settings and leaves the others alone.
func TestSettings(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	read := func() service.SystemSettings {
		set, err := s.service.SystemSettings(t.Context())
		must(t, err)
		return set
	}
	before, dir := read(), filepath.Join(t.TempDir(), "backups")
	for _, form := range [][]string{
		{"part", "backup", "enabled", "yes", "dir", dir, "limit", "1.5"}, {"part", "monitor", "interval", "30"},
		{"part", "schedules", "check", "yes", "check_cron", "0 4 * * *", "audit_cron", "0 3 * * *"},
		{"part", "instance", "url", "https://patchbay.example.com"},
	} {
		v.post("/settings", form...).Is(t, form[1], http.StatusSeeOther)
	}
	set := read()
	if set.Backup.BaseDir != dir || set.Backup.SkipOverBytes != 3<<19 || set.Backup.RequireSuccess || !set.Backup.Enabled {
		t.Errorf("backup: %+v, before %+v", set.Backup, before.Backup)
	}
	if set.Monitor.Enabled || set.Monitor.SampleInterval != 30 || !set.Schedules.UpdateCheck.Enabled || set.Schedules.WebhookAudit.Enabled ||
		*set.Instance.PublicBaseURL != "https://patchbay.example.com/" {
		t.Errorf("the rest: %+v", set)
	}
	v.get("/settings").Is(t, "settings", http.StatusOK, "The settings are saved.", dir, `value="1.5"`, "https://patchbay.example.com/")
	for _, form := range [][]string{
		{"part", "none"}, {"part", "backup", "dir", "relative"}, {"part", "backup", "dir", "/a", "limit", "much"},
		{"part", "monitor", "interval", "7"},
		{"part", "schedules", "check", "yes", "check_cron", "often"}, {"part", "instance", "url", "ftp://x"},
	} {
		v.post("/settings", form...).Is(t, strings.Join(form, " "), http.StatusBadRequest)
	}
	v.SetLanguage("zh")
	v.post("/settings", "part", "schedules", "check", "yes", "check_cron", "often").Is(t, "in Chinese", http.StatusBadRequest,
		"时间表无效", `id="check_cron-error"`, `value="often"`)
	v.SetLanguage("en")
	v.post("/deploy-check/welcome").Is(t, "welcome", http.StatusSeeOther)
	if w, err := s.service.Welcome(t.Context()); err != nil || !w.NeverAutoOpen {
		t.Errorf("welcome %+v, %v", w, err)
	}
	v.post("/deploy-check/refresh").Is(t, "refresh", http.StatusSeeOther)
	web := s.project("shop", "web", webRepo)
	v.get("/services/"+web.StackID+"/"+web.ID).Is(t, "without samples", http.StatusOK, "Resources are not sampled", "/settings#monitor")
}

// TestHooks sets package webhooks up and takes them away again.
func TestHooks(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	s.hosted("acme/web")
	const callback = "https://patchbay.example/api/webhooks/host-packages"
	v.get("/host-packages").Is(t, "at first", http.StatusOK, "The webhooks are switched off.", "No repository is tracked",
		"No webhooks received yet")
	v.post("/host-packages/settings", "enabled", "yes", "callback", callback).Is(t, "without a token", http.StatusBadRequest,
		"access token is not set")
	v.post("/host-packages/settings", "enabled", "yes", "callback", "http://patchbay.example/", "pat", "planted-token").Is(t, "not https",
		http.StatusBadRequest, `id="callback-error"`, `value="http://patchbay.example/"`)
	v.post("/host-packages/settings", "enabled", "yes", "callback", callback, "pat", "planted-token").Is(t, "settings", http.StatusSeeOther)
	p := v.get("/host-packages")
	p.Is(t, "settings", http.StatusOK, "A token is set.", callback)
	p.Lacks(t, "settings", "planted-token")
	v.post("/host-packages/sync").Is(t, "nothing selected", http.StatusBadRequest)
	v.post("/host-packages/targets", "input", "acme/web").Is(t, "a target", http.StatusSeeOther)
	v.get("/host-packages").Is(t, "a target", http.StatusOK, "acme/web is tracked, with 1 new repositories.", "not selected")
	v.post("/host-packages/repos/bulk", "q", "acme", "selected", "", "to", "selected").Is(t, "all", http.StatusSeeOther)
	sync := v.began(v.post("/host-packages/sync", "repo", "acme/web"))
	v.get("/queue/"+sync.ID).Is(t, "the sync", http.StatusOK, "acme/web")
	if hooks := s.codeHost.HooksOf("acme/web"); len(hooks) != 1 {
		t.Fatalf("hooks %+v", hooks)
	}
	all := v.began(v.post("/host-packages/sync"))
	v.get("/queue/"+all.ID).Is(t, "the sync of all", http.StatusOK, "unchanged")
	v.get("/host-packages/conflict?repo=acme/web").Is(t, "no conflict", http.StatusOK, "There is no conflict any more")
	v.get("/host-packages/conflict?repo=acme/none").Is(t, "no repository", http.StatusBadRequest)

	second := s.codeHost.AddHook("acme/web", hookSpec(callback))
	v.began(v.post("/host-packages/sync"))
	v.get("/host-packages").Is(t, "a conflict", http.StatusOK, "duplicates", "Choose one…")
	v.get("/host-packages/conflict?repo=acme/web").Is(t, "a conflict", http.StatusOK, second, "Keep this one, delete the others")
	first := s.codeHost.HooksOf("acme/web")[0].ID
	v.post("/host-packages/conflict", "repo", "acme/web", "keep", first, "hook", first, "hook", second).Is(t, "nothing typed",
		http.StatusBadRequest, "Type the name to confirm")
	v.post("/host-packages/conflict", "repo", "acme/web", "keep", first, "hook", first, "hook", second, "confirm_name", "acme/web").Is(t,
		"the choice", http.StatusSeeOther)
	if hooks := s.codeHost.HooksOf("acme/web"); len(hooks) != 1 || hooks[0].ID != first {
		t.Errorf("hooks %+v", hooks)
	}

	v.post("/host-packages/repos/select", "repo", "acme/web").Is(t, "leave alone", http.StatusSeeOther)
	gone := v.began(v.post("/host-packages/repos/delete", "repo", "acme/web"))
	if gone.Status != "success" || len(s.codeHost.HooksOf("acme/web")) != 0 {
		t.Errorf("the deletion ends %s with the hooks %+v", gone.Status, s.codeHost.HooksOf("acme/web"))
	}
	v.post("/host-packages/targets/remove", "input", "acme/web").Is(t, "no target", http.StatusSeeOther)
	v.get("/host-packages").Is(t, "at the end", http.StatusOK, "No repositories tracked yet.")
}

// TestCancel cancels a job that is under way.
func TestCancel(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	s.project("shop", "web", webRepo)
	entered, release := s.engine.Hold("containers")
	defer release()
	p := v.post("/stacks/check")
	<-entered
	id := strings.TrimPrefix(p.Header.Get("Location"), "/queue/")
	v.post("/queue/"+id+"/cancel").Is(t, "cancel", http.StatusSeeOther)
	if j := s.ended(id); j.Status != "canceled" {
		t.Errorf("it ends %s", j.Status)
	}
	v.get("/queue/"+id).Is(t, "cancelled", http.StatusOK, "The job is being cancelled.", "cancelled")
	v.post("/queue/"+id+"/cancel").Is(t, "again", http.StatusConflict)
	v.post("/queue/job_none/cancel").Is(t, "no job", http.StatusNotFound)
}
