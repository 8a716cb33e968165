package mail

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestUnknownRulesAreMigrated: a rule that was noted as unknown is one request whose outcome is not known.
func TestUnknownRulesAreMigrated(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := &receiver{TB: t, store: testkit.OpenStore(t, cfg, oldMigrations(t, "0008"))}
		for _, statement := range []string{
			"INSERT INTO mail_domains (id, name, binding, status, created_at, updated_at) VALUES ('dom', 'inbox.test', 'settings', 'active', 1, 1)",
			`INSERT INTO mail_mailboxes (id, domain_id, owner_id, local_part, mail_domain, address, source, status, created_at, created_via, rule_id)
			 VALUES ('a', 'dom', 'ada', 'a', 'inbox.test', 'a@inbox.test', 'registered', 'active', 1, 'web', 'unknown'),
			        ('b', 'dom', 'ada', 'b', 'inbox.test', 'b@inbox.test', 'registered', 'active', 1, 'web', 'rule-1')`,
		} {
			r.must(r.store.Tx(t.Context(), "seed", func(ctx context.Context) error { return r.store.Writer(ctx).Exec(statement).Error }))
		}
		r.must(r.store.Migrate(t.Context(), Migrations()))
		for id, want := range map[string]mailbox.Mailbox{"a": {RuleRequests: 1}, "b": {RuleID: "rule-1"}} {
			got, err := mailbox.NewStore(r.store).FindMailbox(t.Context(), id)
			r.must(err)
			if got.RuleID != want.RuleID || got.RuleRequests != want.RuleRequests {
				t.Errorf("%s: the rule is %q after %d requests", id, got.RuleID, got.RuleRequests)
			}
		}
	})
}
