package rfc822

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// partOf returns a message with a text and one part.
func partOf(part string) string {
	return crlf("Subject: x\nFrom: ada@example.com\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=gb18030\n\nhello\n--b\n" + part + "\n--b--\n")
}

// TestParseMalformed has one message for each kind of what real senders write otherwise than the standards say.
func TestParseMalformed(t *testing.T) {
	attachment := func(name, content string) func(*testing.T, string, *Parsed) bool {
		return func(t *testing.T, raw string, p *Parsed) bool {
			if len(p.Attachments) != 1 || p.Attachments[0].Filename != name || !strings.HasPrefix(p.Text, "hello") {
				return false
			}
			var got []byte
			err := ReadAttachment(p.Parser, opener(raw), 1, func(_ Attachment, r io.Reader) (err error) {
				got, err = io.ReadAll(r)
				return err
			})
			return err == nil && string(got) == content
		}
	}
	dated := func(want string) func(*testing.T, string, *Parsed) bool {
		return func(_ *testing.T, _ string, p *Parsed) bool { return p.Date.Format("2006-01-02T15:04Z07:00") == want }
	}
	subject := func(want string) func(*testing.T, string, *Parsed) bool {
		return func(_ *testing.T, _ string, p *Parsed) bool { return p.Subject == want }
	}
	from := func(name, address string) func(*testing.T, string, *Parsed) bool {
		return func(_ *testing.T, _ string, p *Parsed) bool { return p.From == Address{name, address} }
	}
	for _, test := range []struct {
		name, raw string
		want      func(*testing.T, string, *Parsed) bool
	}{
		{"a name without quotes", partOf("Content-Type: application/pdf; name=This is a plan.pdf\n\nPDF"),
			attachment("This is a plan.pdf", "PDF")},
		{"a disposition without quotes", partOf("Content-Type: application/pdf\nContent-Disposition: attachment; filename=Plan (1) of 2.pdf\n\nPDF"), attachment("Plan (1) of 2.pdf", "PDF")},
		{"a name of raw bytes", partOf("Content-Type: application/pdf; name=\xb1\xa8\xb8\xe6.pdf\n\nPDF"), attachment("报告.pdf", "PDF")},
		{"a name of encoded words", partOf("Content-Type: application/pdf; name==?utf-8?B?5oql5ZGK?=.pdf\n\nPDF"), attachment("报告.pdf", "PDF")},
		{"RFC 2231 with an empty charset", partOf("Content-Type: application/pdf\nContent-Disposition: attachment; filename*=''%E6%8A%A5%20x.pdf\n\nPDF"), attachment("报 x.pdf", "PDF")},
		{"RFC 2231 with another charset", partOf("Content-Type: application/pdf\nContent-Disposition: attachment; filename*=gb18030''%B1%A8%B8%E6.pdf\n\nPDF"), attachment("报告.pdf", "PDF")},
		{"RFC 2231 in pieces", partOf("Content-Type: application/pdf\nContent-Disposition: attachment; filename*0*=gb18030''%B1%A8;\n filename*1*=%B8%E6; filename*2=.pdf\n\nPDF"), attachment("报告.pdf", "PDF")},
		{"quotes and what follows them", partOf("Content-Type: application/pdf; name=\"a \\\"b\\\".pdf\" (a plan); x==\n\nPDF"),
			attachment(`a "b".pdf`, "PDF")},
		{"RFC 2231 with a bad escape", partOf("Content-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''100%%E6%8A%A5%.pdf\n\nPDF"), attachment("100%报%.pdf", "PDF")},
		{"pieces with apostrophes and no charset",
			partOf("Content-Type: application/pdf\nContent-Disposition: attachment; filename*0=\"it's Bob's \"; filename*1=plan.pdf\n\nPDF"),
			attachment("it's Bob's plan.pdf", "PDF")},
		{"a name that is too long", partOf("Content-Type: application/pdf; name=\"" + strings.Repeat("报", 100) + ".pdf\"\n\nPDF"),
			attachment(strings.Repeat("报", 83)+".pdf", "PDF")},
		{"a type that is none", partOf("Content-Type: application-x-gzip; name=a.gz\n\nGZ"), attachment("a.gz", "GZ")},
		{"parts without a boundary", crlf("Content-Type: multipart/report\n\nhello"), func(_ *testing.T, _ string, p *Parsed) bool {
			return len(p.Attachments) == 0 && p.Text == "hello"
		}},
		{"two names", partOf("Content-Type: application/pdf; name=b.pdf\nContent-Disposition: attachment; filename=a.pdf\n\nPDF"),
			attachment("a.pdf", "PDF")},
		{"CSV in GB18030", partOf("Content-Type: text/csv; charset=gb18030; name=a.csv\n\n\xb1\xa8\xb8\xe6"),
			attachment("a.csv", "\xb1\xa8\xb8\xe6")},
		{"attached text in GB18030", partOf("Content-Type: text/plain; charset=gb18030\nContent-Disposition: attachment; filename=a.txt\n\n\xb1\xa8\xb8\xe6"), attachment("a.txt", "\xb1\xa8\xb8\xe6")},
		{"XML that declares its encoding", partOf("Content-Type: text/xml; charset=iso-8859-1; name=a.xml\n\n<?xml version='1.0' encoding='iso-8859-1'?>\xe9"),
			attachment("a.xml", "<?xml version='1.0' encoding='iso-8859-1'?>\xe9")},
		{"base64 and a footer after padding", partOf("Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nUERGeA==\n_____\nThe list\n"), attachment("a.pdf", "PDFx")},
		{"base64 and a footer", partOf("Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nUERG\n_____\nThe list\n"), attachment("a.pdf", "PDF")},
		{"base64 and the footer of a list with addresses",
			damaged("UERG\n-- \nThe list of\nmembers\nlist@example.com\nhttps://lists.example.com/mailman/listinfo/members\n"),
			attachment("a.pdf", "PDF")},
		{"base64 and a line between its lines and a footer", damaged(lines(2) + "-----\n" + lines(2) + "_____\nThe list\n"), largerThan(4 * 57)},
		{"base64 with one odd character", damaged(lines(5) + "!" + lines(5)), attachment("a.pdf", content(10))},
		{"base64 with one odd character in its last line", damaged(lines(5) + "QUJD!QUJD\n"), attachment("a.pdf", content(5)+"ABCABC")},
		{"base64 with a line of dashes", damaged(lines(5) + "-----\n" + lines(5)), attachment("a.pdf", content(10))},
		{"base64 with padding in the middle", damaged(lines(5) + "QUI=\n" + lines(5)), attachment("a.pdf", content(5)+"AB"+content(5))},
		{"base64 with padding in the middle and short lines", damaged("QUI=\nQUJD\n"), largerThan(5)},
		{"base64 with padding in the middle and a damaged line", damaged("QUI=\n" + lines(1) + "!" + lines(1)), largerThan(2 + 2*57)},
		{"base64 with padding in the middle of a line", damaged(lines(5) + "QUI=QUJD\n"), largerThan(5*57 + 4)},
		{"a text with a name", partOf("Content-Type: text/plain; name=body.txt\n\nworld"), func(_ *testing.T, _ string, p *Parsed) bool {
			return len(p.Attachments) == 0 && strings.Contains(p.Text, "world")
		}},
		{"a boundary without the empty line", partOf("Content-Type: application/pdf; name=a.pdf"), func(_ *testing.T, _ string, p *Parsed) bool {
			return p.Status == ParseOK && strings.HasPrefix(p.Text, "hello")
		}},
		{"a subject in the charset of the body", crlf("Subject: \xb1\xa8\xb8\xe6\nContent-Type: text/plain; charset=gb18030\n\nx"),
			subject("报告")},
		{"a subject in the charset of a part", strings.Replace(partOf(""), "Subject: x", "Subject: \xb1\xa8\xb8\xe6", 1), subject("报告")},
		{"a subject of unknown bytes", crlf("Subject: a\xb1b\n\nx"), subject("a\uFFFDb")},
		{"UTF-7 in an encoded word", crlf("Subject: =?utf-7?Q?+ZeVnLIqe-_+-?=\n\nx"), subject("日本語 +")},
		{"a character in two encoded words", crlf("Subject: =?utf-8?B?5oo=?= =?utf-8?B?pQ==?=\n\nx"), subject("报")},
		{"an unknown encoded word beside a good one", crlf("Subject: =?x-none?Q?=E9?= =?utf-8?Q?=C3=A9?=\n\nx"), subject("=?x-none?Q?=E9?=é")},
		{"ASCII in an unknown charset", crlf("Subject: =?x-none?B?VEVTVA=?=\n\nx"), subject("TEST")},
		{"a subject of raw bytes beside a part in ASCII",
			strings.NewReplacer("Subject: x", "Subject: \xb1\xa8\xb8\xe6", "--b\r\nContent-Type: text/plain",
				"--b\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\nx\r\n--b\r\nContent-Type: text/plain").Replace(partOf("")), subject("报告")},
		{"quotes of Windows in Latin-1", crlf("Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8-bit\n\n\x93x\x94"),
			func(_ *testing.T, _ string, p *Parsed) bool {
				return p.Parser == StreamParser && p.Text == "“x”"
			}},
		{"parts behind a first field behind spaces", strings.Replace(partOf(""), "Subject", " Subject", 1),
			func(_ *testing.T, _ string, p *Parsed) bool {
				return strings.HasPrefix(p.Text, "hello")
			}},
		{"a first line of spaces", crlf("   \nSubject: after spaces\nContent-Type: text/html\n\n<p>x"),
			func(_ *testing.T, _ string, p *Parsed) bool {
				return p.Subject == "after spaces" && p.HTML == "<p>x"
			}},
		{"a first field behind spaces", crlf(" From: Ada <ada@example.com>\nSubject: x\n\nx"), from("Ada", "ada@example.com")},
		{"a name and an address without brackets", crlf("From: Big Bug bb@bug.com\n\nx"), from("Big Bug", "bb@bug.com")},
		{"addresses between spaces", crlf("From: ada@example.com charles@example.com\n\nx"), from("", "ada@example.com")},
		{"addresses in brackets between spaces", crlf("To: Ada <ada@example.com> Charles <charles@example.com>\n\nx"),
			func(_ *testing.T, _ string, p *Parsed) bool {
				return slices.Equal(p.To, []Address{{"Ada", "ada@example.com"}, {"Charles", "charles@example.com"}})
			}},
		{"a comment for a name", crlf("From: ada@example.com (Ada)\n\nx"), from("Ada", "ada@example.com")},
		{"comments in an address that does not parse", crlf("From: Dr. Ada [x] <ada@example.com> (at work)\n\nx"),
			from("Dr. Ada [x]", "ada@example.com")},
		{"EST", crlf("Date: Sat, 21 Nov 2026 10:00:00 EST\n\nx"), dated("2026-11-21T15:00Z")},
		{"CEST", crlf("Date: Tue, 21 Jul 2026 10:00:00 CEST\n\nx"), dated("2026-07-21T08:00Z")},
		{"GMT+2", crlf("Date: Sat, 21 Nov 2026 10:00:00 GMT+2\n\nx"), dated("2026-11-21T08:00Z")},
		{"no zone", crlf("Date: Sat, 21 Nov 2026 10:00:00\n\nx"), dated("2026-11-21T10:00Z")},
		{"a zone and its name", crlf("Date: Sat, 21 Nov 2026 10:00:00 +0800 (CST)\n\nx"), dated("2026-11-21T02:00Z")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if p := checkParsed(t, test.raw); !test.want(t, test.raw, p) {
				t.Errorf("by %s, date %s, subject %q, from %+v, text %q, HTML %q, attachments %+v", p.Parser, p.Date, p.Subject, p.From, p.Text,
					p.HTML, p.Attachments)
			}
		})
	}
}

// damaged returns a message with an attachment a.pdf, lines some lines of base64, and content what they are of.
func damaged(encoded string) string {
	return partOf("Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n" + encoded)
}
func lines(n int) string   { return strings.Repeat(strings.Repeat("QUJD", 19)+"\n", n) }
func content(n int) string { return strings.Repeat("ABC", 19*n) }
func largerThan(n int64) func(*testing.T, string, *Parsed) bool {
	return func(_ *testing.T, _ string, p *Parsed) bool {
		return len(p.Attachments) == 1 && p.Attachments[0].Size >= n
	}
}
