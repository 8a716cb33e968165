//go:build !linux

package host

import (
	"os"
	"os/exec"
)

// setProcessGroup does nothing: there are no process groups to end a plugin with.
func setProcessGroup(*exec.Cmd) {}

// reapGroup waits for the end of the process.
func (c *command) reapGroup() error {
	err := c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaped = true
	return err
}

// killGroup ends the plugin.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
