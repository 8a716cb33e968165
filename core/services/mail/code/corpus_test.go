package code

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// corpusMail is a mail of the corpus with its verification code, "" for none.
type corpusMail struct{ name, code, subject, text, html string }

// fillerLine stands for lines of other text.
var fillerLine = regexp.MustCompile(`\{\{(\d+) lines\}\}`)

// readCorpus reads a file of testdata.
func readCorpus(t *testing.T, file string) (mails []corpusMail) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split("\n"+string(raw), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		head, parts, _ := strings.Cut(rest, "\n--- ")
		m := corpusMail{name: name}
		for line := range strings.SplitSeq(head, "\n") {
			key, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); key {
			case "code":
				m.code = value
			case "subject":
				m.subject = value
			default:
				t.Fatalf("%s: the mail %s has a line %q", file, name, line)
			}
		}
		for part := range strings.SplitSeq(parts, "\n--- ") {
			kind, content, _ := strings.Cut(part, "\n")
			content = fillerLine.ReplaceAllStringFunc(content, func(s string) string {
				n, _ := strconv.Atoi(fillerLine.FindStringSubmatch(s)[1])
				var out strings.Builder
				for i := range n {
					fmt.Fprintf(&out, "%d. The parties agree that section %d of the terms stays in force, and that nobody has to do anything.\n", i+1, i+1)
				}
				return out.String()
			})
			switch kind {
			case "text":
				m.text = content
			case "html":
				m.html = content
			default:
				t.Fatalf("%s: the mail %s has a part %q", file, name, kind)
			}
		}
		mails = append(mails, m)
	}
	return mails
}

// TestPublicMails counts the codes that are found in mails that are no such mails: the files below PATCHBAY_TEST_MAILS.
func TestPublicMails(t *testing.T) {
	dir := testkit.MailsFolder(t)
	mails, found := 0, 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		parsed, err := rfc822.Parse(func() (io.ReadCloser, error) { return os.Open(path) })
		if err != nil || parsed.Status != rfc822.ParseOK {
			return err
		}
		mails++
		if best, ok := Best(FindIn(parsed)); ok {
			found++
			t.Logf("%s: %+v", path, best)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("found %d codes in %d mails", found, mails)
	if 100*found > mails {
		t.Error("at most 1 % of them may seem to have a code")
	}
}

// TestCorpus counts the codes that are found and those that are invented.
func TestCorpus(t *testing.T) {
	for _, file := range []string{"mails1.txt", "mails2.txt", "mails3.txt"} {
		found, with, invented, without := 0, 0, 0, 0
		for _, m := range readCorpus(t, file) {
			got, ok := FindBest(m.subject, m.text, rfc822.HTMLText(m.html, MaxText))
			if !ok {
				got = Code{}
			}
			switch {
			case m.code != "":
				with++
				if got.Value == strings.ReplaceAll(m.code, " ", "") {
					found++
				} else {
					t.Logf("%s: found %q, want %q", m.name, got.Value, m.code)
				}
			default:
				without++
				if got.Value != "" {
					invented++
					t.Logf("%s: invented %q", m.name, got.Value)
				}
			}
		}
		if 100*found < 95*with || 100*invented > 2*without {
			t.Errorf("%s: at least 95 %% of the codes are to be found, and at most 2 %% invented", file)
		}
		t.Logf("%s: found %d of %d codes, invented %d in %d mails without one", file, found, with, invented, without)
	}
}
