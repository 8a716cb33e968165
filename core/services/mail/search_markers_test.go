package mail

import (
	"context"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestSearchForCodesAndAttachments looks at what is found among messages that arrive.
func TestSearchForCodesAndAttachments(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "one")
		r.newMailbox("ada", "two")
		const file = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nTEXT\r\n--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nx\r\n--b--\r\n"
		const secret = "Your verification code: 482913, order"
		for _, m := range []struct{ box, raw string }{
			{"one", "Subject: plain\r\n\r\nAn order, its code and attachment\r\n"},
			{"one", "Subject: code\r\n\r\n" + secret + "\r\n"},
			{"two", "Subject: file\r\n" + strings.Replace(file, "TEXT", "An order", 1)},
			{"two", "Subject: both\r\n" + strings.Replace(file, "TEXT", secret, 1)},
			{"two", "Subject: other\r\n\r\nNothing\r\n"},
		} {
			r.deliver(m.box, m.raw)
		}
		for q, want := range map[string]string{
			"has:code": "both;code;", "has:attachment": "both;file;", "has:code has:attachment": "both;", "has:code -has:attachment": "code;",
			"order has:code": "both;code;", "order -has:code": "file;plain;",
			"-has:code": "other;file;plain;", "-has:attachment": "other;code;plain;", "has:code -order": "", "-order has:attachment": "",
			"-order -has:code": "other;", "subject:code has:code": "code;",
			"order -has:code -has:attachment": "plain;", "has:code before:2020-01-01": "", "¤code -has:code": "plain;", "¤attachment": "plain;",
			"has:code is:unread": "both;code;",
		} {
			if got := r.get("ada:member", "/api/messages?q="+url.QueryEscape(q)).subjects(); got != want {
				t.Errorf("%s: got %s want %s", q, got, want)
			}
		}
		if got := r.get("ada:member", "/api/messages?mailbox=one@desk.inbox.test&q=has:code").subjects(); got != "code;" {
			t.Errorf("in one mailbox: got %s", got)
		}
	})
}

// oldMigrations returns the migrations of the service up to a version.
func oldMigrations(t *testing.T, version string) store.Migrations {
	t.Helper()
	out := Migrations()
	files := fstest.MapFS{}
	err := fs.WalkDir(out.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() > version+"~" {
			return err
		}
		data, err := fs.ReadFile(out.FS, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out.FS = files
	return out
}

// TestMarkersOfOldMessages has a database without markers migrated, and compares searches with a look at the messages that they find
// without what markers are for.
func TestMarkersOfOldMessages(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := &receiver{TB: t, store: testkit.OpenStore(t, cfg, oldMigrations(t, "0003"))}
		change := func(statement string) {
			r.must(r.store.Tx(t.Context(), "seed", func(ctx context.Context) error { return r.store.Writer(ctx).Exec(statement).Error }))
		}
		change("INSERT INTO mail_domains (id, name, binding, status, created_at, updated_at) VALUES ('dom', 'inbox.test', 'settings', 'active', 1, 1)")
		seedMessages(t, r, 2000)
		change("UPDATE mail_messages SET code = '482913' WHERE seq % 7 = 0")
		change("UPDATE mail_messages SET attachments = 2 WHERE seq % 3 = 0")
		r.must(r.store.Migrate(t.Context(), Migrations()))
		messages, err := message.NewStore(r.store)
		r.must(err)
		list := func(text string) []message.Summary {
			query, err := message.ParseQuery(text)
			r.must(err)
			found, err := messages.List(t.Context(), message.Filter{Caller: mailbox.Caller{UserID: "ada"}, Query: query, Limit: 2000})
			r.must(err)
			return found
		}
		found := 0
		for _, words := range []string{"", "order", "-order", "subject:order"} {
			all := list(words)
			for has, fits := range map[string]func(message.Summary) bool{
				"has:code": func(m message.Summary) bool { return m.Code != "" }, "-has:code": func(m message.Summary) bool { return m.Code == "" },
				"has:attachment":          func(m message.Summary) bool { return m.Attachments > 0 },
				"-has:attachment":         func(m message.Summary) bool { return m.Attachments == 0 },
				"has:code has:attachment": func(m message.Summary) bool { return m.Code != "" && m.Attachments > 0 },
			} {
				var want []message.Summary
				for _, m := range all {
					if fits(m) {
						want = append(want, m)
					}
				}
				found += len(want)
				if got := list(words + " " + has); !slices.Equal(got, want) {
					t.Errorf("%s %s: found %d messages, want %d", words, has, len(got), len(want))
				}
			}
		}
		if found == 0 {
			t.Error("nothing is found")
		}
	})
}

// TestMarkersSpareMessages looks at the statements of searches: where the index of words tells what has a code, no message is read for
// that.
func TestMarkersSpareMessages(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		id := r.newMailbox("ada", "box")
		r.deliver("box", "Subject: order\r\n\r\nText\r\n")
		for _, test := range []struct {
			query, mailboxID string
			reads            bool
		}{{"order has:code", "", false}, {"order -has:code", "", false}, {"order has:code", id, true}, {"has:code", "", true},
			{"-order has:code", "", false}, {"-has:code", "", true}, {"has:code", id, true}} {
			query, err := message.ParseQuery(test.query)
			r.must(err)
			f := message.Filter{Caller: mailbox.Caller{UserID: "ada"}, Query: query, Limit: 51}
			if test.mailboxID != "" {
				f.Mailboxes.IDs = []string{test.mailboxID}
			}
			statements := r.statementsWith("mail_messages AS m", func() {
				_, err := r.svc.messages.List(t.Context(), f)
				r.must(err)
			})
			if len(statements) == 0 {
				t.Fatalf("%s in %q asks for no messages", test.query, test.mailboxID)
			}
			last := statements[len(statements)-1].SQL
			if _, conditions, _ := strings.Cut(last, "WHERE"); strings.Contains(conditions, "m.code") != test.reads {
				t.Errorf("%s in %q: %s", test.query, test.mailboxID, last)
			}
		}
	})
}
