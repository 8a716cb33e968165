package mail

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fillMail makes 20,000 mailboxes, of which one in fifty is not destroyed, with a tag for each, and 40,000 messages in those that are
// active, of which few have a code. The domains are as few as people add, and need no index.
func (r *receiver) fillMail() {
	r.Helper()
	bytes := "BLOB"
	if r.store.Dialect() == store.Postgres {
		bytes = "BYTEA"
	}
	now := time.Now().UnixMilli()
	for _, f := range []struct {
		// In values, ? is the time.
		table, columns, values string
		count                  int
	}{
		{"mail_mailboxes", "id, domain_id, owner_id, local_part, mail_domain, address, source, status, created_at, expires_at, created_via",
			"'mbx' || i, (SELECT id FROM mail_domains), 'usr' || (i / 50 % 10), 'box' || i, 'inbox.test', 'box' || i || '@inbox.test', CASE WHEN i % 100 = 0 THEN 'registered' ELSE 'catch_all' END, " +
				"CASE WHEN i % 50 = 0 THEN 'active' ELSE 'destroyed' END, ? - i, CASE WHEN i % 500 = 0 THEN ? - 1000 ELSE 0 END, 'web'", 20_000},
		{"mail_tags", "mailbox_id, tag, position", "'mbx' || (1 + i % 20000), 'tag' || (i % 999), i % 16", 60_000},
		{"mail_contents", "hash, size", "CAST('h' || i AS " + bytes + "), 1000", 40_000},
		{"mail_chunks", "content_id, number, data", "i, 0, CAST('x' AS " + bytes + ")", 40_000},
		{"mail_messages", "id, mailbox_id, owner_id, mailbox_address, content_id, hash, size, received_at, envelope_from, envelope_to, message_id, sent_at, subject, preview, from_name, from_address, " +
			"attachments, parse_status, parser, code, code_source, read_at, via, client, helo, tls, auth_at, auth",
			"'msg' || i, 'mbx' || (50 + i % 400 * 50), 'usr' || ((1 + i % 400) % 10), 'box' || (50 + i % 400 * 50) || '@inbox.test', i, CAST('h' || i AS " + bytes + "), 1000, ? - 1000 * (50000 - i), '', '', '', 0, 'S', 'P', '', 'a@example.com', " +
				"0, 'parsed', 'stream', CASE WHEN i % 1000 = 0 THEN '482913' ELSE '' END, '', i % 2, 'smtp', '', '', '', 1, '{}'", 40_000},
	} {
		testkit.FillTable(r, r.store, f.table, f.columns, strings.ReplaceAll(f.values, "?", fmt.Sprintf("CAST(%d AS BIGINT)", now)), f.count)
	}
	testkit.Analyze(r, r.store)
}

// TestNoQueryScans: with many messages and mailboxes, of which most are destroyed, every list and look-up finds its rows by an index.
// Left out are counts of mailboxes by state, of which TestLivePlans holds, the look for mailboxes with too many messages, which has to
// count those of all, by an index alone and only where the settings have a limit, and what forgets the rules of a domain that has got
// another provider.
func TestNoQueryScans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg, func(s *Settings) { s.Limits.Retention = 24 * time.Hour })
		r.fillMail()
		ctx, boxes, root := t.Context(), r.svc.mailboxes, mailbox.Caller{UserID: "root", Admin: true}
		inTx := func(f func(context.Context) error) func() error {
			return func() error { return r.store.Tx(ctx, "change", f) }
		}
		received := func(ctx context.Context) error {
			_, err := boxes.SetReceived(ctx, []string{"mbx100", "mbx150"}, time.Now())
			return err
		}
		queries := map[string]func() error{
			"mail for an address": func() error {
				_, err := r.svc.recipients.FindForMail(ctx, "nobody@inbox.test", 0)
				return expectCode(err, mailbox.CodeUnknown)
			},
			"receipt of messages":   inTx(received),
			"unchecked senders":     func() error { _, err := r.svc.messages.Unchecked(ctx, senderBatch); return err },
			"newest message":        func() error { _, err := r.svc.messages.LastSeq(ctx); return err },
			"clean-up":              func() error { _, err := r.svc.cleanUp(ctx, nil, nil); return err },
			"retention":             func() error { _, err := r.svc.deleteOldMessages(ctx, nil, nil); return err },
			"surplus of a mailbox":  func() error { _, err := r.svc.messages.DeleteBefore(ctx, "mbx4000", 20_000); return err },
			"failed clean-ups":      func() error { _, err := boxes.ListCleanupFailures(ctx); return err },
			"destruction":           func() error { _, err := boxes.Destroy(ctx, root, "mbx6000"); return err },
			"mailboxes of a domain": func() error { _, err := boxes.CountLive(ctx, "dom"); return err },
			"unrouted of a domain":  func() error { _, err := boxes.ListUnrouted(ctx, "dom"); return err },
			"end of a catch-all":    inTx(func(ctx context.Context) error { return boxes.ExpireCaught(ctx, "dom", time.Now()) }),
			"messages of a mailbox": func() error { return r.svc.messages.DeleteMailboxMessages(ctx, "mbx5000") },
			"rule of a mailbox":     inTx(func(ctx context.Context) error { return boxes.EndRule(ctx, "mbx100", "rule", time.Now()) }),
		}
		for id, role := range map[string]auth.Role{"usr7": auth.Member, "root": auth.Admin} {
			for name, query := range r.userQueries(id, role) {
				queries[name+" for "+id] = query
			}
		}
		// SQLite names the messages of a list by their alias.
		r.statements.CheckScans(t, r.store, queries, "mail_messages", "m", "mail_contents", "mail_chunks", "mail_mailboxes", "mail_tags")
	})
}

// expectCode returns an error unless it has a code, or is nil.
func expectCode(err error, code fault.Code) error {
	if err != nil && fault.CodeOf(err) == code {
		return nil
	}
	return err
}

// userQueries returns what pages and the API ask for a user.
func (r *receiver) userQueries(id string, role auth.Role) map[string]func() error {
	ctx := auth.With(r.Context(), &auth.Principal{User: auth.User{ID: id, Role: role}, Via: auth.ViaSession})
	caller := mailbox.Caller{UserID: id, Admin: role == auth.Admin, Via: mailbox.ViaWeb}
	// A later page: SQLite calls it a scan if all messages are read from the newest on, although the limit ends that.
	cursor, err := store.EncodeCursor(pageKey{39_000})
	r.must(err)
	messages := func(choice api.MessageChoice, search string) func() error {
		return func() error { _, err := r.svc.Messages(ctx, choice, search, 50, cursor); return err }
	}
	own := fmt.Sprintf("msg%d", map[bool]int{true: 26, false: 36}[caller.Admin])
	queries := map[string]func() error{
		"messages":                     messages(api.MessageChoice{}, ""),
		"messages of active mailboxes": messages(api.MessageChoice{MailboxStatus: []string{"active"}}, ""),
		"messages of the workspace":    messages(api.MessageChoice{Scope: "workspace"}, ""),
		"messages of a mailbox":        messages(api.MessageChoice{MailboxID: []string{"mbx350"}}, ""),
		"messages of an address":       messages(api.MessageChoice{Mailbox: []string{"box350@inbox.test"}}, ""),
		"messages of addresses":        messages(api.MessageChoice{Mailbox: []string{"box350@inbox.test", "box850@inbox.test"}}, ""),
		"messages of a tag":            messages(api.MessageChoice{}, "tag:tag350"),
		"unread messages":              messages(api.MessageChoice{}, "is:unread"),
		"unread messages with a code":  messages(api.MessageChoice{}, "is:unread has:code"),
		"unread messages of some days": messages(api.MessageChoice{}, "is:unread after:2020-01-01"),
		"messages before a day":        messages(api.MessageChoice{}, "before:2020-01-01"),
		"code":                         r.ask(id, role, "/api/messages/code?mailbox=box350@inbox.test", http.StatusNotFound),
		"message events": func() error {
			_, err := r.svc.messages.List(ctx, message.Filter{Caller: caller, Mailboxes: mailbox.Filter{Statuses: mailbox.Workspace()},
				AfterSeq: 39_000, OldestFirst: true, Limit: 200})
			return err
		},
		"mark of a message":     func() error { return r.svc.MarkMessage(ctx, "msg16", true) },
		"end of a message":      func() error { return r.svc.DeleteMessage(ctx, own) },
		"a mailbox":             func() error { _, err := r.svc.Mailbox(ctx, "mbx350"); return err },
		"mailbox of an address": func() error { _, err := r.svc.mailboxes.Resolve(ctx, caller, "box850@inbox.test"); return err },
		"new mailbox": func() error {
			_, err := r.svc.CreateMailbox(ctx, api.MailboxBody{LocalPart: "new-" + caller.UserID, MailDomain: "inbox.test"})
			return err
		},
		"destroyed mailboxes": func() error { _, err := r.svc.Mailboxes(ctx, []string{"destroyed"}, "", 50, ""); return err },
		"tags":                func() error { _, err := r.svc.SetMailboxTags(ctx, "mbx1850", []string{"a", "b"}); return err },
	}
	if !caller.Admin {
		// Among those of all users PostgreSQL expects few messages in mailboxes without a tag, and reads the table while it is small.
		queries["messages without a tag"] = messages(api.MessageChoice{}, "-tag:tag350")
	}
	maps.Copy(queries, r.liveQueries(id, role))
	return queries
}

// ask returns what sends a request to the API as a user, and fails for another status.
func (r *receiver) ask(id string, role auth.Role, path string, status int) func() error {
	return func() error {
		if got := r.call(id+":"+string(role), http.MethodGet, path, ""); got.status != status {
			return fmt.Errorf("%s: %d %s", path, got.status, got.body)
		}
		return nil
	}
}

// liveQueries returns what asks for mailboxes that are not destroyed. Whether an address has a text is looked up in the order of the
// list: that may be all of them.
func (r *receiver) liveQueries(id string, role auth.Role) map[string]func() error {
	out := map[string]func() error{}
	for name, choice := range map[string]string{"mailboxes": "", "active mailboxes": "status=active", "expired mailboxes": "status=expired",
		"mailboxes of the workspace": "scope=workspace", "mailboxes with a tag": "tag=tag350", "mailboxes with a text": "q=box35"} {
		out[name] = r.ask(id, role, "/api/mailboxes?"+choice, http.StatusOK)
	}
	return out
}

// TestLivePlans: what asks for mailboxes that are not destroyed reads none that are.
func TestLivePlans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.fillMail()
		for id, role := range map[string]auth.Role{"usr7": auth.Member, "root": auth.Admin} {
			queries := r.liveQueries(id, role)
			queries["metrics"] = func() error { _, err := r.svc.countMailboxes(t.Context()); return err }
			for name, query := range queries {
				for _, s := range r.statementsWith("mail_mailboxes", func() { r.must(query()) }) {
					plan := testkit.Explain(t, r.store, s)
					whole := !strings.Contains(plan, " INDEX ") && !strings.Contains(plan, "Index")
					if fields := strings.Fields(plan); whole || slices.Contains(fields, "mail_mailboxes_created") ||
						slices.Contains(fields, "mail_mailboxes_owner") {
						t.Errorf("%s for %s: %s\nreads destroyed mailboxes:\n%s", name, id, s.SQL, plan)
					}
				}
			}
		}
	})
}
