package rfc822

import (
	"fmt"
	"slices"
	"strings"
)

// crlf writes a message with the line ends of the wire.
func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// corpusHeaders are header sections, good and bad ones, without their last line end.
var corpusHeaders = []string{
	"From: Ada Lovelace <ada@example.com>\nTo: box@inbox.test\nSubject: Hello\nDate: Sat, 21 Nov 2026 10:00:00 +0000\nMessage-ID: <1@example.com>",
	"From ada@example.com Sat Nov 21 10:00:00 2026\nFrom: ada@example.com\nSubject: with an mbox line",
	"From: \"Lovelace, Ada\" <ada@example.com>, (comment) charles@example.com\nTo: undisclosed-recipients:;\nSubject: =?utf-8?b?5L2g5aW9?= =?utf-8?q?_w=C3=B6rld?=",
	"from:ada@example.com\nSUBJECT:no space\nDATE: yesterday evening\nTo: <<box@inbox.test>>, ,;\nCc: @@, a@, @b, <>",
	"Subject: =?x-unknown?q?abc?= =?utf-8?x?abc?= =?utf-8?b?###?= =?utf-8\nFrom: =?iso-2022-jp?B?GyRCJDMbKEI=?= <ada@example.com>",
	"Subject: folded\n over several\n\tlines\nX-Empty:\nX-Colon: a: b: c\nFrom: ada@example.com",
	"Subject: raw \xff\xfe bytes and \x00 NUL\nFrom: \xe4\xbd\xa0\xe5\xa5\xbd <ada@example.com>",
	"this is no header field\nSubject: after rubbish\nFrom: ada@example.com",
	"Subject: " + strings.Repeat("long ", 4000) + "\nFrom: ada@example.com",
	strings.Repeat("Received: from mx.example.com by mx.example.org; Sat, 21 Nov 2026 10:00:00 +0000\n", 300) + "From: ada@example.com",
	"Date: Sat, 99 Foo 99999 99:99:99 +9999\nMessage-ID: without brackets\nFrom: ada at example dot com",
	"Bcc: a@example.com\nBcc: b@example.com\nReply-To: <c@example.com\nTo: \"unclosed <d@example.com>\nSender: e@example.com",
}

// corpusBodies are the rest of messages: further fields, an empty line and a body.
var corpusBodies = []string{
	"\n\nplain text\n",
	"\n\n",
	"\n",
	"",
	"\nContent-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n<p>caf=E9 =\nau lait=3D</p>\n",
	"\nContent-Type: text/plain; charset=gb18030\nContent-Transfer-Encoding: base64\n\n1eLKx7LiytQ=\n",
	"\nContent-Type: text/plain; charset=x-not-known\n\nunknown \xe9 charset\n",
	"\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n!!!! this is not base64 ====\n",
	"\nContent-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n=ZZ broken = escapes =\n",
	"\nContent-Type: text/plain\nContent-Transfer-Encoding: uuencode-or-so\n\nbegin 644 x\n",
	"\nContent-Type: multipart/mixed\n\nno boundary at all\n",
	"\nContent-Type: multipart/mixed; boundary=\"\"\n\n--\n\nx\n----\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nno final boundary\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\npreamble only\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b--\nepilogue\n",
	"\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\none\n--b\nContent-Type: text/html\n\n<b>two</b>\n--b--\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\nContent-Type: application/pdf; name=\"../../etc/passwd\"\nContent-Disposition: attachment; filename*=utf-8''%E4%BD%A0.pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n--b--\n",
	"\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n<img src=cid:logo>\n--b\nContent-Type: image/png\nContent-ID: <logo>\nContent-Disposition: inline\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--b--\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nSubject: inner\n\ninner\n--b--\n",
	"\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nfailed\n--b\nContent-Type: message/delivery-status\n\nStatus: 5.1.1\n--b--\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe same boundary again\n--b--\n--b--\n",
	"\nContent-Type: text/plain; charset=utf-8; charset=latin1; =; ;\n\nparameters\n",
	"\nContent-Type: ;;;\nContent-Disposition: ???\n\nbad types\n",
	"\nContent-Type: text/html\n\n<html><script>alert(1)</script><p>unclosed <table><td>\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b\nbroken part header\n--b\n\nx\n--b--\n",
	"\nContent-Type: multipart/mixed; boundary=b\n\n--b" + strings.Repeat("\n--b", 400) + "\n",
	"\nContent-Type: text/plain\n\n" + strings.Repeat("x", 300_000) + "\n",
}

// corpus returns messages: every header with every body, and some that have a form of their own.
func corpus() map[string]string {
	all := map[string]string{
		"empty": "", "NUL": "\x00\x00\x00", "line ends": "\r\n\r\n\r\n", "OLE file": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00",
		"no line end": "Subject: x",
		"nested":      nested(200), "many parts": manyParts(10_000), "LF alone": "Subject: x\nFrom: ada@example.com\n\nbody\n",
		"CR alone":           "Subject: x\rFrom: a@example.com\r\rbody\r",
		"header without end": strings.Repeat("X-Field: value\r\n", 200_000), "one long line": strings.Repeat("x", 2_000_000),
		"colons":        strings.Repeat(":", 100_000),
		"encoded words": "Subject: " + strings.Repeat("=?utf-8?q?x?= ", 10_000) + "\r\n\r\n",
		"commas":        "To: " + strings.Repeat("a@example.com,", 20_000) + "\r\n\r\n",
		"NUL in a name": "Content-Type: text/x; name=\x00a\r\nFrom: =?utf-8?q?A=00da?= <ada@example.com>\r\n\r\nx",
		"parentheses":   "From: " + strings.Repeat("(", 20_000) + "\r\nDate: " + strings.Repeat("(", 20_000) + "\r\n\r\nx",
	}
	for h, header := range corpusHeaders {
		for b, body := range corpusBodies {
			all[fmt.Sprintf("header %d body %d", h, b)] = crlf(header + body)
		}
	}
	return all
}

// nested returns a message with parts in parts.
func nested(depth int) string {
	var b strings.Builder
	b.WriteString("Subject: nested\r\n")
	for i := range depth {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	b.WriteString("\r\ndeep\r\n")
	for i := range slices.Backward(make([]int, depth)) {
		fmt.Fprintf(&b, "--b%d--\r\n", i)
	}
	return b.String()
}

// manyParts returns a message with many parts.
func manyParts(n int) string {
	return "Subject: parts\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\nx\r\n", n) + "--b--\r\n"
}
