package mail

import (
	"fmt"
	"net/smtp"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// atDesk is the host of the mailboxes that newMailbox makes.
const atDesk = "@desk.inbox.test"

// sendToAll sends one message to several addresses in one transaction.
func (r *receiver) sendToAll(subject string, locals ...string) {
	r.Helper()
	to := make([]string, len(locals))
	for i, local := range locals {
		to[i] = local + atDesk
	}
	r.must(smtp.SendMail(r.svc.SMTPAddresses()[0], nil, "bounce@example.com", to,
		fmt.Appendf(nil, "Subject: %s\r\n\r\nYour code is 482913\r\n", subject)))
}

// queryOf returns the parameters that choose addresses.
func queryOf(locals ...string) string {
	query := url.Values{}
	for _, local := range locals {
		query.Add("mailbox", local+atDesk)
	}
	return query.Encode()
}

// TestOneMessageForEachAddress: a mailbox gets a message for each address of a transaction that leads to it, and each address finds its
// own.
func TestOneMessageForEachAddress(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "name")
		r.newMailbox("ada", "other")
		for number, c := range []struct{ to, want []string }{
			{[]string{"name"}, []string{"name"}},
			{[]string{"name", "name+sign"}, []string{"name", "name+sign"}},
			{[]string{"name+sign", "name"}, []string{"name", "name+sign"}},
			{[]string{"name+a", "name+b"}, []string{"name+a", "name+b"}},
			{[]string{"name", "other", "name+a", "other+a"}, []string{"name", "name+a", "other", "other+a"}},
			{[]string{"name", "Name", `"name"`}, []string{"name"}},
			{[]string{"name+a", "NAME+A"}, []string{"name+a"}},
		} {
			for _, via := range []string{"smtp", "http"} {
				subject := fmt.Sprintf("number%d%s", number, via)
				if via == "smtp" {
					r.sendToAll(subject, c.to...)
				} else {
					raw, to := "Subject: "+subject+"\r\n\r\nYour code is 482913\r\n", strings.Join(c.to, atDesk+",")+atDesk
					// A repetition is answered as the first one.
					first, again := r.post(to, raw, inboundSecret, "X-Patchbay-Delivery", subject),
						r.post(to, raw, inboundSecret, "X-Patchbay-Delivery", subject)
					if first.status != 200 || len(first.list("accepted")) != len(c.want) || first.body != again.body {
						t.Errorf("%v: %d %s, again %s", c.to, first.status, first.body, again.body)
					}
				}
				var got []string
				for _, item := range r.get("ada:member", "/api/messages?q=subject:"+subject).list("messages") {
					named := r.get("ada:member", "/api/messages/"+item["id"].(string)).json["message"].(map[string]any)["envelopeTo"].(string)
					got = append(got, strings.TrimSuffix(named, atDesk))
				}
				if slices.Sort(got); !slices.Equal(got, c.want) {
					t.Errorf("%v by %s: messages to %v", c.to, via, got)
				}
				for _, local := range c.want {
					if got := r.call("ada:member", "GET", "/api/messages/code?"+queryOf(local), ""); got.status != 200 || got.json["code"] != "482913" {
						t.Errorf("%v by %s: the code of %s: %d %s", c.to, via, local, got.status, got.body)
					}
				}
			}
		}
	})
}

// TestChoiceOfTagged: each address of a choice adds its own messages, in a list, in a wait and in a search, and those who see no mailbox
// of an address get none.
func TestChoiceOfTagged(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "name")
		r.newMailbox("ada", "other")
		r.newMailbox("ada", "third")
		for _, local := range []string{"name", "name+a", "name+b", "other", "other+a", "third"} {
			r.sendToAll("to "+local, local)
		}
		// Somebody else's mailbox of the whole address hides no mail that came before.
		r.newMailbox("bob", "name+b")
		for _, c := range []struct {
			user         string
			choice, want []string
		}{
			{"ada", []string{"name+a"}, []string{"name+a"}},
			{"ada", []string{"name+b"}, []string{"name+b"}},
			{"ada", []string{"name+a", "name+b"}, []string{"name+a", "name+b"}},
			{"ada", []string{"name+zzz", "other"}, []string{"other", "other+a"}},
			{"ada", []string{"other", "name+a"}, []string{"name+a", "other", "other+a"}},
			{"ada", []string{"name+a", "other+a", "third"}, []string{"name+a", "other+a", "third"}},
			{"ada", []string{"name", "name+a"}, []string{"name", "name+a", "name+b"}},
			{"ada", []string{"name+zzz", "none"}, nil},
			{"bob", []string{"name+a", "name+b", "other"}, nil},
			{"root", []string{"name+a", "other"}, []string{"name+a", "other", "other+a"}},
		} {
			user := c.user + ":member"
			if c.user == "root" {
				user = "root:admin"
			}
			for _, more := range []string{"", "&q=code", "&q=subject:to", "&q=has:code", "&wait=1"} {
				if more == "&wait=1" && c.want == nil {
					continue
				}
				var got []string
				for _, item := range r.get(user, "/api/messages?"+queryOf(c.choice...)+more).list("messages") {
					got = append(got, strings.TrimPrefix(item["subject"].(string), "to "))
				}
				if slices.Sort(got); !slices.Equal(got, c.want) {
					t.Errorf("%s chooses %v%s: %v", c.user, c.choice, more, got)
				}
			}
		}
	})
}

// TestWaitForTaggedTellsNothing: a refused wait answers the same whether somebody else has the mailbox or nobody.
func TestWaitForTaggedTellsNothing(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "name")
	r.newMailbox("ada", "name+own")
	for _, path := range []string{"/api/messages?wait=1&", "/api/messages/code?wait=1&"} {
		for _, local := range []string{"name", "name+x", "Name+X", "name+own", "name+own+x", "nobody", "nobody+x", "Nobody+X"} {
			got := r.call("bob:member", "GET", path+queryOf(local), "")
			want := "There is no mailbox " + local + atDesk + ", and no catch-all"
			if text, _ := got.json["message"].(string); got.status != 404 || got.json["field"] != "mailbox" || !strings.HasPrefix(text, want) {
				t.Errorf("%s for %s: %d %s", path, local, got.status, got.body)
			}
		}
	}
}
