package email

import (
	"bytes"
	"net/mail"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func TestParseServer(t *testing.T) {
	for in, want := range map[string]string{
		"smtp://mail.example.com/?to=a@example.com":                            "mail.example.com:587 '' '' opportunistic a@example.com from Patchbay patchbay@mail.example.com",
		"smtps://u:p%40%25@mail.example.com?to=a@example.com&tls=required":     "mail.example.com:465 'u' 'p@%' tls a@example.com from Patchbay patchbay@mail.example.com",
		"smtp://mail.example.com:25?to=a%40example.com,b@example.com&tls=none": "mail.example.com:25 '' '' none a@example.com b@example.com from Patchbay patchbay@mail.example.com",
		"smtp://10.0.0.1?to=a@b.c&to=A@b.c&to=d@b.c":                           "10.0.0.1:587 '' '' opportunistic a@b.c d@b.c from Patchbay patchbay@[10.0.0.1]",
		"smtp://[fd00::1]:25?to=a+x@b.c&from=Patch Bay <x+y@b.c>":              "[fd00::1]:25 '' '' opportunistic a+x@b.c from Patch Bay x+y@b.c",
		"smtp://u%40d:@h?to=a@b.c&from=Patch+Bay+%3Cx%40b.c%3E":                "h:587 'u@d' '' opportunistic a@b.c from Patch Bay x@b.c",
		" smtp://h?to=a@b.c&from= ":                                            "h:587 '' '' opportunistic a@b.c from Patchbay patchbay@h",
	} {
		s, err := parseServer(schema.Secret(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		policy := s.policy
		if s.implicit {
			policy = "tls"
		}
		got := s.dialAddress() + " '" + s.user + "' '" + s.password + "' " + policy
		for _, a := range s.to {
			got += " " + a.Address
		}
		if got += " from " + s.from.Name + " " + s.from.Address; got != want {
			t.Errorf("%s:\n%s, want\n%s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"":                             "must start with smtp://",
		"mail.example.com":             "must start with smtp://",
		"smtp://":                      "has no host",
		"smtp:u:hidden1@h":             "has no host",
		"smtp://u:hidden1%@h?to=a@b.c": "percent-encode the password",
		"smtp://u:hid#den1@h?to=a@b.c": "percent-encode the password",
		"smtp://u:hidden1@h":           "names no recipient",
		"smtp://u:hidden1@h?to=":       "names no recipient",
		"smtp://u:hidden1@h?to=a":      "no list of mail addresses",
		"smtp://u:hidden1@h?to=a@b.c%0d%0aBcc:x@y.z":            "no list of mail addresses",
		"smtp://u:hidden1@h?to=a@b.c&subject=x":                 `unknown parameter "subject"`,
		"smtp://u:hidden1@h?to=a@b.c&tls=off":                   "tls must be",
		"smtps://u:hidden1@h?to=a@b.c&tls=none":                 "always encrypted",
		"smtp://u:hidden1@h?to=a@b.c&from=x":                    "no mail address",
		"smtp://u:hidden1@h?to=a@b.c&from=x@b.c&from=y@b.c":     "more than once",
		"smtp://u:hidden1@h/path?to=a@b.c":                      "no path",
		"smtp://u:hidden1@h?to=a@b.c#x":                         "must have no #",
		"smtp://u:hidden1@h:0?to=a@b.c":                         "no valid port",
		"smtp://:hidden1@h?to=a@b.c":                            "a password and no user",
		"smtp://u:hidden1@h?to=%zz":                             "not encoded",
		"smtp://h?to=" + strings.Repeat("a@b.c,", 1) + many(51): "more than 50",
	} {
		_, err := parseServer(schema.Secret(in))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hid") {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func many(n int) string {
	var out []string
	for i := range n {
		out = append(out, "x"+strings.Repeat("y", i)+"@b.c")
	}
	return strings.Join(out, ",")
}

func channelFor(t testing.TB) *channel {
	t.Helper()
	layout, err := parseLayout()
	if err != nil {
		t.Fatal(err)
	}
	return &channel{cfg: Config{SubjectPrefix: "[Patchbay] "}, layout: layout}
}

// Whatever stands in a notification, the mail has the headers that we gave it and no others.
func TestHeadersCannotBeInjected(t *testing.T) {
	c := channelFor(t)
	s, err := parseServer("smtp://h?to=a@b.c")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{
		"From": true, "To": true, "Subject": true, "Date": true, "Message-Id": true, "Auto-Submitted": true, "X-Patchbay-Kind": true,
		"Mime-Version": true, "Content-Type": true,
	}
	piece := rapid.SampledFrom([]string{"a", " ", "\r\n", "\n", "\r", "Bcc: x@y.z", "字", "🚀", "\u2028", "\x00", "=?utf-8?q?x?=", ":",
		strings.Repeat("w", 90), "\x1b[31m"})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return strings.Join(rapid.SliceOf(piece).Draw(t, name), "") }
		m, err := c.composeMail(&notify.Notification{
			ID: "n-1", Kind: text("kind"), Title: notify.Text{Plain: text("title")}, Detail: notify.Text{Plain: text("detail")},
			Links: []notify.Link{{Label: text("label"), URL: "https://example.com/" + text("url")}}, SentAt: time.Unix(1, 0),
		}, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mail.ReadMessage(bytes.NewReader(m.raw))
		if err != nil {
			t.Fatalf("%v\n%q", err, m.raw)
		}
		for name, values := range got.Header {
			if !known[name] || len(values) != 1 {
				t.Fatalf("header %s: %q", name, values)
			}
		}
		head, _, _ := bytes.Cut(m.raw, []byte("\r\n\r\n"))
		for _, line := range bytes.Split(head, []byte("\r\n")) {
			if len(line) > 998 || bytes.ContainsAny(line, "\r\n\x00\x1b") {
				t.Fatalf("line %q", line)
			}
		}
	})
}

// Whatever HTML comes in, no script, no attribute and nothing remote goes out, and all tags are closed.
func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		`<p style="x">a<br/>b`: `<p>a<br>b</p>`,
		`<b><i>a</b>b</i>`:     `<b><i>a</i></b>b`,
		`<a href="https://e.com/?a=1&amp;b=2" onclick=x>y`: `<a href="https://e.com/?a=1&amp;b=2">y</a>`,
		`<a href="data:text/html,x">y</a>`:                 `y`,
		`<form action=x><input>t</form>`:                   `t`,
		`<style>@import "x"</style>t<link rel=x href=y>`:   `t`,
		`a &lt;script&gt; b`:                               `a &lt;script&gt; b`,
		`</div></div>x`:                                    `x`,
	} {
		if got := sanitizeHTML(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	piece := rapid.SampledFrom([]string{
		"<b>", "</b>", "<p style='x'>", "</p>", "<a href='https://e.com'>", "<a href='javascript:x'>", "</a>", "<img src='https://e.com/x'>",
		"<script>", "</script>", "<svg onload=x>",
		"</svg>", "<div>", "</div>", "<!--", "-->", "<", ">", "&lt;", `"`, "x", "<iframe src=x>", "</iframe>", "<td background=x>", "<textarea>",
		"</textarea>",
	})
	rapid.Check(t, func(t *rapid.T) {
		out := sanitizeHTML(strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
		depth := 0
		tok := html.NewTokenizer(strings.NewReader(out))
		for tok.Next() != html.ErrorToken {
			switch token := tok.Token(); token.Type {
			case html.StartTagToken:
				depth++
				if len(token.Attr) > 1 || len(token.Attr) == 1 && (token.Data != "a" || token.Attr[0].Val != "https://e.com") ||
					strings.Contains("script img svg iframe textarea", token.Data) && len(token.Data) > 1 {
					t.Fatalf("%q has %v", out, token)
				}
			case html.EndTagToken:
				depth--
			}
		}
		if depth != 0 {
			t.Fatalf("%q is not closed", out)
		}
	})
}
