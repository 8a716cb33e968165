package docker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// The plugin's executable has duties beside the plugin, which these words choose: "engine/docker keep -- command…" runs a
// command that must not outlive the plugin, "engine/docker wipe" empties the mount of a helper container.
const (
	helperWord = "engine/docker"
	keepWord   = "keep"
	wipeWord   = "wipe"
)

// Helper does what the arguments of the process ask for beside the plugin, and tells whether they asked for anything; then
// the process is to end with status.
func Helper(args []string) (status int, ok bool) {
	switch {
	case len(args) > 3 && args[0] == helperWord && args[1] == keepWord && args[2] == "--":
		return keepCommand(args[3:]), true
	case len(args) >= 2 && args[0] == helperWord && args[1] == wipeWord:
		return emptyMount(args[2:]), true
	}
	return 0, false
}

const (
	// grace is how long a command has to end after it was asked to.
	grace = 3 * time.Second
	// notStarted is the status of a keeper whose command did not start, as shells have it.
	notStarted = 127
	// lockFD is the keeper's descriptor of the project's lock, which its command inherits.
	lockFD = 3
)

// keepCommand runs a command until it ends or the standard input does. In the second case, which also is the death of the
// plugin, the command's group is asked to end, and killed after the grace period, with all that it started.
func keepCommand(command []string) int {
	// The command is tied to the life of this thread.
	runtime.LockOSThread()
	adoptOrphans()
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = framework.Stdout(), os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(lockFD, "lock")}
	isolateGroup(cmd, syscall.SIGKILL)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return notStarted
	}
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		// What it left running would hold its output open.
		endAdopted()
		return httpStatus(err)
	case <-gone:
	case <-over:
	}
	endGroup(cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-ended: //nolint:errcheck // It was told to end.
	case <-time.After(grace):
	}
	endGroup(cmd.Process.Pid, syscall.SIGKILL)
	endAdopted()
	return httpStatus(errors.New("ended"))
}

func httpStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return 1
	case exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok {
		return 128 + int(ws.Signal())
	}
	return 1
}
