package host

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever swaps the socket of a plugin for another gets no connection.
func TestDialRefusesAnotherProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	setProcessGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := newCommand(cmd, dir, false)
	defer func() { c.killGroup(); _ = cmd.Wait() }()
	path := filepath.Join(dir, "plugin.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, _, err := c.PluginToHost("unix", path); err != nil {
		t.Fatal(err)
	}
	if conn, err := c.dialPlugin(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "not part of the plugin") {
		t.Errorf("got %v, %v", conn, err)
	}
}
