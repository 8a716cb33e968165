package kit

import (
	"os/exec"
	"strings"
	"testing"
)

// RunHost runs a program that must succeed, and returns what it prints.
func RunHost(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, LastLines(string(out), 30))
	}
	return strings.TrimSpace(string(out))
}
