package mail

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// twoCodes has two codes that are equally likely, one of them in its HTML alone, and links.
const twoCodes = "Subject: Your account\nMIME-Version: 1.0\nList-Unsubscribe: <https://a.example/u>\nContent-Type: multipart/alternative; boundary=x\n\n" +
	"--x\nContent-Type: text/plain\n\nSecurity code: 111222\n\nConfirm: https://a.example/c?t=1\n" +
	"--x\nContent-Type: text/html\n\n<p>Security code: 111222</p><p>Security code: AB-1234</p><p>Security code: AB12CD</p><a href=\"https://a.example/c?t=1\">Confirm</a>\n--x--\n"

// valuesOf returns the members of the objects in a list of an answer.
func valuesOf(list any, names ...string) string {
	all, _ := list.([]any)
	var out []string
	for _, one := range all {
		for _, name := range names {
			out = append(out, fmt.Sprint(one.(map[string]any)[name]))
		}
	}
	return strings.Join(out, " ")
}

func TestCodesAndLinks(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "box")
	r.deliver("box", twoCodes)
	id := r.get("ada:member", "/api/messages").list("messages")[0]["id"].(string)
	message := r.get("ada:member", "/api/messages/"+id).json["message"].(map[string]any)
	if got := valuesOf(message["codes"], "value", "place"); got != "111222 text AB12CD html" || message["verification"] != nil {
		t.Errorf("codes: %s, code %v", got, message["verification"])
	}
	if got := message["codes"].([]any)[1].(map[string]any); !strings.Contains(got["around"].(string), "Security code: AB12CD Confirm") ||
		got["confidence"].(float64) < 0.6 {
		t.Errorf("candidate: %v", got)
	}
	const links = "Confirm https://a.example/c?t=1 html confirm  https://a.example/u header unsubscribe"
	if got := valuesOf(message["links"], "text", "target", "place", "guess"); got != links {
		t.Errorf("links: %s", got)
	}
	for path, want := range map[string]string{
		"code?mailbox=box@desk.inbox.test":                                        "404 ",
		"code?mailbox=box@desk.inbox.test&pattern=[0-9]{6}":                       "200 111222",
		"code?mailbox=box@desk.inbox.test&pattern=[A-Z0-9]{6}":                    "404 ",
		"code?mailbox=box@desk.inbox.test&pattern=[0-9]{4}":                       "404 ",
		"code?mailbox=box@desk.inbox.test&pattern=111222|x":                       "200 111222",
		"code?mailbox=box@desk.inbox.test&pattern=([":                             "400 ",
		"?wait=1&pattern=([":                                                      "400 ",
		"code?mailbox=box@desk.inbox.test&pattern=.*[A-Z].*":                      "200 AB12CD",
		"code?mailbox=box@desk.inbox.test&pattern=1.*&since=2099-01-01T00:00:00Z": "404 ",
	} {
		name, query, _ := strings.Cut(path, "?")
		values, err := url.ParseQuery(query)
		r.must(err)
		got := r.call("ada:member", "GET", strings.TrimSuffix("/api/messages/"+name, "/")+"?"+values.Encode(), "")
		code, _ := got.json["code"].(string)
		if got.status != 200 {
			code = ""
		}
		if fmt.Sprint(got.status, " ", code) != want || got.status == 400 && got.json["field"] != "pattern" {
			t.Errorf("%s: %d %s, want %s", path, got.status, got.body, want)
		}
		if got.status == 200 && (valuesOf(got.json["codes"], "value") != code ||
			valuesOf(got.json["links"], "text", "target", "place", "guess") != links || got.json["source"] != "body") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	waited := r.get("ada:member", "/api/messages?wait=30&pattern=AB.*").list("messages")[0]
	if valuesOf(waited["codes"], "value") != "AB12CD" || valuesOf(waited["links"], "guess") != "confirm unsubscribe" {
		t.Errorf("waited for: %v", waited)
	}
	if listed := r.get("ada:member", "/api/messages").list("messages")[0]; listed["codes"] != nil || listed["links"] != nil {
		t.Errorf("listed: %v", listed)
	}
}

// TestWaitForPattern waits for a code that a pattern matches while other codes arrive, more than are looked at of those that were there.
func TestWaitForPattern(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "box")
	// The newest 20 are looked at.
	const maxPatternFinds = 20
	for i := range maxPatternFinds + 2 {
		r.deliver("box", fmt.Sprintf("Subject: Your verification code: 1111%02d\n\nx\n", i))
	}
	waiting := make(chan reply, 2)
	for range 2 {
		go func() {
			waiting <- r.call("ada:member", "GET", "/api/messages/code?wait=60&mailbox=box@desk.inbox.test&pattern=9[0-9]%2B", "")
		}()
	}
	for i := range maxPatternFinds + 2 {
		r.deliver("box", fmt.Sprintf("Subject: Your verification code: 2222%02d\n\nx\n", i))
	}
	r.deliver("box", "Subject: Your verification code: 9333\n\nx\n")
	for i := range maxPatternFinds + 2 {
		r.deliver("box", fmt.Sprintf("Subject: Your verification code: 4444%02d\n\nx\n", i))
	}
	for range 2 {
		if got := <-waiting; got.status != 200 || got.json["code"] != "9333" || got.json["source"] != "subject" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}
