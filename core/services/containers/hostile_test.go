package containers

import (
	"fmt"
	"strings"
	"testing"
)

// hostileTexts are strings that nobody means well with.
func hostileTexts() []string {
	return []string{
		"", " ", `\u0000`, `a\u0000b`, `\ud800`, "\u202e\u0000"[:3], "ÿ\u200bé", "日本語", `'; DROP TABLE containers_services; --`,
		"../../etc/passwd", "%00", "{{7*7}}",
		`\"`, strings.Repeat("x", 5000), strings.Repeat("ä", 100), "🐳", "stk_\n", "<script>",
	}
}

// TestHostileBodies: whatever a body holds, the answer is one for the caller's mistakes, and no database takes offence.
func TestHostileBodies(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.town()
		web := e.serviceOf("blog", "web").ID
		templates := map[string][]string{
			"POST /api/ignores": {
				`{"scope":{"type":"service","serviceId":"%s"},"match":{"kind":"exact","value":"1"}}`,
				`{"scope":{"type":"service","serviceId":"` + web + `"},"match":{"kind":"%s","value":"1"}}`,
				`{"scope":{"type":"service","serviceId":"` + web + `"},"match":{"kind":"exact","value":"%s"}}`,
				`{"scope":{"type":"service","serviceId":"` + web + `"},"match":{"kind":"exact","value":"1"},"note":"%s"}`,
			},
			"DELETE /api/ignores": {`{"ruleId":"%s"}`},
			"PUT /api/services/" + web + "/settings": {`{"repoUrl":"%s"}`, `{"repoUrl":"https://a.example/%s"}`,
				`{"backupTargets":{"bindPaths":{"%s":"skip"},"volumeNames":{}}}`},
			"PUT /api/settings": {`{"backup":{"enabled":true,"baseDir":"` + e.dir + `/x/%s"}}`,
				`{"instance":{"publicBaseUrl":"https://a.example/%s"}}`, `{"schedules":{"updateCheck":{"enabled":false,"cron":"%s"}}}`},
			"POST /api/checks": {`{"scope":"%s"}`, `{"scope":"stack","stackId":"%s"}`,
				`{"scope":"service","serviceId":"%s"}`, `{"scope":"service","serviceId":"x","reason":"%s"}`},
			"POST /api/runtime-scans":                                  {`{"scope":"stack","stackId":"%s"}`},
			"POST /api/updates":                                        {`{"scope":"service","serviceId":"%[1]s","targetTag":"%[1]s","targetDigest":"%[1]s","pullTags":["%[1]s"]}`, `{"scope":"stack","stackId":"%[1]s","targets":[{"serviceId":"%[1]s","targetTag":"1","targetDigest":"` + digest(2) + `","pullTags":[]}]}`},
			"POST /api/services/" + web + "/lifecycle":                 {`{"action":"%s"}`},
			"POST /api/services/" + web + "/version-inference/refresh": {`{"digest":"%s"}`},
		}
		for call, bodies := range templates {
			method, path, _ := strings.Cut(call, " ")
			for _, text := range bodies {
				for _, v := range hostileTexts() {
					if g := e.send(method, path, fmt.Sprintf(text, v)); g.status >= 500 || g.status < 200 || g.json == nil {
						t.Errorf("%s with %.60q: %d %.300s", call, v, g.status, g.body)
					}
				}
			}
			for _, text := range hostileBodies() {
				if g := e.send(method, path, text); g.status < 400 || g.status >= 500 || g.json["code"] == nil {
					t.Errorf("%s with the body %.60q: %d %.300s", call, text, g.status, g.body)
				}
			}
		}
	})
}

// hostileBodies are no bodies of any endpoint.
func hostileBodies() []string {
	return []string{
		"null", "7", `"x"`, "[]", "{", `{"scope":`, "\x00",
		`{"scope":{"a":{}},"action":[],"digest":{},"ruleId":[],"match":7,"backup":7,"autoRollback":[]}`, "<xml/>",
		strings.Repeat(`{"scope":`, 20_000), strings.Repeat("[", 100_000), `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "\xff\xfe{}",
	}
}

// TestHostilePaths: the same for what stands in paths and queries.
func TestHostilePaths(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.town()
		values := []string{"%00", "a%00b", "%ff", "%E2%80%AE", "%2e%2e%2f", "'%20OR%201=1--", strings.Repeat("x", 65), strings.Repeat("x", 3000),
			"%F0%9F%90%B3", "-1", "9223372036854775808", "x%0ay"}
		for _, pattern := range []string{
			"GET /api/stacks/%s", "POST /api/stacks/%s/archive", "GET /api/stacks/%s/lifecycle-status", "GET /api/services/%s",
			"POST /api/services/%s/restore", "GET /api/services/%s/settings",
			"GET /api/services/%s/history", "GET /api/services/%s/backups", "GET /api/services/%s/digest-tags",
			"GET /api/services/%s/rollback-target", "POST /api/services/%s/rollback",
			"GET /api/services/%s/resource-usage/history", "GET /api/services/%s/resource-usage/events", "POST /api/backups/%s/restore",
			"GET /api/jobs/%s", "POST /api/jobs/%s/cancel", "GET /api/jobs/%s/events",
			"POST /api/discovery/projects/%s/archive", "POST /api/discovery/projects/%s/restore", "GET /api/stacks?archived=%s",
			"GET /api/jobs?cursor=%s", "GET /api/jobs?type=%s", "GET /api/jobs?status=%s",
			"GET /api/jobs?limit=%s",
		} {
			for _, v := range values {
				method, path, _ := strings.Cut(fmt.Sprintf(pattern, v), " ")
				if g := e.send(method, path, ""); g.status < 400 || g.status >= 500 || g.json["code"] == nil {
					t.Errorf("%s %.80s: %d %.200s", method, path, g.status, g.body)
				}
			}
		}
		for _, pattern := range []string{"/api/jobs?serviceId=%s", "/api/jobs?stackId=%s", "/api/ignores?serviceId=%s",
			"/api/version-inference/overview?q=%s"} {
			for _, v := range values {
				if g := e.send("GET", fmt.Sprintf(pattern, v), ""); g.status >= 500 || g.json == nil {
					t.Errorf("%s: %d %.200s", fmt.Sprintf(pattern, v), g.status, g.body)
				}
			}
		}
	})
}
