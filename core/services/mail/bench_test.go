package mail

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// benchMessages is how many messages there are, in benchMailboxes mailboxes of one user.
	benchMessages, benchMailboxes = 1_000_000, 1000
	// benchWords is the size of the vocabulary.
	benchWords = 2000
)

// benchQueries are the searches of BenchmarkMillion by name, and benchQueriesRead those after all messages were read.
var (
	benchQueries = map[string]string{
		"rare": "number500000", "common": "order", "two": "order meeting", "phrase": `"order invoice"`, "subject": "subject:garden",
		"sender": "from:ada report", "excluded": "order -meeting", "without": "-order",
		"before": "order before:2020-09-14", "missing": "nowhere", "prefix": "or*", "code": "order has:code", "code-alone": "has:code",
		"attachment-alone": "has:attachment", "code-attachment": "has:code has:attachment",
		"tag-none": "order tag:none", "tag-few": "spring tag:few", "is-read": "is:read", "is-read-word": "order is:read",
		"is-read-without": "-order is:read", "is-read-tag": "is:read tag:few",
	}
	benchQueriesRead = map[string]string{"is-unread": "is:unread", "is-unread-word": "order is:unread"}
)

// vocabulary returns words, the common ones first.
func vocabulary() (all []string) {
	stems := strings.Fields("order invoice meeting report travel account engine pattern delivery machine garden letter market season window planet river forest signal thread " +
		"castle museum bridge harbor island copper silver marble canvas violin guitar pepper orange walnut maple cedar winter summer spring autumn")
	endings := strings.Fields("s ing ed er ly ness ful less able ment ship hood dom ist ism ize fy ward wise like some age al ance ant ar ary ate cy ee en ence ent ery ess est")
	for _, ending := range append([]string{""}, endings...) {
		for _, stem := range stems {
			all = append(all, stem+ending)
		}
	}
	for n := len(all); n < benchWords; n++ {
		all = append(all, fmt.Sprintf("word%d", n))
	}
	return all[:benchWords]
}

// seedMessages fills the database with a number of messages of a dozen words each, of which a few are common and most are rare.
func seedMessages(b testing.TB, r *receiver, messages int) {
	b.Helper()
	r.must(r.store.Tx(context.Background(), "seed", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		if err := w.Exec("CREATE TEMPORARY TABLE bench_words (i INTEGER PRIMARY KEY, w TEXT NOT NULL)").Error; err != nil {
			return err
		}
		for i, word := range vocabulary() {
			if err := w.Exec("INSERT INTO bench_words VALUES (?, ?)", i, word).Error; err != nil {
				return err
			}
		}
		for _, statement := range seedStatements(r.store.Dialect(), messages) {
			if err := w.Exec(statement).Error; err != nil {
				return err
			}
		}
		return nil
	}))
	r.vacuum()
}

// seedStatements returns the statements that make mailboxes, messages and the words of the index.
func seedStatements(d store.Dialect, messages int) []string {
	blob, index, document := "BLOB", "INSERT INTO mail_search (docid, subject, sender, recipient, body)",
		"lower(m.subject), 'ada lovelace ada example com', 'box inbox test', %s"
	if d == store.Postgres {
		blob, index = "BYTEA", "INSERT INTO mail_search (seq, doc)"
		document = "setweight(to_tsvector('simple', m.subject), 'A') || setweight(to_tsvector('simple', 'ada lovelace ada example com'), 'B') || setweight(to_tsvector('simple', 'box inbox test'), 'C') || setweight(to_tsvector('simple', %s), 'D')"
	}
	numbers := fmt.Sprintf("(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c) AS numbers",
		messages)
	// The product of two indexes makes low ones, and so some words, more frequent.
	word := func(n string, salt int) string {
		return fmt.Sprintf("(SELECT w FROM bench_words WHERE i = ((%s * %d) %% 44) * ((%s * %d) %% 45))", n, salt, n, salt*7+3)
	}
	var body []string
	for salt := range 12 {
		body = append(body, word("m.seq", 2*salt+11))
	}
	return []string{
		`INSERT INTO mail_mailboxes (id, domain_id, owner_id, local_part, mail_domain, address, source, status, created_at, created_via)
		 SELECT 'mbx' || n, (SELECT id FROM mail_domains WHERE name = 'inbox.test'), 'ada', 'box' || n, 'inbox.test', 'box' || n || '@inbox.test', 'registered', 'active', 1, 'web' FROM ` + numbers + fmt.Sprintf(" WHERE n <= %d", benchMailboxes),
		`INSERT INTO mail_tags (mailbox_id, tag, position) VALUES ('mbx1', 'few', 0)`,
		`INSERT INTO mail_contents (hash, size) VALUES (CAST('h' AS ` + blob + `), 1)`,
		fmt.Sprintf(`INSERT INTO mail_messages (id, mailbox_id, owner_id, mailbox_address, content_id, hash, size, received_at, envelope_from, envelope_to, message_id, sent_at, subject, preview, from_name,
		 from_address, attachments, has_html, parse_status, parser, code, code_source, read_at, via, client, helo, tls, auth_at, auth)
		 SELECT 'msg_' || n, 'mbx' || (1 + n %% %d), 'ada', 'box' || (1 + n %% %d) || '@inbox.test', (SELECT MAX(id) FROM mail_contents), CAST('h' || n AS %s), 10000, 1600000000000 + n * 1000, 'ada@example.com',
		 'box@inbox.test', n || '@example.com', 1600000000000 + n * 1000, 'Number' || n || ' ' || %s, 'The analytical engine weaves algebraic patterns just as the loom weaves flowers and leaves of many colours', 'Ada Lovelace',
		 'ada@example.com', 0, TRUE, 'parsed', 'stream', '', '', 0, 'smtp', '192.0.2.1', 'client.example.com', 'TLS 1.3', 1, '{}' FROM %s ORDER BY n`, benchMailboxes, benchMailboxes, blob, word("n", 5), numbers),
		index + " SELECT m.seq, " + fmt.Sprintf(document, strings.Join(body, " || ' ' || ")) + " FROM mail_messages AS m ORDER BY m.seq",
	}
}

// BenchmarkMillion measures lists and searches among a million messages of one user, beside the bare statement that fetches the same
// rows. The figures are medians.
func BenchmarkMillion(b *testing.B) {
	for _, d := range []store.Dialect{store.SQLite, store.Postgres} {
		b.Run(string(d), func(b *testing.B) {
			cfg := testkit.SQLiteConfig(b)
			if d == store.Postgres {
				cfg = testkit.PostgresConfig(b)
			}
			r := newReceiver(b, cfg)
			seedMessages(b, r, benchMessages)
			measureLists(b, r)
			measureSearches(b, r, benchQueries)
			r.changeMessages("UPDATE mail_messages SET read_at = 1")
			measureSearches(b, r, benchQueriesRead)
		})
	}
}

// measureSearches reports how long searches take, by name: those of the user, and those of an administrator, who sees the messages of all.
func measureSearches(b *testing.B, r *receiver, queries map[string]string) {
	for name, query := range queries {
		b.Run("search-"+name, func(b *testing.B) {
			measureMedian(b, func() { r.list(b, query, 0) })
		})
		b.Run("search-"+name+"-admin", func(b *testing.B) {
			measureMedian(b, func() { r.listFor(b, mailbox.Caller{UserID: "root", Admin: true}, query, 0) })
		})
	}
}

// changeMessages executes a statement on the seeded messages, and vacuum.
func (r *receiver) changeMessages(statement string) {
	r.must(r.store.Tx(context.Background(), "change", func(ctx context.Context) error { return r.store.Writer(ctx).Exec(statement).Error }))
	r.vacuum()
}

// vacuum does on PostgreSQL what autovacuum does soon after many changes.
func (r *receiver) vacuum() {
	if r.store.Dialect() == store.Postgres {
		_, err := r.store.DB(context.Background()).Statement.ConnPool.ExecContext(context.Background(), "VACUUM ANALYZE")
		r.must(err)
	}
}

// measureLists reports how long a page takes: one of 50 messages, with the row that tells whether there are more.
func measureLists(b *testing.B, r *receiver) {
	conn := r.store.DB(context.Background()).Statement.ConnPool
	for name, before := range map[string]int64{"newest": benchMessages + 1, "middle": benchMessages / 2} {
		b.Run("raw-"+name, func(b *testing.B) { measureMedian(b, func() { listRaw(b, conn, r.store.Dialect(), before) }) })
		b.Run("list-"+name, func(b *testing.B) {
			measureMedian(b, func() {
				if n := r.list(b, "", before); n != 51 {
					b.Fatalf("got %d rows", n)
				}
			})
		})
		cursor, err := store.EncodeCursor(pageKey{before})
		r.must(err)
		b.Run("http-"+name, func(b *testing.B) {
			measureMedian(b, func() {
				if got := r.call("ada:member", http.MethodGet, "/api/messages?limit=50&cursor="+cursor, ""); strings.Count(got.body,
					`"mailboxId":`) != 50 {
					b.Fatalf("got %d %s", got.status, got.body)
				}
			})
		})
	}
}

// list is listFor for the user to whom all messages belong.
func (r *receiver) list(b testing.TB, text string, before int64) int {
	b.Helper()
	return r.listFor(b, mailbox.Caller{UserID: "ada"}, text, before)
}

// listFor asks the store as the list of messages does, and returns the number of rows.
func (r *receiver) listFor(b testing.TB, caller mailbox.Caller, text string, before int64) int {
	b.Helper()
	query, err := message.ParseQuery(text)
	r.must(err)
	found, err := r.svc.messages.List(context.Background(), message.Filter{
		Caller: caller, Mailboxes: mailbox.Filter{Statuses: []mailbox.Status{mailbox.Active, mailbox.Expired}}, Query: query, BeforeSeq: before,
		Limit: 51,
	})
	r.must(err)
	return len(found)
}

// listRaw fetches the rows of a page, with the columns that it shows, by the bare statement.
func listRaw(b *testing.B, conn gorm.ConnPool, d store.Dialect, before int64) {
	b.Helper()
	rows, err := conn.QueryContext(context.Background(),
		d.Bind("SELECT seq, id, mailbox_id, mailbox_address, size, received_at, subject, preview, from_name, from_address, attachments, "+
			"has_html, parse_status, code, code_source, read_at FROM mail_messages WHERE owner_id = ? AND seq < ? ORDER BY seq DESC LIMIT 51"),
		"ada", before)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(sql.RawBytes)
	}
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(values...); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil || n != 51 {
		b.Fatalf("got %d rows: %v", n, err)
	}
}

// measureMedian calls f again and again and reports the median of its times.
func measureMedian(b *testing.B, f func()) {
	b.Helper()
	f()
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		f()
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
}
