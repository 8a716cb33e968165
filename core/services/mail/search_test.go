package mail

import (
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// searchMessages is how many messages TestSearchOfMany has: more than the newest ones, which are read first.
const searchMessages = 10_000

// TestSearchOfMany compares searches among many messages with a look at each of them.
func TestSearchOfMany(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		seedMessages(t, r, searchMessages)
		// Message n came n seconds after 12:26:40.
		if n := r.list(t, "before:2020-09-13T12:30:00Z", 0); n != 51 {
			t.Errorf("a page before a time has %d messages", n)
		}
		if n := r.list(t, "before:2020-09-13T12:27:10Z", 0); n != 29 {
			t.Errorf("%d messages came before a time", n)
		}
		empty := []string{"nowhere", `"order number44"`, "has:code order"}
		for _, text := range []string{
			"number7", "number9000", "nowhere", "order", "order number44", `"number44 order"`, `"order number44"`, "subject:number1*", "number1*",
			"order -meeting", "-order", "from:ada number2",
			"to:box number2", "order before:2020-09-13T12:30:00Z", "number2* before:2020-09-13T12:30:00Z", "number9* after:2020-09-13T15:00:00Z",
			"order after:2020-09-13T15:10:00Z", "has:code order",
		} {
			for _, before := range []int64{0, searchMessages / 2, 10} {
				for _, f := range []message.Filter{{}, {Mailboxes: mailbox.Filter{IDs: []string{"mbx8"}}},
					{Mailboxes: mailbox.Filter{Addresses: []string{"box8@inbox.test", "box3@inbox.test"}}}} {
					f.BeforeSeq, f.Limit, f.Caller = before, 51, mailbox.Caller{UserID: "ada"}
					found := r.compareSearch(t, text, f)
					if whole := before == 0 && len(f.Mailboxes.IDs)+len(f.Mailboxes.Addresses) == 0; whole &&
						(found == 0) != slices.Contains(empty, text) {
						t.Errorf("%s finds %d messages", text, found)
					}
				}
			}
		}
	})
}

// compareSearch compares a page of a search with the list of all that it finds, and returns the length of the page.
func (r *receiver) compareSearch(t *testing.T, text string, f message.Filter) int {
	t.Helper()
	var err error
	f.Query, err = message.ParseQuery(text)
	r.must(err)
	found, err := r.svc.messages.List(t.Context(), f)
	r.must(err)
	// The oldest first are read in their order on both databases, without a bound.
	f.OldestFirst, f.Limit = true, searchMessages
	all, err := r.svc.messages.List(t.Context(), f)
	r.must(err)
	slices.Reverse(all)
	if want := all[:min(len(all), 51)]; !slices.Equal(found, want) {
		t.Errorf("%s, before %d in %v: found %d messages, want %d", text, f.BeforeSeq, f.Mailboxes, len(found), len(want))
	}
	return len(found)
}

// statementsWith returns the statements with a text in them that f makes.
func (r *receiver) statementsWith(text string, f func()) (out []testkit.Statement) {
	for _, s := range r.statements.During(f) {
		if strings.Contains(s.SQL, text) {
			out = append(out, s)
		}
	}
	return out
}

// TestSearchPlans looks at the plans of PostgreSQL: a frequent word is found by reading the newest messages, a rare one by the index.
func TestSearchPlans(t *testing.T) {
	r := newReceiver(t, testkit.PostgresConfig(t))
	seedMessages(t, r, searchMessages)
	for text, want := range map[string][]bool{"order": {false}, "number7": {false, true}, "order has:code": {false, true}} {
		var got []bool
		var plans string
		for _, s := range r.statementsWith("mail_messages AS m JOIN mail_search", func() { r.list(t, text, 0) }) {
			plan := testkit.Explain(t, r.store, s)
			got, plans = append(got, strings.Contains(plan, "mail_search_words")), plans+plan
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s uses the index of words: %v, want %v\n%s", text, got, want, plans)
		}
	}
}

// TestFlagPlans looks at the plans of searches for what messages are: each has an index, for one owner and for administrators.
func TestFlagPlans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		seedMessages(t, r, searchMessages)
		r.changeMessages("UPDATE mail_messages SET owner_id = CASE WHEN seq % 4 > 1 THEN 'bob' ELSE owner_id END, read_at = 1 - seq % 2, code = CASE WHEN seq % 9 = 0 THEN '482913' ELSE '' END, attachments = CASE WHEN seq % 9 = 1 THEN 1 ELSE 0 END")
		for text, index := range map[string]string{"is:read": "mail_messages_read", "is:unread": "mail_messages_unread",
			"has:code": "mail_messages_code", "has:attachment": "mail_messages_attachments"} {
			for suffix, caller := range map[string]mailbox.Caller{"_by_owner": {UserID: "ada"}, "": {UserID: "root", Admin: true}} {
				for _, s := range r.statementsWith("mail_messages AS m", func() { r.listFor(t, caller, text, 0) }) {
					if plan := testkit.Explain(t, r.store, s); !slices.Contains(strings.Fields(plan), index+suffix) {
						t.Errorf("%s of %+v does not use %s:\n%s", text, caller, index+suffix, plan)
					}
				}
			}
		}
	})
}

// TestNarrowSearches looks at the statements of searches of which few messages fulfil one of the conditions: the index of words is not
// asked.
func TestNarrowSearches(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		seedMessages(t, r, searchMessages)
		r.changeMessages("UPDATE mail_messages SET read_at = 1 WHERE seq % 100 = 0")
		for text, want := range map[string]struct {
			statements int
			narrow     bool
		}{"order is:read": {1, true}, "or* is:read": {1, true}, "-order is:read": {1, true}, "order tag:few": {1, true},
			"order tag:none": {0, true}, "order is:unread": {1, false}} {
			statements := r.statementsWith("mail_search", func() { r.list(t, text, 0) })
			if len(statements) != want.statements {
				t.Errorf("%s asks %d times for words: %v", text, len(statements), statements)
			}
			for _, s := range statements {
				if narrow := strings.Contains(s.SQL, "json_each") || strings.Contains(s.SQL, "BIGINT[]"); narrow != want.narrow {
					t.Errorf("%s looks at few messages: %v\n%s", text, narrow, s.SQL)
				}
			}
		}
	})
}
