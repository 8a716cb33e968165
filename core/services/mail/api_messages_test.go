package mail

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestMessages(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		box := r.newMailbox("ada", "box", "shop")
		r.newMailbox("bob", "other")
		r.deliver("box", rich)
		r.deliver("other", "Subject: for Bob\n\nhello\n")
		if err := r.trySend("nobody", "Subject: x\n\ny\n"); err == nil || !strings.Contains(err.Error(), "5.1.1") {
			t.Errorf("mail to nobody: %v", err)
		}
		if got := r.get("ada:member", "/api/messages").subjects(); got != "Your verification code;" {
			t.Errorf("Ada sees %q", got)
		}
		if got := r.get("root:admin", "/api/messages").subjects(); got != "for Bob;Your verification code;" {
			t.Errorf("an administrator sees %q", got)
		}
		item := r.get("ada:member", "/api/messages?mailboxId="+box).list("messages")[0]
		id := item["id"].(string)
		if v := item["verification"].(map[string]any); v["code"] != "482913" || v["source"] != "body" || v["method"] != "rules" {
			t.Errorf("verification: %v", v)
		}
		if item["attachmentCount"] != 2.0 || item["fromAddress"] != "ada@example.com" || item["mailboxAddress"] != "box@desk.inbox.test" || item["read"] != false || item["parseStatus"] != "parsed" {
			t.Errorf("item: %v", item)
		}
		checkDetail(t, r, id)
		checkFiles(t, r, id)
		for _, path := range []string{"", "/raw", "/html", "/attachments/att_1"} {
			if got := r.call("bob:member", "GET", "/api/messages/"+id+path, ""); got.status != http.StatusNotFound {
				t.Errorf("Bob gets %d for %q", got.status, path)
			}
		}
		if got := r.call("ada:member", "PATCH", "/api/messages/"+id, `{"read":true}`); got.status != 200 || got.json["read"] != true {
			t.Errorf("marking: %d %s", got.status, got.body)
		}
		if got := r.get("ada:member", "/api/messages?q="+url.QueryEscape("is:unread")).subjects(); got != "" {
			t.Errorf("unread: %q", got)
		}
		if got := r.call("bob:member", "DELETE", "/api/messages/"+id, ""); got.status != http.StatusNotFound {
			t.Errorf("Bob deletes: %d", got.status)
		}
		if got := r.call("ada:member", "DELETE", "/api/messages/"+id, ""); got.status != http.StatusNoContent {
			t.Errorf("deleting: %d %s", got.status, got.body)
		}
		if got := r.call("ada:member", "GET", "/api/messages/"+id, ""); got.status != http.StatusNotFound {
			t.Errorf("after deleting: %d", got.status)
		}
		if got := r.get("ada:member", "/api/messages?q=code").subjects(); got != "" {
			t.Errorf("a deleted message is found: %q", got)
		}
	})
}

func TestMessageSearch(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "shop", "orders")
		r.newMailbox("ada", "work")
		r.deliver("shop", "From: Example Store <store@shop.example>\nSubject: Order 4711 has shipped\n\nThe analytical engine is on its way.\n")
		r.deliver("work", "From: Charles <charles@example.com>\nSubject: Résumé of the meeting\n\nThe engine needs analytical work, and more punched cards.\n")
		r.deliver("work", "From: 王芳 <wang@example.com>\nSubject: 您的登录验证码\nContent-Type: text/plain; charset=utf-8\n\n验证码：582014，请勿转发。\n")
		r.deliver("work", strings.Replace(rich, "verification code", "attached report", 1))
		for query, want := range map[string]string{
			"engine":                     "Résumé of the meeting;Order 4711 has shipped;",
			`"analytical engine"`:        "Order 4711 has shipped;",
			"analytical engine":          "Résumé of the meeting;Order 4711 has shipped;",
			"ENGINE meeting":             "Résumé of the meeting;",
			"resume":                     "Résumé of the meeting;",
			"from:charles":               "Résumé of the meeting;",
			"from:store@shop.example":    "Order 4711 has shipped;",
			"to:shop@desk.inbox.test":    "Order 4711 has shipped;",
			"subject:order":              "Order 4711 has shipped;",
			`subject:"4711 has shipped"`: "Order 4711 has shipped;",
			"subject:engine":             "",
			"tag:orders":                 "Order 4711 has shipped;",
			"tag:orders meeting":         "",
			"验证码 from:wang":              "您的登录验证码;",
			"登录验证":                       "您的登录验证码;",
			"转发":                         "您的登录验证码;",
			"发":                          "您的登录验证码;",
			"登":                          "您的登录验证码;",
			"录登":                         "",
			"ship*":                      "Order 4711 has shipped;",
			"ship":                       "",
			"has:attachment":             "Your attached report;",
			"has:code charles":           "Your attached report;",
			"report.html":                "Your attached report;",
			"engine -cards":              "Order 4711 has shipped;",
			`engine -"punched cards"`:    "Order 4711 has shipped;",
			`engine -"cards punched"`:    "Résumé of the meeting;Order 4711 has shipped;",
			"-engine":                    "Your attached report;您的登录验证码;",
			"-engine -from:wang":         "Your attached report;",
			"-from:charles engine":       "Order 4711 has shipped;",
			"-subject:order-shipped":     "Your attached report;您的登录验证码;Résumé of the meeting;",
			"-验证码 -report":               "Résumé of the meeting;Order 4711 has shipped;",
			"-tag:orders engine":         "Résumé of the meeting;",
			"-has:attachment -has:code":  "Résumé of the meeting;Order 4711 has shipped;",
			"-is:read -engine":           "Your attached report;您的登录验证码;",
			"-is:unread":                 "",
			"engine - cards":             "Résumé of the meeting;",
			"before:2020-01-01":          "",
			"after:2020-01-01 engine":    "Résumé of the meeting;Order 4711 has shipped;",
			`engine ' OR 1=1 -- "`:       "",
			"!!! ---":                    "Your attached report;您的登录验证码;Résumé of the meeting;Order 4711 has shipped;",
		} {
			if got := r.get("ada:member", "/api/messages?q="+url.QueryEscape(query)).subjects(); got != want {
				t.Errorf("%s finds %q, want %q", query, got, want)
			}
		}
		for _, bad := range []string{"-has:nothing", "-before:2026-01-01", "-is:old", "-tag:" + strings.Repeat("x", 100), strings.Repeat("-word ", 30), "has:nothing", "before:yesterday", "is:old", "tag:" + strings.Repeat("x", 100), strings.Repeat("word ", 30)} {
			if got := r.call("ada:member", "GET", "/api/messages?q="+url.QueryEscape(bad), ""); got.status != 400 || got.json["field"] != "q" {
				t.Errorf("%s: %d %s", bad, got.status, got.body)
			}
		}
		if got := r.get("bob:member", "/api/messages?q=engine").subjects(); got != "" {
			t.Errorf("Bob finds %q", got)
		}
	})
}

// TestMessageItem compares a message in the list with the same one found by its id.
func TestMessageItem(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "shop")
		r.deliver("shop", rich)
		r.deliver("shop", "\n")
		listed := r.get("ada:member", "/api/messages").list("messages")
		if len(listed) != 2 {
			t.Fatalf("got %d messages", len(listed))
		}
		for _, item := range listed {
			found := r.call("ada:member", "PATCH", "/api/messages/"+item["id"].(string), `{"read":false}`)
			delete(found.json, "$schema")
			if found.status != 200 || len(item) < 14 || !reflect.DeepEqual(found.json, item) {
				t.Errorf("listed %v, found %v", item, found.json)
			}
		}
	})
}

func TestMessagePages(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "box")
	var want strings.Builder
	for i := range 7 {
		r.deliver("box", fmt.Sprintf("Subject: %d\n\nx\n", i))
	}
	for i := range 7 {
		fmt.Fprintf(&want, "%d;", 6-i)
	}
	got, cursor := "", ""
	for {
		page := r.get("ada:member", "/api/messages?limit=3&cursor="+cursor)
		got += page.subjects()
		next, more := page.json["nextCursor"].(string)
		if !more {
			break
		}
		cursor = next
	}
	if got != want.String() {
		t.Errorf("the pages hold %q", got)
	}
	middle := r.get("ada:member", "/api/messages").list("messages")[3]["receivedAt"].(string)
	for _, m := range r.get("ada:member", "/api/messages?since="+middle).list("messages") {
		if m["receivedAt"].(string) <= middle {
			t.Errorf("a message of %s is listed after %s", m["receivedAt"], middle)
		}
	}
	for _, bad := range []string{"limit=0", "limit=201", "wait=61", "cursor=x", "mailboxStatus=open", "after=yesterday", "other=1", "scope=all"} {
		if got := r.call("ada:member", "GET", "/api/messages?"+bad, ""); got.status != 400 {
			t.Errorf("%s: %d", bad, got.status)
		}
	}
}

func TestWaitForMessages(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "box")
	r.newMailbox("bob", "other")
	if got := r.call("ada:member", "GET", "/api/messages/code?mailbox=box@desk.inbox.test", ""); got.status != 404 {
		t.Errorf("without a code: %d %s", got.status, got.body)
	}
	waiting := make(chan reply, 2)
	for _, path := range []string{"/api/messages?wait=30", "/api/messages/code?wait=30&mailbox=Box@desk.inbox.test"} {
		go func() { waiting <- r.call("ada:member", "GET", path, "") }()
	}
	r.deliver("other", "Subject: OTP 111111\n\nx\n")
	r.deliver("box", "Subject: Your verification code: 482913\n\nx\n")
	for range 2 {
		got := <-waiting
		if got.status != 200 || got.subjects() != "Your verification code: 482913;" && got.json["code"] != "482913" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

func TestMessageEvents(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "box")
	r.newMailbox("bob", "other")
	r.deliver("box", "Subject: before\n\nx\n")
	follow := func(after string) *bufio.Scanner {
		req, err := http.NewRequest("GET", r.base+"/api/messages/events", nil)
		r.must(err)
		req.Header.Set("X-Test-User", "ada:member")
		if after != "" {
			req.Header.Set("Last-Event-ID", after)
		}
		resp, err := http.DefaultClient.Do(req)
		r.must(err)
		t.Cleanup(func() { resp.Body.Close() })
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%d %v", resp.StatusCode, resp.Header)
		}
		in := bufio.NewScanner(resp.Body)
		in.Scan() // the first heartbeat
		return in
	}
	next := func(in *bufio.Scanner) (id, data string) {
		for in.Scan() {
			if text, ok := strings.CutPrefix(in.Text(), "id: "); ok {
				id = text
			}
			if text, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				return id, text
			}
		}
		t.Fatalf("the stream has ended: %v", in.Err())
		return "", ""
	}
	live := follow("")
	r.deliver("other", "Subject: for Bob\n\nx\n")
	r.deliver("box", "Subject: live\n\nx\n")
	id, data := next(live)
	if !strings.Contains(data, `"subject":"live"`) {
		t.Errorf("the first event is %s", data)
	}
	r.deliver("box", "Subject: again\n\nx\n")
	if _, data := next(follow(id)); !strings.Contains(data, `"subject":"again"`) {
		t.Errorf("after %s comes %s", id, data)
	}
	if _, data := next(follow("0")); !strings.Contains(data, `"subject":"live"`) && !strings.Contains(data, `"subject":"before"`) {
		t.Errorf("from the beginning: %s", data)
	}
}

func TestInboundByHTTP(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "box")
	const raw = "Subject: by HTTP\nFrom: ada@example.com\n\nwith LF alone\n"
	first := r.post("Box@desk.inbox.test, nobody@desk.inbox.test", raw, inboundSecret)
	if first.status != 200 || len(first.list("accepted")) != 1 || fmt.Sprint(first.json["rejected"]) != "[nobody@desk.inbox.test]" {
		t.Fatalf("%d %s", first.status, first.body)
	}
	found := r.get("ada:member", "/api/messages").list("messages")
	if len(found) != 1 || r.get("ada:member", "/api/messages/"+found[0]["id"].(string)+"/raw").body != raw {
		t.Errorf("stored: %v", found)
	}
	for name, test := range map[string]struct {
		got    reply
		status int
	}{
		"another secret": {r.post("box@desk.inbox.test", raw, "another secret of a worker"), 401},
		"nobody":         {r.post("nobody@desk.inbox.test", raw, inboundSecret), 404},
		"no recipient":   {r.post("", raw, inboundSecret), 400},
		"too large":      {r.post("box@desk.inbox.test", strings.Repeat("x", 5<<20), inboundSecret), 413},
		"not signed":     {r.call("", "POST", "/api/inbound", raw), 401},
	} {
		if test.got.status != test.status {
			t.Errorf("%s: %d %s", name, test.got.status, test.got.body)
		}
	}
}

// TestDeliveriesByHTTP: what the sender calls a delivery tells whether it is one that has come before, with the same envelope and bytes.
func TestDeliveriesByHTTP(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "box")
		r.newMailbox("ada", "other")
		const raw = "Subject: by HTTP\n\nx\n"
		post := func(to, raw, delivery string) string {
			t.Helper()
			got := r.post(to+"@desk.inbox.test", raw, inboundSecret, "X-Patchbay-Delivery", delivery)
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			return got.list("accepted")[0]["messageId"].(string)
		}
		seen := map[string]bool{post("box", raw, "one"): true}
		if id := post("box", raw, "one"); !seen[id] {
			t.Errorf("the repetition is another message, %s", id)
		}
		for _, id := range []string{post("box", raw, "two"), post("other", raw, "one"), post("box", raw+"y\n", "one")} {
			if seen[id] {
				t.Errorf("%s is taken for a repetition", id)
			}
			seen[id] = true
		}
		r.must(r.store.Tx(t.Context(), "age", func(ctx context.Context) error {
			return r.store.Writer(ctx).Exec("UPDATE mail_deliveries SET received_at = received_at - 86400001").Error
		}))
		if id := post("box", raw, "one"); seen[id] {
			t.Error("a delivery is a repetition of one more than a day ago")
		}
		if _, err := r.svc.deleteOldMessages(t.Context(), nil, nil); err != nil || r.count("mail_deliveries") != 1 {
			t.Errorf("%d deliveries are left: %v", r.count("mail_deliveries"), err)
		}
		if got := r.post("box@desk.inbox.test", raw, inboundSecret, "X-Patchbay-Delivery", strings.Repeat("x", 201)); got.status != 400 || got.json["field"] != "X-Patchbay-Delivery" {
			t.Errorf("a long name: %d %s", got.status, got.body)
		}
	})
}

func TestExport(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	box := r.newMailbox("ada", "box")
	r.deliver("box", "Subject: one\n\nFrom the beginning\n>From quoted\n")
	r.deliver("box", "Subject: two\n\nend\n")
	got := r.get("ada:member", "/api/mailboxes/"+box+"/export")
	parts := strings.Split(got.body, "From bounce@example.com ")
	if len(parts) != 3 || !strings.HasSuffix(parts[1], "\nSubject: one\n\n>From the beginning\n>>From quoted\n\n") || !strings.HasSuffix(parts[2], "\nSubject: two\n\nend\n\n") {
		t.Errorf("exported %q", got.body)
	}
	if got := r.call("bob:member", "GET", "/api/mailboxes/"+box+"/export", ""); got.status != 404 {
		t.Errorf("Bob: %d", got.status)
	}
}
