// Package systemd asks the service manager of this machine about a unit, and restarts it.
package systemd

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Unit is a service of the machine, by its name, such as "patchbay.service".
type Unit string

// Status is what the service manager says of a unit.
type Status struct {
	// Loaded tells that there is such a unit. Program is the path that it starts.
	Loaded  bool
	Program string
	// Active is "active", "activating", "deactivating", "inactive" or "failed"; Sub is the finer state, such as "auto-restart".
	Active, Sub string
	// MainPID is the process of the unit, 0 for none.
	MainPID int
	// Restarts is how often the manager has started the unit by itself. Result and ExitStatus say how its last process ended.
	Restarts, ExitStatus int
	Result               string
}

// Running reports whether the unit has a process that is to go on.
func (s Status) Running() bool {
	return s.MainPID != 0 && (s.Active == "active" || s.Active == "activating")
}

// startedProgram finds the path in the property ExecStart.
var startedProgram = regexp.MustCompile(`\bpath=(\S+)`)

// Status asks for the state of the unit.
func (u Unit) Status(ctx context.Context) (s Status, err error) {
	out, err := runSystemctl(ctx, "show", "--property=LoadState,ExecStart,ActiveState,SubState,MainPID,NRestarts,ExecMainStatus,Result", "--",
		string(u))
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		number, _ := strconv.Atoi(value)
		switch name {
		case "LoadState":
			s.Loaded = value == "loaded"
		case "ExecStart":
			if m := startedProgram.FindStringSubmatch(value); m != nil {
				s.Program = m[1]
			}
		case "ActiveState":
			s.Active = value
		case "SubState":
			s.Sub = value
		case "MainPID":
			s.MainPID = number
		case "NRestarts":
			s.Restarts = number
		case "ExecMainStatus":
			s.ExitStatus = number
		case "Result":
			s.Result = value
		}
	}
	return s, nil
}

// Restart starts the unit anew, however often it has failed before, and returns when it has told that it is ready. An error says that it
// has not.
func (u Unit) Restart(ctx context.Context) error {
	// A unit that failed too often in a short time would not be started.
	if _, err := runSystemctl(ctx, "reset-failed", "--", string(u)); err != nil {
		return err
	}
	_, err := runSystemctl(ctx, "restart", "--", string(u))
	return err
}

// maxOutput is how much of what systemctl writes stands in an error, in bytes.
const maxOutput = 500

// runSystemctl returns what systemctl prints.
func runSystemctl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "systemctl", args...)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", fault.Wrap(ctx.Err(), fault.Conflict, "systemctl %s did not end in time.", args[0]).With("reason", "systemctl_failed")
	}
	text := strings.Join(strings.Fields(failure.String()), " ")
	if text == "" {
		text = fmt.Sprint(err)
	}
	return "", fault.Wrap(err, fault.Conflict, "systemctl %s failed: %s", args[0], text[:min(len(text), maxOutput)]).With("reason",
		"systemctl_failed")
}
