package mail

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

// comparedMessages is how many random messages TestSearchEqualsFilter has: of some properties more than are looked at one by one.
const comparedMessages = 3600

// comparedMessage is what a plain filter knows of a random message.
type comparedMessage struct {
	seq              int64
	owner, mailboxID string
	tags             []string
	subject, body    []string
	code, read, file bool
}

// comparedTerms are the parts of random searches, with plain filters that do the same.
var comparedTerms = map[string]func(comparedMessage) bool{
	"order": hasWord("order"), "market": hasWord("market"), "rare": hasWord("rare"), "nowhere": hasWord("nowhere"), "or*": hasPrefix("or"),
	"rar*": hasPrefix("rar"), "ordering*": hasPrefix("ordering"),
	"subject:order": func(m comparedMessage) bool { return slices.Contains(m.subject, "order") },
	"subject:or*":   func(m comparedMessage) bool { return anyPrefix(m.subject, "or") },
	`"order market"`: func(m comparedMessage) bool {
		return strings.Contains(" "+strings.Join(m.subject, " ")+" ", " order market ") ||
			strings.Contains(" "+strings.Join(m.body, " ")+" ", " order market ")
	},
	"from:ada": func(comparedMessage) bool { return true }, "from:order": func(comparedMessage) bool { return false },
	"登录": hasWord("登录"), "登": hasWord("登录"),
	"has:code": func(m comparedMessage) bool { return m.code }, "has:attachment": func(m comparedMessage) bool { return m.file },
	"is:read": func(m comparedMessage) bool { return m.read }, "is:unread": func(m comparedMessage) bool { return !m.read },
	"tag:few": hasTag("few"), "tag:many": hasTag("many"), "tag:none": hasTag("none"),
}

func hasWord(word string) func(comparedMessage) bool {
	return func(m comparedMessage) bool { return slices.Contains(m.subject, word) || slices.Contains(m.body, word) }
}

func hasPrefix(prefix string) func(comparedMessage) bool {
	return func(m comparedMessage) bool { return anyPrefix(m.subject, prefix) || anyPrefix(m.body, prefix) }
}

func anyPrefix(words []string, prefix string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, prefix) })
}

func hasTag(tag string) func(comparedMessage) bool {
	return func(m comparedMessage) bool { return slices.Contains(m.tags, tag) }
}

// addCompared stores random messages of two users. Some properties are frequent and some rare, and change with the age of messages.
func (r *receiver) addCompared(rnd *rand.Rand) (all []comparedMessage) {
	type box struct {
		id, owner string
		tags      []string
	}
	var boxes []box
	for i, tags := range [][]string{{"few"}, {"many"}, {"many"}, {"few", "many"}, nil, {"many"}, {"many"}, nil} {
		owner := []string{"ada", "bob"}[i%2]
		boxes = append(boxes, box{r.newMailbox(owner, fmt.Sprint("box", i), tags...), owner, tags})
	}
	vocabulary := []string{"order", "market", "ordering", "orange", "garden", "river", "登录", "signal"}
	choose := func() (words []string) {
		for range 1 + rnd.IntN(4) {
			words = append(words, vocabulary[rnd.IntN(len(vocabulary))])
		}
		return words
	}
	r.must(r.store.Tx(context.Background(), "seed", func(ctx context.Context) error {
		for i := range comparedMessages {
			// The first mailbox gets few messages.
			b := boxes[rnd.IntN(len(boxes))]
			if b.id == boxes[0].id && rnd.IntN(8) > 0 {
				b = boxes[2]
			}
			m := comparedMessage{owner: b.owner, mailboxID: b.id, tags: b.tags, subject: choose(), body: choose()}
			// Half of the messages are read, the newest all; codes are in few messages, attachments in many old ones.
			m.read, m.code, m.file = i > 3000 || rnd.IntN(2) == 0, rnd.IntN(30) == 0, i < 3000 && rnd.IntN(2) == 0
			if rnd.IntN(100) == 0 {
				m.body = append(m.body, "rare")
			}
			if err := r.addOneCompared(ctx, &m, i); err != nil {
				return err
			}
			all = append(all, m)
		}
		return nil
	}))
	return all
}

// addOneCompared stores a message in the running transaction.
func (r *receiver) addOneCompared(ctx context.Context, m *comparedMessage, number int) error {
	content, err := message.ReadContent(strings.NewReader(strconv.Itoa(number)), r.TempDir())
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	parsed := &rfc822.Parsed{Status: rfc822.ParseOK, Subject: strings.Join(m.subject, " "),
		From: rfc822.Address{Name: "Ada", Address: "ada@example.com"}, Text: strings.Join(m.body, " ")}
	if m.file {
		parsed.Attachments = []rfc822.Attachment{{Number: 1, Filename: "a.pdf"}}
	}
	share := message.Stored{Via: "smtp"}
	if m.code {
		share.Code = "482913"
	}
	added, err := r.svc.messages.Add(ctx, r.svc.messages.PrepareIncoming(content, parsed, share),
		[]message.Delivery{{MailboxID: m.mailboxID, OwnerID: m.owner, Address: "box@desk.inbox.test"}},
		time.UnixMilli(1_900_000_000_000+int64(number)))
	if err != nil {
		return err
	}
	if m.seq = added[0].Seq; m.read {
		return r.store.Writer(ctx).Exec("UPDATE mail_messages SET read_at = 1 WHERE seq = ?", m.seq).Error
	}
	return nil
}

// TestSearchEqualsFilter compares what random searches find among random messages, page by page, with what plain filters choose.
func TestSearchEqualsFilter(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		rnd := rand.New(rand.NewPCG(1, 2))
		all := r.addCompared(rnd)
		slices.Reverse(all)
		r.vacuum()
		var texts []string
		for text := range comparedTerms {
			texts = append(texts, text)
		}
		slices.Sort(texts)
		count, found := 0, 0
		check := func(terms ...string) {
			for _, caller := range []mailbox.Caller{{UserID: "ada"}, {UserID: "root", Admin: true}, {UserID: "bob"}} {
				f := message.Filter{Caller: caller, Limit: []int{7, 51, 400}[rnd.IntN(3)]}
				switch rnd.IntN(4) {
				case 0:
					f.BeforeSeq = all[rnd.IntN(len(all))].seq
				case 1:
					f.AfterSeq = all[rnd.IntN(len(all))].seq
				case 2:
					f.Mailboxes.IDs = []string{all[rnd.IntN(len(all))].mailboxID}
				}
				count++
				found += r.comparePages(t, all, f, terms)
			}
		}
		for _, text := range texts {
			check(text)
			if text != "is:read" && text != "is:unread" {
				check("-" + text)
			}
		}
		for range 250 {
			var terms []string
			for range 2 + rnd.IntN(2) {
				terms = append(terms, []string{"", "", "-"}[rnd.IntN(3)]+texts[rnd.IntN(len(texts))])
			}
			check(terms...)
		}
		if found < 50*count {
			t.Errorf("%d searches find %d messages", count, found)
		}
	})
}

// comparePages compares up to three pages of a search, and one with the oldest first, with the messages that plain filters choose, and
// returns how many messages there are in all.
func (r *receiver) comparePages(t *testing.T, all []comparedMessage, f message.Filter, terms []string) int {
	t.Helper()
	var err error
	f.Query, err = message.ParseQuery(strings.Join(terms, " "))
	r.must(err)
	var want []int64
	for _, m := range all {
		if fitsCompared(m, f, terms) {
			want = append(want, m.seq)
		}
	}
	list := func(f message.Filter, want []int64) {
		t.Helper()
		found, err := r.svc.messages.List(t.Context(), f)
		r.must(err)
		got := make([]int64, len(found))
		for i, m := range found {
			got[i] = m.Seq
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q of %+v in %v, before %d, after %d, the oldest first %v: got %d messages, want %d", terms, f.Caller, f.Mailboxes.IDs,
				f.BeforeSeq, f.AfterSeq, f.OldestFirst, len(got), len(want))
		}
	}
	oldest := f
	oldest.OldestFirst = true
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	list(oldest, reversed[:min(len(want), f.Limit)])
	rest := want
	for range 3 {
		page := rest[:min(len(rest), f.Limit)]
		list(f, page)
		if len(page) == 0 {
			break
		}
		rest, f.BeforeSeq = rest[len(page):], page[len(page)-1]
	}
	return len(want)
}

// fitsCompared reports whether a message is one that a search finds. Of several terms for the same flag the last holds.
func fitsCompared(m comparedMessage, f message.Filter, terms []string) bool {
	fits := (f.Caller.Admin || m.owner == f.Caller.UserID) && (f.BeforeSeq == 0 || m.seq < f.BeforeSeq) && m.seq > f.AfterSeq &&
		(len(f.Mailboxes.IDs) == 0 || slices.Contains(f.Mailboxes.IDs, m.mailboxID))
	last := map[string]bool{}
	for _, term := range terms {
		name, excluded := strings.CutPrefix(term, "-")
		holds := comparedTerms[name](m) != excluded
		switch name {
		case "has:code", "has:attachment":
			last[name] = holds
		case "is:read", "is:unread":
			last["is"] = holds
		default:
			fits = fits && holds
		}
	}
	for _, holds := range last {
		fits = fits && holds
	}
	return fits
}
