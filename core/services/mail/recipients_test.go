package mail

import (
	"fmt"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// sendTo sends a message to a recipient as it stands in the command, and returns the answer to that.
func (r *receiver) sendTo(path, subject string) string {
	r.Helper()
	c, err := textproto.Dial("tcp", r.svc.SMTPAddresses()[0])
	r.must(err)
	defer c.Close()
	answer := func(line string) string {
		if line != "" {
			r.must(c.PrintfLine("%s", line))
		}
		code, text, err := c.ReadResponse(0)
		if err != nil && code == 0 {
			r.Fatal(err)
		}
		return fmt.Sprint(code, " ", text)
	}
	answer("")
	answer("EHLO client")
	answer("MAIL FROM:<> SMTPUTF8")
	got := answer("RCPT TO:" + path)
	if strings.HasPrefix(got, "250") {
		answer("DATA")
		answer("Subject: " + subject + "\r\n\r\nx\r\n.")
	}
	return got
}

// TestCatchAllTakesWhatMailAllows: a catch-all takes every local part that RFC 5321 and RFC 6531 allow.
func TestCatchAllTakesWhatMailAllows(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.catchAll("enable")
		for number, c := range []struct{ to, want string }{
			{"<o'brien@inbox.test>", "o'brien@inbox.test"},
			{"<a&b@inbox.test>", "a&b@inbox.test"},
			{"<SRS0=HHH=TT=other.example=Ada@inbox.test>", "srs0=hhh=tt=other.example=ada@inbox.test"},
			{"<bounce+ada=other.example@inbox.test>", "bounce+ada=other.example@inbox.test"},
			{"<!#$%*/?^_`{|}~-@inbox.test>", "!#$%*/?^_`{|}~-@inbox.test"},
			{"<_a-@desk.inbox.test>", "_a-@desk.inbox.test"},
			{`<"ada lovelace"@inbox.test>`, `"ada lovelace"@inbox.test`},
			{`<"plain"@inbox.test>`, "plain@inbox.test"},
			{`<"a@b"@inbox.test>`, `"a@b"@inbox.test`},
			{`<"a..b"@inbox.test>`, `"a..b"@inbox.test`},
			{`<"a\"b\\c"@inbox.test>`, `"a\"b\\c"@inbox.test`},
			{"<用户@inbox.test>", "用户@inbox.test"},
			{"<JOSE\u0301@inbox.test>", "josé@inbox.test"},
			{"<" + strings.Repeat("x", 64) + "@inbox.test>", strings.Repeat("x", 64) + "@inbox.test"},
			{"<" + strings.Repeat("x", 65) + "@inbox.test>", ""},
			{"<a..b@inbox.test>", ""},
			{"<.a@inbox.test>", ""},
			{"<a.@inbox.test>", ""},
			{"<a@b@inbox.test>", ""},
			{`<"a` + "\x01" + `"@inbox.test>`, ""},
			{"<\xff@inbox.test>", ""},
			{"<postmaster@inbox.test>", ""},
			{`<"Postmaster"@inbox.test>`, ""},
			{"<abuse+tag@inbox.test>", ""},
			{"<postmaster>", ""},
			{"<a@other.test>", ""},
		} {
			subject := fmt.Sprintf("number %d", number)
			got := r.sendTo(c.to, subject)
			if refused := strings.HasPrefix(got, "5"); refused != (c.want == "") {
				t.Errorf("%s: %s", c.to, got)
			}
			if c.want == "" {
				continue
			}
			if got := r.get("root:admin", "/api/messages?mailbox="+url.QueryEscape(c.want)).list("messages"); len(got) != 1 ||
				got[0]["subject"] != subject || got[0]["mailboxAddress"] != c.want {
				t.Errorf("%s: %v", c.to, got)
			}
			if got := r.call("root:admin", "GET", "/api/mailboxes/resolve?address="+url.QueryEscape(c.want), ""); got.status != 200 {
				t.Errorf("%s: %d %s", c.want, got.status, got.body)
			}
		}
		// What people choose has the narrower alphabet still.
		if got := r.call("root:admin", "POST", "/api/mailboxes/ensure", `{"address":"it's@inbox.test"}`); got.status != 400 {
			t.Errorf("chosen: %d %s", got.status, got.body)
		}
	})
}

// TestTags: mail to name+tag@ goes to name@ where there is no mailbox of the whole name, and tells to which address it was sent.
func TestTags(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "name")
		r.newMailbox("ada", "name+own")
		const host = "@desk.inbox.test"
		for number, c := range []struct{ to, mailbox string }{
			{"name", "name"}, {"name+tag", "name"}, {"Name+Tag+More", "name"}, {"name+", "name"}, {"name+own", "name+own"}, {"name+o'brien", "name"},
			{"name+own+more", "name"}, {"other+tag", ""}, {"+name", ""}, {`"name+tag"`, "name"}, {`"name +tag"`, ""},
		} {
			subject := fmt.Sprintf("number %d", number)
			if got := r.sendTo("<"+c.to+host+">", subject); strings.HasPrefix(got, "250") != (c.mailbox != "") {
				t.Errorf("%s: %s", c.to, got)
			}
			if c.mailbox == "" {
				continue
			}
			item := r.get("ada:member", "/api/messages?limit=1").list("messages")[0]
			message := r.get("ada:member", "/api/messages/"+item["id"].(string)).json["message"].(map[string]any)
			named := strings.ToLower(strings.Trim(c.to, `"`)) + host
			if item["subject"] != subject || item["mailboxAddress"] != c.mailbox+host || message["envelopeTo"] != named {
				t.Errorf("%s: %v to %v", c.to, item, message["envelopeTo"])
			}
			// The address chooses what was sent to it.
			if got := r.get("ada:member", "/api/messages?mailbox="+url.QueryEscape(named)).list("messages")[0]; got["subject"] != subject {
				t.Errorf("%s chooses %v", named, got["subject"])
			}
			if got := r.get("ada:member", "/api/messages?q="+url.QueryEscape("to:"+c.mailbox+host+` subject:"`+subject+`"`)).list("messages"); len(got) != 1 {
				t.Errorf("%s: %d messages are found by their mailbox", c.to, len(got))
			}
		}
		if got := r.get("ada:member", "/api/messages?mailbox=name%2Bnew"+host).subjects(); got != "" {
			t.Errorf("nothing was sent to it: %s", got)
		}
		if got := r.post("name+http"+host, "Subject: by HTTP\r\n\r\nx\r\n", inboundSecret); got.status != 200 {
			t.Errorf("by HTTP: %d %s", got.status, got.body)
		}
		if got := r.get("ada:member", "/api/messages?mailbox=name%2Bhttp"+host).subjects(); got != "by HTTP;" {
			t.Errorf("by HTTP: %s", got)
		}
		admin, err := NewAdmin(r.store)
		r.must(err)
		for named, subject := range map[string]string{"name": "by HTTP", "name+http": "by HTTP", "name+tag": "number 9", "name+own": "number 4"} {
			if m, ok, err := admin.NewestMessage(t.Context(), named+host, time.Time{}, false); err != nil || !ok || m.Subject != subject {
				t.Errorf("the newest one to %s is %+v, %v, %v", named, m, ok, err)
			}
		}
		if got := r.get("ada:member", "/api/messages?mailbox=name"+host+"&mailbox=name%2Bhttp"+host).list("messages"); len(got) != 8 {
			t.Errorf("with the whole mailbox: %d messages", len(got))
		}
	})
}

// TestPostmasterWithoutDomain: its mail goes to the postmaster of a domain.
func TestPostmasterWithoutDomain(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	if got := r.sendTo("<postmaster>", "x"); !strings.HasPrefix(got, "550") {
		t.Errorf("without a mailbox: %s", got)
	}
	if got := r.call("root:admin", "POST", "/api/mailboxes/ensure", `{"address":"postmaster@inbox.test"}`); got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for number, path := range []string{"<postmaster>", "<Postmaster>", " <POSTMASTER> NOTIFY=NEVER"} {
		if got := r.sendTo(path, fmt.Sprintf("number %d", number)); strings.HasPrefix(got, "250") == strings.Contains(path, "NOTIFY") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := r.get("root:admin", "/api/messages").list("messages"); len(got) != 2 || got[0]["mailboxAddress"] != "postmaster@inbox.test" {
		t.Errorf("stored: %v", got)
	}
}

// TestWaitForWhatNothingTakes: a wait for addresses that get no mail ends at once.
func TestWaitForWhatNothingTakes(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	box := r.newMailbox("ada", "box")
	for _, path := range []string{"/api/messages?wait=1&", "/api/messages/code?wait=1&"} {
		is := func(user, choice string, takes bool) {
			t.Helper()
			got := r.call(user, "GET", path+choice, "")
			name, _, _ := strings.Cut(choice, "=")
			nothing := got.status == 404 && got.json["field"] == name
			if nothing == takes {
				t.Errorf("%s for %s with %s: %d %s", path, user, choice, got.status, got.body)
			}
		}
		is("ada:member", "mailbox=box@desk.inbox.test", true)
		is("ada:member", "mailboxId="+box, true)
		is("ada:member", "mailbox=box%2Btag@desk.inbox.test", true)
		is("ada:member", "mailbox=none@desk.inbox.test", false)
		is("ada:member", "mailbox=none%2Btag@desk.inbox.test", false)
		is("ada:member", "mailbox=none", false)
		is("ada:member", "mailbox=a@elsewhere.test", false)
		is("ada:member", "mailboxId=mbx_none", false)
		is("bob:member", "mailbox=box@desk.inbox.test", false)
		is("bob:member", "mailboxId="+box, false)
	}
	if got := r.call("ada:member", "GET", "/api/messages?wait=1&mailbox=none@desk.inbox.test&mailbox=box@desk.inbox.test",
		""); got.status != 200 {
		t.Errorf("with one that gets mail: %d %s", got.status, got.body)
	}
	if got := r.call("ada:member", "GET", "/api/messages?mailbox=none@desk.inbox.test", ""); got.status != 200 {
		t.Errorf("without a wait: %d %s", got.status, got.body)
	}
	r.catchAll("enable")
	waited := make(chan reply)
	go func() {
		waited <- r.call("root:admin", "GET", "/api/messages?wait=60&mailbox=none@desk.inbox.test", "")
	}()
	r.deliver("none", "Subject: caught\n\nx\n")
	if got := <-waited; got.status != 200 || got.subjects() != "caught;" {
		t.Errorf("a catch-all would take it: %d %s", got.status, got.body)
	}
	for _, c := range []struct{ user, address string }{{"bob:member", "new@desk.inbox.test"}, {"root:admin", "postmaster@inbox.test"},
		{"root:admin", "a..b@inbox.test"}} {
		if got := r.call(c.user, "GET", "/api/messages?wait=1&mailbox="+c.address, ""); got.status != 404 {
			t.Errorf("%s for %s: %d %s", c.address, c.user, got.status, got.body)
		}
	}
}
