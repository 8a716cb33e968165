package testkit

import (
	"os"
	"testing"
)

// envMails names the variable with a folder of public mails. They are others', and too many to be in the tree.
const envMails = "PATCHBAY_TEST_MAILS"

// MailsFolder returns the folder of public mails. Without one the test is skipped, also where components are required: it compares with a
// corpus that whoever changes the parser fetches, see "Mail of others" in performance.md. A variable that names no folder fails the test.
func MailsFolder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(envMails)
	if dir == "" {
		t.Skip("a folder of public mails is missing: set " + envMails + " to one, see performance.md")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("%s is %q, which is no folder", envMails, dir)
	}
	return dir
}
