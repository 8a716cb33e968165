package core

import (
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// waitForExit returns the exit status.
func waitForExit(c *kit.Core, within time.Duration) int {
	c.T.Helper()
	select {
	case <-c.Ended:
		return c.Cmd.ProcessState.ExitCode()
	case <-time.After(kit.Patience * within):
		_ = c.Cmd.Process.Kill()
		c.T.Fatalf("the core did not end within %s\n%s", kit.Patience*within, kit.LastLines(c.Logs(), 40))
	}
	return -1
}
