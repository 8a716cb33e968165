package pin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// UseFile has cmd run an open file, whatever has its name by the time of the start. The file must stay open until then. It makes a link of
// the same name in dir, a private directory that stays as long as the process: a script sees that as its own name, which leads to its
// descriptor 3.
func UseFile(cmd *exec.Cmd, f *os.File, dir string) error {
	target := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if command := Interpreter(f); command != "" {
		target, cmd.ExtraFiles = "/proc/self/fd/3", []*os.File{f}
		cmd.Env = append(cmd.Env, ScriptEnvironment(command)...)
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return fmt.Errorf("a pinned plugin is started through /proc, which is not mounted: %w", err)
	}
	cmd.Path = filepath.Join(dir, filepath.Base(cmd.Path))
	return os.Symlink(target, cmd.Path)
}
