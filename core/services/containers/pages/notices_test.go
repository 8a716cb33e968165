package pages

import (
	"net/http"
	"testing"
)

// TestScheduledChecksOff: the list of stacks says so while nothing looks for new versions by itself, and leads to the setting.
func TestScheduledChecksOff(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	v.get("/stacks").Lacks(t, "checks that are on", "Scheduled checks are off")
	v.post("/settings", "part", "schedules", "check_cron", "0 4 * * *", "audit", "yes", "audit_cron", "0 3 * * *").Is(t, "switched off",
		http.StatusSeeOther)
	v.get("/stacks").Is(t, "checks that are off", http.StatusOK, "Scheduled checks are off", `href="/settings#schedules"`)
	v.SetLanguage("zh")
	v.get("/stacks").Is(t, "checks that are off in Chinese", http.StatusOK, "定时检查已关闭")
	v.SetLanguage("en")
	v.post("/settings", "part", "schedules", "check", "yes", "check_cron", "0 4 * * *", "audit", "yes", "audit_cron", "0 3 * * *")
	v.get("/stacks").Lacks(t, "checks that are on again", "Scheduled checks are off")
}
