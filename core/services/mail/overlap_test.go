package mail_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// post returns a function that posts JSON and fails unless the answer has a status. It may run in any goroutine.
func (s *server) post(status int, key, path, body string) func() error {
	return func() error {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.base+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode != status {
			err = fmt.Errorf("POST %s: got %d %s, want %d", path, res.StatusCode, raw, status)
		}
		return err
	}
}

// TestCatchAllEndsWhileMailboxIsRegistered: a mailbox that is being stored when the catch-all ends gets a rule.
func TestCatchAllEndsWhileMailboxIsRegistered(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	s := startServer(t, cfg, routed)
	at := "/api/domains/" + s.bind()
	s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	// The mailbox is stored, and its tags are not.
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE mail_tags IN ACCESS EXCLUSIVE MODE",
		s.post(201, s.ada, "/api/mailboxes", `{"localPart": "box", "mailDomain": "example.com"}`),
		s.post(200, s.admin, at+"/catch-all/disable", ""))
	must(t, first)
	must(t, second)
	s.wantRules("rules=[box@example.com]")
}

// TestMailboxesOfUserAreLimited: two mailboxes that are made at once count for each other.
func TestMailboxesOfUserAreLimited(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	s := startServer(t, cfg, client.DNSAbilities{Manual: true})
	s.settings.Limits.PerUser = 1
	s.open()
	s.remount()
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE mail_tags IN ACCESS EXCLUSIVE MODE",
		s.post(201, s.ada, "/api/mailboxes", `{"localPart": "one"}`), s.post(409, s.ada, "/api/mailboxes", `{"localPart": "two"}`))
	must(t, first)
	must(t, second)
}

// TestManyMailboxesAreLockedInOneOrder: a message for several mailboxes and the end of the catch-all do not wait for each other, in
// whatever order the database finds the mailboxes.
func TestManyMailboxesAreLockedInOneOrder(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	// One statement finds them by their ids, the other one as they lie in the table.
	cfg.URL += "&enable_seqscan=off&enable_bitmapscan=off"
	s := startServer(t, cfg, client.DNSAbilities{Manual: true})
	at := "/api/domains/" + text(t, s.domain("mail.localhost"), "id")
	s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	ids := make([]string, 3)
	for i := range ids {
		box, err := s.service.FindRecipient(t.Context(), fmt.Sprintf("box%d@mail.localhost", i))
		must(t, err)
		ids[i] = box.MailboxID
	}
	for _, id := range []string{ids[1], ids[0]} {
		must(t, s.store.Tx(t.Context(), "move a mailbox behind the others", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_mailboxes SET cleanup_at = cleanup_at + 1, created_at = created_at + 1 WHERE id = ?",
				id).Error
		}))
	}
	receive := func() error {
		return s.store.Tx(t.Context(), "note that messages have come", func(ctx context.Context) error {
			_, err := mailbox.NewStore(s.store).SetReceived(ctx, ids, s.clock.now())
			return err
		})
	}
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM mail_mailboxes WHERE id = '"+ids[1]+"' FOR UPDATE", receive,
		s.post(200, s.admin, at+"/catch-all/disable", ""))
	must(t, first)
	must(t, second)
}
