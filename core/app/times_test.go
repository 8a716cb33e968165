package app

import (
	"regexp"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// records are columns that only tell when something happened: nothing waits for them or is measured from them.
var records = regexp.MustCompile(`\.(created|updated|deleted|destroyed|disabled|archived|finished|started|ended|sent|received|read|first|last_used|last_seen|last_check|last_sync|last_audit|attempted|published|superseded|provisioned|auth|revoked|starred|state_changed|last)_at$`)

// chosen are times that a person has chosen, or that other code bounds: the reason stands beside each.
var chosen = map[string]string{
	"api_keys.expires_at":              "chosen by whoever made the key",
	"search_tokens.expires_at":         "chosen by whoever made the token",
	"mail_mailboxes.expires_at":        "chosen by whoever made the mailbox",
	"mail_mailboxes.cleanup_at":        "follows expires_at",
	"job_schedules.next_at":            "the queue compares it with the next run after now",
	"release_host_accounts.expires_at": "the code host's own time of a token",
	"release_host_accounts.checked_at": "shown only",
	"mail_domains.checked_at":          "shown only",
	"containers_services.checked_at":   "shown only",
	"containers_snapshots.checked_at":  "shown only",
	"release_host_limits.seen_at":      "shown only",
}

// TestStoredTimesAreRepaired fails for a column of times that nobody has thought about: after a wrong clock it must not keep anything
// waiting.
func TestStoredTimesAreRepaired(t *testing.T) {
	modules := settings.Source{Services: Modules()}.Migrations()
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), modules...)
	var columns []string
	err := st.DB(t.Context()).Raw(`SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose_%' AND (c.name LIKE '%\_at' ESCAPE '\' OR c.name LIKE '%\_until' ESCAPE '\'
		OR c.name IN ('until', 'deadline')) ORDER BY 1`).Scan(&columns).Error
	if err != nil || len(columns) < 50 {
		t.Fatal(columns, err)
	}
	repaired := map[string]bool{}
	for _, m := range modules {
		for _, c := range m.Times {
			name := c.Table + "." + c.Column
			repaired[name] = true
			if !slices.Contains(columns, name) {
				t.Errorf("%s: there is no such column", name)
			}
		}
	}
	for _, c := range columns {
		if !repaired[c] && chosen[c] == "" && !records.MatchString(c) {
			t.Errorf("%s: add it to the Times of its module's migrations, or say here why a wrong clock does no harm", c)
		}
	}
	for c := range chosen {
		if !slices.Contains(columns, c) || repaired[c] {
			t.Errorf("%s: the reason that stands here is of no use", c)
		}
	}
}
