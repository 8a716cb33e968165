package rfc822

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/internal/testing/mailcorpus"
)

// opener opens a text.
func opener(raw string) Opener {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(raw)), nil }
}

// checkParsed fails for a message that could not be stored or shown.
func checkParsed(t *testing.T, raw string) *Parsed {
	t.Helper()
	p, err := Parse(opener(raw))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if p.Status != ParseOK && p.Status != ParseFailed || p.Parser == "" {
		t.Errorf("status %q, parser %q", p.Status, p.Parser)
	}
	all := []string{p.Subject, p.From.Name, p.From.Address, p.MessageID, p.Text, p.HTML}
	for _, h := range p.Headers {
		all = append(all, h.Key, h.Value)
	}
	for _, list := range [][]Address{p.To, p.Cc, p.Bcc, p.ReplyTo} {
		for _, a := range list {
			all = append(all, a.Name, a.Address)
		}
	}
	for i, a := range p.Attachments {
		all = append(all, a.Filename, a.ContentType, a.ContentID)
		if a.Number != i+1 || strings.ContainsAny(a.Filename, "/\\") {
			t.Errorf("attachment %+v", a)
		}
		size := int64(0)
		if err := ReadAttachment(p.Parser, opener(raw), a.Number, func(_ Attachment, r io.Reader) (err error) {
			size, err = io.Copy(io.Discard, r)
			return err
		}); err != nil || size != a.Size {
			t.Errorf("attachment %d has %d bytes, want %d: %v", a.Number, size, a.Size, err)
		}
	}
	for _, s := range all {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("%.100q cannot be stored", s)
		}
	}
	if len(p.Text) > MaxText || len(p.HTML) > MaxText {
		t.Errorf("%d and %d bytes of text", len(p.Text), len(p.HTML))
	}
	_, _ = SanitizeHTML(p.HTML, HTMLView{InlineURL: func(string) string { return "" }})
	Preview(HTMLText(p.HTML, MaxText))
	return p
}

func TestParseCorpus(t *testing.T) {
	all := corpus()
	if len(all) < 300 {
		t.Fatalf("the corpus has %d messages", len(all))
	}
	count := map[Parser]int{}
	for name, raw := range all {
		p := checkParsed(t, raw)
		count[p.Parser]++
		if t.Failed() {
			t.Fatalf("message %q", name)
		}
	}
	t.Logf("%d messages by parser: %v", len(all), count)
}

func TestParse(t *testing.T) {
	p := checkParsed(t, crlf(corpusHeaders[0]+corpusBodies[16]))
	if p.Parser != StreamParser || p.Subject != "Hello" || p.From != (Address{"Ada Lovelace", "ada@example.com"}) ||
		p.MessageID != "<1@example.com>" || p.Date.Year() != 2026 ||
		p.Text != "text" || len(p.Attachments) != 1 || len(p.To) != 1 {
		t.Fatalf("parsed %+v", p)
	}
	if a := p.Attachments[0]; a.Filename != "你.pdf" || a.Size != 5 || a.ContentType != "application/pdf" ||
		a.Disposition != DispositionAttachment {
		t.Errorf("attachment %+v", a)
	}
	for _, test := range []struct {
		name, raw string
		want      func(*Parsed) bool
	}{
		{"two texts", crlf(corpusHeaders[0] + corpusBodies[15]), func(p *Parsed) bool { return p.Text == "one" && p.HTML == "<b>two</b>" }},
		{"old charsets", crlf(corpusHeaders[0] + corpusBodies[4]), func(p *Parsed) bool { return strings.Contains(p.HTML, "café au lait=") }},
		{"Chinese charset", crlf(corpusHeaders[0] + corpusBodies[5]), func(p *Parsed) bool { return p.Text == "这是测试" }},
		{"encoded words and lists", crlf(corpusHeaders[2] + corpusBodies[0]), func(p *Parsed) bool {
			return p.Subject == "你好 wörld" && p.From == Address{"Lovelace, Ada", "ada@example.com"}
		}},
		{"mbox line", crlf(corpusHeaders[1] + corpusBodies[0]),
			func(p *Parsed) bool { return p.Subject == "with an mbox line" && p.Status == ParseOK }},
		{"no final boundary", crlf(corpusHeaders[0] + corpusBodies[12]), func(p *Parsed) bool {
			return p.Parser == TolerantParser && strings.Contains(p.Text, "no final boundary")
		}},
		{"unknown charset", crlf(corpusHeaders[0] + corpusBodies[6]),
			func(p *Parsed) bool { return p.Parser == TolerantParser && strings.Contains(p.Text, "unknown") }},
		{"deep nesting", nested(200), func(p *Parsed) bool {
			return p.Status == ParseFailed && p.Subject == "nested" && strings.Contains(p.Text, "deep")
		}},
		{"many parts", manyParts(10_000), func(p *Parsed) bool { return p.Status == ParseFailed && p.Subject == "parts" }},
		{"no header", "just text\r\n", func(p *Parsed) bool { return strings.Contains(p.Text, "just text") }},
		{"a long text", crlf(corpusHeaders[0]) + "\r\n\r\n" + strings.Repeat("0123456789abcde\n", MaxText/16+10),
			func(p *Parsed) bool { return p.TextTruncated && len(p.Text) == MaxText }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if p := checkParsed(t, test.raw); !test.want(p) {
				t.Errorf("status %s by %s, subject %q, from %+v, text %.200q, HTML %.200q", p.Status, p.Parser, p.Subject, p.From, p.Text, p.HTML)
			}
		})
	}
}

// brokenReader fails after some bytes.
type brokenReader struct{ left io.Reader }

var errBroken = errors.New("the disk is broken")

func (b brokenReader) Read(p []byte) (int, error) {
	n, err := b.left.Read(p)
	if err == io.EOF {
		err = errBroken
	}
	return n, err
}

func TestParseReportsUnreadableBytes(t *testing.T) {
	_, err := Parse(func() (io.ReadCloser, error) {
		return io.NopCloser(brokenReader{strings.NewReader("Subject: x\r\n\r\nbody")}), nil
	})
	if !errors.Is(err, errBroken) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, all := range []map[string]string{corpus(), mailcorpus.Messages(f)} {
		for _, raw := range all {
			if len(raw) < 4096 {
				f.Add(raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw string) { checkParsed(t, raw) })
}
