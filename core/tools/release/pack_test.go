package main

import (
	"os"
	"strings"
	"testing"
)

// TestZshReadsCompletions: Debian and Fedora look for them in folders of their own.
func TestZshReadsCompletions(t *testing.T) {
	for format, want := range map[string]string{"deb": "/usr/share/zsh/vendor-completions/_patchbay",
		"rpm": "/usr/share/zsh/site-functions/_patchbay"} {
		found := false
		for _, p := range (&release{}).listFiles("bin") {
			found = found || packagePath(format, p) == want
		}
		if !found {
			t.Errorf("%s has no %s", format, want)
		}
	}
}

// TestUnitsKeepMistakesDown: a mistake in the configuration, exit status 2, must not restart a unit for ever.
func TestUnitsKeepMistakesDown(t *testing.T) {
	for _, unit := range []string{"patchbay.service", "patchbay-supervisor.service"} {
		text, err := os.ReadFile("../../../examples/deploy/systemd/" + unit)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\nRestartPreventExitStatus=2\n") {
			t.Errorf("%s restarts after a mistake in the configuration", unit)
		}
	}
}
