package schema

import (
	"errors"
	"fmt"
	"strings"
)

// MaxDiagnostics is how many diagnostics of one answer cross the wire; the rest is counted in one more.
const MaxDiagnostics = 100

// Severity ranks a diagnostic.
type Severity int

const (
	// Error means that the configuration cannot be used.
	Error Severity = iota + 1
	// Warning means that it can, but should be changed.
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is a finding about a configuration. It never holds a secret.
type Diagnostic struct {
	Severity Severity
	// Summary is a short sentence without a full stop.
	Summary string
	// Detail tells what to write instead; it may be empty.
	Detail string
	// Path leads to the value; empty means the whole block.
	Path Path
}

// String writes the path, the summary and the detail in one line.
func (d Diagnostic) String() string {
	s := d.Summary
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	if len(d.Path) > 0 {
		s = d.Path.String() + ": " + s
	}
	return s
}

// Diagnostics is a list of findings. Nil means that nothing was found.
type Diagnostics []Diagnostic

// Errorf returns one error about the value at the path.
func Errorf(path Path, format string, args ...any) Diagnostics {
	return Diagnostics{{Severity: Error, Summary: fmt.Sprintf(format, args...), Path: path}}
}

// Warnf returns one warning about the value at the path.
func Warnf(path Path, format string, args ...any) Diagnostics {
	return Diagnostics{{Severity: Warning, Summary: fmt.Sprintf(format, args...), Path: path}}
}

// HasErrors reports whether one of them is an error.
func (ds Diagnostics) HasErrors() bool {
	for _, d := range ds {
		if d.Severity != Warning {
			return true
		}
	}
	return false
}

// Error joins the errors by semicolons; warnings are left out unless there is nothing else. Use Err to get an error value.
func (ds Diagnostics) Error() string {
	var lines []string
	for _, d := range ds {
		if d.Severity != Warning || !ds.HasErrors() {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "; ")
}

// Err returns an error with the text of Error, or nil if there is no error among them.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return errors.New(ds.Error())
}

// Under returns the diagnostics with their paths put below a prefix.
func (ds Diagnostics) Under(prefix Path) Diagnostics {
	out := make(Diagnostics, len(ds))
	for i, d := range ds {
		path := make(Path, 0, len(prefix)+len(d.Path))
		d.Path = append(append(path, prefix...), d.Path...)
		out[i] = d
	}
	return out
}
