package mail

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// rich is a message with everything.
const rich = `From: "Ada Lovelace" <ada@example.com>
To: box@desk.inbox.test, Charles <charles@example.com>
Subject: Your verification code
Date: Sat, 21 Nov 2026 10:00:00 +0000
Message-ID: <rich@example.com>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/related; boundary=inner

--inner
Content-Type: multipart/alternative; boundary=alt

--alt
Content-Type: text/plain; charset=utf-8

Your verification code is 482913. 您的验证码很重要。
--alt
Content-Type: text/html; charset=utf-8

<p onclick="x()">Code <b>482913</b><img src="cid:logo@example.com"><img src="https://example.com/pixel.png"><script>alert(1)</script></p>
--alt--
--inner
Content-Type: image/png
Content-ID: <logo@example.com>
Content-Disposition: inline
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--inner--
--outer
Content-Type: text/html; name="report.html"
Content-Disposition: attachment; filename="report.html"

<script>alert(2)</script>
--outer--
`

func checkDetail(t *testing.T, r *receiver, id string) {
	t.Helper()
	var m map[string]any
	testkit.Eventually(t, 20*time.Second, func() bool {
		m, _ = r.get("ada:member", "/api/messages/"+id).json["message"].(map[string]any)
		return m["authentication"] != nil
	}, "the sender was not checked")
	if m["messageId"] != "<rich@example.com>" || m["envelopeFrom"] != "bounce@example.com" || m["envelopeTo"] != "box@desk.inbox.test" ||
		m["dateHeader"] != "2026-11-21T10:00:00.000Z" ||
		!strings.Contains(m["text"].(string), "验证码") || !strings.Contains(m["html"].(string), "482913") || m["client"] != "127.0.0.1" ||
		m["via"] != "smtp" {
		t.Errorf("message: %v", m)
	}
	if to := m["recipients"].(map[string]any)["to"].([]any); len(to) != 2 || to[1].(map[string]any)["name"] != "Charles" {
		t.Errorf("recipients: %v", to)
	}
	if spf := m["authentication"].(map[string]any)["spf"].(map[string]any); spf["result"] != "temperror" || spf["domain"] != "example.com" {
		t.Errorf("SPF: %v", spf)
	}
	attachments := m["attachments"].([]any)
	if a := attachments[1].(map[string]any); a["id"] != "att_2" || a["filename"] != "report.html" || a["disposition"] != "attachment" ||
		a["contentType"] != "text/html" {
		t.Errorf("attachment: %v", a)
	}
}

func checkFiles(t *testing.T, r *receiver, id string) {
	t.Helper()
	base := "/api/messages/" + id
	if got := r.get("ada:member", base+"/raw"); got.body != strings.ReplaceAll(rich, "\n", "\r\n") ||
		got.header.Get("Content-Type") != "message/rfc822" ||
		got.header.Get("Content-Disposition") != "attachment; filename="+id+".eml" {
		t.Errorf("raw: %q %v", got.body, got.header)
	}
	if got := r.get("ada:member", base+"/attachments/att_1"); got.body != "\x89PNG\r\n\x1a\n" ||
		got.header.Get("Content-Type") != "image/png" {
		t.Errorf("image: %q %v", got.body, got.header)
	}
	got := r.get("ada:member", base+"/attachments/att_2")
	if got.header.Get("Content-Type") != "application/octet-stream" ||
		!strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") ||
		!strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("a page in an attachment: %v", got.header)
	}
	for _, name := range []string{"att_3", "att_0", "1", "att_x"} {
		if got := r.call("ada:member", "GET", base+"/attachments/"+name, ""); got.status != http.StatusNotFound {
			t.Errorf("attachment %s: %d", name, got.status)
		}
	}
	view := r.get("ada:member", base+"/html")
	if strings.Contains(view.body, "script") || strings.Contains(view.body, "onclick") || strings.Contains(view.body, "example.com/pixel") ||
		!strings.Contains(view.body, `src="attachments/att_1"`) {
		t.Errorf("HTML: %s", view.body)
	}
	policy := view.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") || strings.Contains(policy, "allow-scripts") ||
		strings.Contains(policy, "https:") || view.header.Get("X-Patchbay-Images") != "blocked" {
		t.Errorf("policy: %v", view.header)
	}
	if remote := r.get("ada:member", base+"/html?images=remote"); !strings.Contains(remote.body, "https://example.com/pixel.png") {
		t.Errorf("with remote images: %s", remote.body)
	}
}
