// Package build knows which version is made of the sources, and compiles its binaries.
package build

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Version is a version that is being made.
type Version struct {
	// Name is the version, such as 1.2.0, Commit the short hash of what it is made of.
	Name, Commit string
	// Date is that of the commit, or SOURCE_DATE_EPOCH: what is published has it.
	Date time.Time
}

// ReadVersion returns the version of a name, with commit and date of the repository that the process works in.
func ReadVersion(name string) (v Version, err error) {
	if name == "" || strings.ContainsAny(name, " /_~") {
		return v, fmt.Errorf("-version %q is no version, such as 1.2.0", name)
	}
	v.Name = name
	if v.Commit, err = Output("git", "rev-parse", "--short", "HEAD"); err != nil {
		return v, err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = Output("git", "log", "-1", "--format=%ct"); err != nil {
			return v, err
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return v, fmt.Errorf("SOURCE_DATE_EPOCH must be seconds since 1970: %w", err)
	}
	v.Date = time.Unix(n, 0).UTC()
	return v, nil
}

// Output runs a command and returns what it prints, without the last line break.
func Output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
