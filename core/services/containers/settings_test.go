package containers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestSettingsEndpoints goes through ignore rules, settings, and the deploy check.
func TestSettingsEndpoints(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		e.town()
		c := newContract(e)
		c.ignoreRules()
		c.serviceSettings()
		c.systemSettings()
		c.deployCheck()
	})
}

func rule(service, kind, value string) string {
	return body(map[string]any{"scope": map[string]any{"type": "service", "serviceId": service},
		"match": map[string]any{"kind": kind, "value": value}, "note": "n"})
}

func (c *contract) ignoreRules() {
	c.Helper()
	web := c.serviceOf("blog", "web").ID
	var ids []string
	for kind, value := range map[string]string{"exact": "1", "prefix": "1.", "regex": "^1", "semver": "^1"} {
		g := c.call(200, "POST", "/api/ignores", rule(web, kind, value))
		id, _ := g.json["ruleId"].(string)
		ids = append(ids, id)
	}
	g := c.call(200, "GET", "/api/ignores?serviceId="+web, "")
	if n := strings.Count(g.body, `"serviceId":"`+web); n != 4 {
		c.Errorf("%d rules in %s", n, g.body)
	}
	for text, field := range map[string]string{
		rule(web, "regex", "("): "match.value", rule(web, "semver", "x y"): "match.value", rule(web, "fuzzy", "1"): "match.kind",
		rule(web, "exact", ""):        "match.value",
		rule(unknownID, "exact", "1"): "scope.serviceId",
		strings.ReplaceAll(rule(web, "exact", "1"), `"type":"service"`, `"type":"stack"`): "scope.type",
		rule(web, "regex", strings.Repeat("a", 100_000)):                                  "match.value",
	} {
		g := c.refused(400, "invalid_argument", "POST", "/api/ignores", text)
		if g.json["field"] != field {
			c.Errorf("want the field %s: %.300s", field, g.body)
		}
	}
	c.refused(400, "invalid_argument", "DELETE", "/api/ignores", `{}`)
	c.refused(400, "invalid_argument", "DELETE", "/api/ignores", `{"ruleId":""}`, "field", "ruleId")
	for _, id := range ids {
		if g := c.call(200, "DELETE", "/api/ignores", body(map[string]string{"ruleId": id})); g.json["deleted"] != true {
			c.Errorf("the first time: %s", g.body)
		}
		if g := c.call(200, "DELETE", "/api/ignores", body(map[string]string{"ruleId": id})); g.json["deleted"] != false {
			c.Errorf("the second time: %s", g.body)
		}
	}
}

func (c *contract) serviceSettings() {
	c.Helper()
	path := "/api/services/" + c.serviceOf("blog", "web").ID + "/settings"
	c.call(200, "PUT", path, `{"autoRollback":false,"backupTargets":{"bindPaths":{"/srv/x":"force"},"volumeNames":{"data":"skip"}},"repoUrl":"https://code.example/acme/web","healthTimeoutSeconds":30,"minimumAgeSeconds":60}`)
	g := c.call(200, "GET", path, "")
	for _, want := range []string{`"autoRollback":false`, `"/srv/x":"force"`, `"data":"skip"`, `"repoUrl":"https://code.example/acme/web"`,
		`"healthTimeoutSeconds":30`, `"minimumAgeSeconds":60`} {
		if !strings.Contains(g.body, want) {
			c.Errorf("no %s in %s", want, g.body)
		}
	}
	full := c.call(200, "GET", path, "").body
	c.call(200, "PUT", path, `{}`)
	if g := c.call(200, "GET", path, ""); g.body != full {
		c.Errorf("what was left out: %s, before %s", g.body, full)
	}
	c.call(200, "PUT", path, `{"autoRollback":true,"repoUrl":null,"healthTimeoutSeconds":null,"minimumAgeSeconds":null}`)
	if g := c.call(200, "GET", path, ""); !strings.Contains(g.body, `"repoUrl":null`) || !strings.Contains(g.body, `"autoRollback":true`) ||
		strings.Contains(g.body, ":30") || strings.Contains(g.body, ":60") || !strings.Contains(g.body, `"/srv/x":"force"`) {
		c.Errorf("cleared: %s", g.body)
	}
	for text, field := range map[string]string{
		`{"healthTimeoutSeconds":0}`: "healthTimeoutSeconds", `{"healthTimeoutSeconds":3601}`: "healthTimeoutSeconds",
		`{"minimumAgeSeconds":-1}`:       "minimumAgeSeconds",
		`{"minimumAgeSeconds":31536001}`: "minimumAgeSeconds", `{"repoUrl":"ftp://x"}`: "repoUrl",
		`{"repoUrl":"https://a:b@code.example/x"}`: "repoUrl", `{"repoUrl":"nonsense"}`: "repoUrl",
		`{"backupTargets":{"bindPaths":{"/x":"never"},"volumeNames":{}}}`: "backupTargets.bindPaths",
		`{"backupTargets":{"bindPaths":{},"volumeNames":{"":"skip"}}}`:    "backupTargets.volumeNames",
		`{"autoRollback":"yes"}`: "autoRollback",
	} {
		c.refused(400, "invalid_argument", "PUT", path, text, "field", field)
	}
	c.refused(404, "not_found", "PUT", "/api/services/"+unknownID+"/settings", `{"autoRollback":true}`)
}

func (c *contract) systemSettings() {
	c.Helper()
	backup := `"backup":{"enabled":false,"requireSuccess":true,"baseDir":` + body(filepath.Join(c.dir, "backups")) +
		`,"skipTargetsOverBytes":5}`
	if g := c.call(200, "GET", "/api/settings", ""); !strings.Contains(g.body, `"publicBaseUrl":null`) ||
		!strings.Contains(g.body, `"currentUser":"ann@example.com"`) {
		c.Errorf("the first settings: %s", g.body)
	}
	for given, want := range map[string]string{
		`"https://a.example"`: `"https://a.example/"`, `"  http://a.example/x/ "`: `"http://a.example/x/"`, `""`: `null`, `null`: `null`,
		`"   "`: `null`,
	} {
		c.call(200, "PUT", "/api/settings", `{`+backup+`,"instance":{"publicBaseUrl":`+given+`}}`)
		if g := c.call(200, "GET", "/api/settings", ""); !strings.Contains(g.body, `"publicBaseUrl":`+want) {
			c.Errorf("%s becomes %s", given, g.body)
		}
	}
	c.call(200, "PUT", "/api/settings", `{`+backup+`,"resourceMonitor":{"enabled":false,"sampleIntervalSeconds":30},"schedules":{"updateCheck":{"enabled":true,"cron":"*/5 * * * *"}}}`)
	g := c.call(200, "GET", "/api/settings", "")
	for _, want := range []string{`"sampleIntervalSeconds":30`, `"cron":"*/5 * * * *"`, `"cron":"0 3 * * *"`, `"skipTargetsOverBytes":5`} {
		if !strings.Contains(g.body, want) {
			c.Errorf("no %s in %s", want, g.body)
		}
	}
	for text, field := range map[string]string{
		`{` + backup + `,"instance":{"publicBaseUrl":"a.example"}}`:                                     "instance.publicBaseUrl",
		`{` + backup + `,"instance":{"publicBaseUrl":"javascript://x"}}`:                                "instance.publicBaseUrl",
		`{` + backup + `,"resourceMonitor":{"enabled":true,"sampleIntervalSeconds":7}}`:                 "resourceMonitor.sampleIntervalSeconds",
		`{` + backup + `,"schedules":{"updateCheck":{"enabled":true,"cron":"every day"}}}`:              "schedules.updateCheck.cron",
		`{` + backup + `,"schedules":{"ghcrWebhookAudit":{"enabled":true,"cron":"61 * * * *"}}}`:        "schedules.ghcrWebhookAudit.cron",
		`{"backup":{"enabled":true,"requireSuccess":true,"baseDir":"data","skipTargetsOverBytes":5}}`:   "backup.baseDir",
		`{"backup":{"enabled":true,"requireSuccess":true,"baseDir":"/data","skipTargetsOverBytes":-5}}`: "backup.skipTargetsOverBytes",
		`{"backup":{"enabled":true,"requireSuccess":"yes","baseDir":"/data","skipTargetsOverBytes":5}}`: "backup.requireSuccess",
	} {
		c.refused(400, "invalid_argument", "PUT", "/api/settings", text, "field", field)
	}
	before := c.call(200, "GET", "/api/settings", "").body
	for _, text := range []string{`{}`, `{"backup":{}}`, `{"resourceMonitor":{},"schedules":{"updateCheck":{}},"instance":{}}`,
		`{"backup":{"requireSuccess":true}}`, `{"schedules":{"updateCheck":{"enabled":true}}}`} {
		c.call(200, "PUT", "/api/settings", text)
		if g := c.call(200, "GET", "/api/settings", ""); g.body != before {
			c.Errorf("after %s: %s, before %s", text, g.body, before)
		}
	}
	c.call(200, "GET", "/api/deploy-welcome", "")
	c.call(200, "PUT", "/api/deploy-welcome", `{"neverAutoOpen":true}`)
	if g := c.call(200, "GET", "/api/deploy-welcome", ""); g.json["neverAutoOpen"] != true || g.json["updatedAt"] == nil {
		c.Errorf("the welcome: %s", g.body)
	}
	c.refused(400, "invalid_argument", "PUT", "/api/deploy-welcome", `{"neverAutoOpen":"x"}`, "field", "neverAutoOpen")
	c.refused(400, "invalid_argument", "PUT", "/api/deploy-welcome", `{}`)
}

func (c *contract) deployCheck() {
	c.Helper()
	entered, release := c.engine.Hold("info")
	if g := c.call(202, "GET", "/api/deploy-check/report", ""); g.json["status"] != "pending" {
		c.Errorf("without a report: %s", g.body)
	}
	<-entered
	c.call(202, "POST", "/api/deploy-check/report/refresh", "")
	release()
	testkit.Eventually(c, patience, func() bool { return c.send("GET", "/api/deploy-check/report", "").status == 200 }, "the report")
	c.call(200, "GET", "/api/deploy-check/report", "")
}

// TestSettingsAtTheSameTime: changes of different members at the same time all stand.
func TestSettingsAtTheSameTime(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		for round := range 8 {
			limit, interval, url := int64(round+1), []int{5, 10, 30, 60}[round%4], fmt.Sprintf("https://a%d.example/", round)
			changes := []SettingsChange{
				{Backup: &BackupChange{SkipOverBytes: &limit}}, {Monitor: &MonitorChange{SampleInterval: &interval}},
				{Instance: &InstanceChange{PublicBaseURL: api.OptionalText{Set: true, Text: url}}},
			}
			var work sync.WaitGroup
			for _, c := range changes {
				work.Go(func() {
					if err := e.svc.ChangeSettings(context.Background(), c); err != nil {
						t.Error(err)
					}
				})
			}
			work.Wait()
			set, err := e.svc.systemSettings(t.Context())
			e.must(err)
			if set.Backup.SkipOverBytes != limit || set.Monitor.SampleInterval != interval || set.Instance.PublicBaseURL == nil ||
				*set.Instance.PublicBaseURL != url {
				t.Fatalf("round %d: %+v", round, set)
			}
		}
	})
}

// TestBackupDirMustBeWritable: a folder that cannot be written is refused when it is saved, unless it is stored already and
// backups are switched off.
func TestBackupDirMustBeWritable(t *testing.T) {
	e := newEnv(t)
	bad := filepath.Join(e.file("file", ""), "backups")
	put := func(status int, backup string) got {
		t.Helper()
		g := e.send("PUT", "/api/settings", `{"backup":`+backup+`}`)
		if g.status != status || status == 400 && (g.json["field"] != "backup.baseDir" || !strings.Contains(g.body, "cannot be written")) {
			t.Errorf("%s: %d %s", backup, g.status, g.body)
		}
		return g
	}
	put(400, `{"enabled":true,"baseDir":`+body(bad)+`}`)
	put(400, `{"enabled":false,"baseDir":`+body(bad)+`}`)
	set, err := e.svc.systemSettings(t.Context())
	e.must(err)
	if set.Backup.BaseDir == bad || !set.Backup.Enabled {
		t.Errorf("what was refused is stored: %+v", set.Backup)
	}
	set.Backup.BaseDir = bad
	e.must(e.svc.repo.PutSetting(t.Context(), settingSystem, set, e.svc.now()))
	put(400, `{"requireSuccess":false}`)
	put(200, `{"enabled":false}`)
	put(400, `{"enabled":true}`)
	put(200, `{"enabled":true,"baseDir":`+body(filepath.Join(e.dir, "new", "backups"))+`}`)
}
