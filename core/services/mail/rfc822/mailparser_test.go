package rfc822

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// peerMail is what mailparser has found in a mail.
type peerMail struct {
	Error, Subject, From, Text, HTML string
	Attachments                      []peerFile
}

type peerFile struct{ Name, SHA256 string }

// mailparserErrors are the mails of public collections, by the end of their file names, in which we mean to find something else.
var mailparserErrors = []struct{ mail, kind, reason string }{
	{"content-length.mbox.txt.1.eml", "attachments", "it opens an enclosed message, which is an attachment here"},
	{"content-length.mbox.txt.11.eml", "attachments", "it opens an enclosed message, which is an attachment here"},
	{"content-length.mbox.txt.12.eml", "attachments", "it opens an enclosed message, which is an attachment here"},
	{"epilogue-sample.raw", "attachments", "it adds what follows the last part to the attachment"},
	{"multiple_invalid_content_dispositions.eml", "attachments",
		"it takes the only HTML of the message for an attachment, as its disposition is no word"},
	{"russian-attachment-yahoo.eml", "attachments", "it reads a name in UTF-8 as Latin-1"},
	{"outlook-express.eml", "attachments", "it reads a name in UTF-8 as Latin-1"},
	{"broken-headers.eml", "subject", "it reads the ellipsis of Windows in Latin-1 as an unknown byte"},
	{"messages_long-header.eml", "subject", "a subject is cut at 2,000 bytes here"},
}

// isMailparserError reports whether a difference is meant.
func isMailparserError(mail, kind string) bool {
	for _, e := range mailparserErrors {
		if strings.HasSuffix(mail, e.mail) && e.kind == kind {
			return true
		}
	}
	return false
}

// TestAgainstMailparser compares what is found in the mails of PATCHBAY_TEST_MAILS with what testdata/mailparser.mjs has found in them.
func TestAgainstMailparser(t *testing.T) {
	dir := testkit.MailsFolder(t)
	raw, err := os.ReadFile(filepath.Join(dir, "mailparser.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]peerMail
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	equal, compared, meant := map[string]int{}, 0, 0
	for name, want := range all {
		mail, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want.Error != "" {
			continue
		}
		compared++
		p := checkParsed(t, string(mail))
		note := func(kind string, same bool, got, want any) {
			switch {
			case same:
				equal[kind]++
			case isMailparserError(name, kind):
				meant++
			case testing.Verbose():
				t.Logf("%s of %s: %.300q, mailparser has %.300q", kind, name, got, want)
			}
		}
		files, listed := filesOf(t, string(mail), p, want.Attachments)
		note("subject", words(p.Subject) == words(want.Subject), p.Subject, want.Subject)
		note("from", strings.EqualFold(p.From.Address, want.From), p.From.Address, want.From)
		note("attachments", sameFiles(files, want.Attachments), files, want.Attachments)
		if sameFiles(listed, want.Attachments) {
			equal["attachments and reports"]++
		}
		note("text", words(p.Text) == words(want.Text), p.Text, want.Text)
		note("html", HTMLText(p.HTML, MaxText) == HTMLText(want.HTML, MaxText), p.HTML, want.HTML)
	}
	for kind, goal := range map[string]int{"subject": 98, "from": 99, "attachments": 97} {
		if equal[kind]*100 < goal*compared {
			t.Errorf("%s: %d of %d are equal", kind, equal[kind], compared)
		}
	}
	t.Logf("of %d mails equal: %v, other on purpose: %d", compared, equal, meant)
}

// words returns a text with single spaces, without the marks of bytes that could not be read: it is a matter of taste how many.
func words(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\uFFFD", "")), " ")
}

// filesOf returns the attachments of a message: without reports and enclosed messages that have no name and that mailparser does
// not list, as it makes text of them, and all of them.
func filesOf(t *testing.T, raw string, p *Parsed, listed []peerFile) (files, all []peerFile) {
	for _, a := range p.Attachments {
		sum := sha256.New()
		if err := ReadAttachment(p.Parser, opener(raw), a.Number, func(_ Attachment, r io.Reader) error {
			_, err := io.Copy(sum, r)
			return err
		}); err != nil {
			t.Error(err)
		}
		file := peerFile{a.Filename, hex.EncodeToString(sum.Sum(nil))}
		all = append(all, file)
		if a.Filename == "" && strings.HasPrefix(a.ContentType, "message/") && !slices.Contains(listed, file) {
			continue
		}
		files = append(files, file)
	}
	return files, all
}

func sameFiles(a, b []peerFile) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if words(a[i].Name) != words(b[i].Name) || a[i].SHA256 != b[i].SHA256 {
			return false
		}
	}
	return true
}
