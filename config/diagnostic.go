package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Severity ranks a diagnostic.
type Severity = schema.Severity

// The severities.
const (
	Error   = schema.Error
	Warning = schema.Warning
)

// Diagnostic is a finding about the configuration, at a place. It never holds a secret.
type Diagnostic struct {
	Severity Severity
	// Summary is a short sentence without a full stop.
	Summary string
	// Detail tells what to write instead; it may be empty.
	Detail string
	// Setting is the attribute of the block that it is about, as a plugin or a service names it, such as limits.day; "" if it is not
	// known by name.
	Setting string
	Range
}

// String writes one line, as in plugin.hcl:4,5-12: Summary; Detail.
func (d Diagnostic) String() string {
	text := d.Summary
	if d.Detail != "" {
		text += "; " + d.Detail
	}
	if place := d.Range.String(); place != "" {
		text = place + ": " + text
	}
	return text
}

// Diagnostics are findings. Nil means that nothing was found.
type Diagnostics []Diagnostic

// ErrorAt returns one error at a place; the detail tells what to write instead.
func ErrorAt(r Range, summary, detail string) Diagnostics {
	return Diagnostics{{Severity: Error, Summary: summary, Detail: detail, Range: r}}
}

// WarningAt returns one warning at a place.
func WarningAt(r Range, summary, detail string) Diagnostics {
	return Diagnostics{{Severity: Warning, Summary: summary, Detail: detail, Range: r}}
}

// HasErrors reports whether one of them is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity != Warning })
}

// Error writes the errors in their one-line form, one a line. Use Err to get an error value.
func (ds Diagnostics) Error() string {
	var lines []string
	for _, d := range ds {
		if d.Severity != Warning {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Err returns an error with the text of Error, or nil if there is no error among them.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return errors.New(ds.Error())
}

// Sort orders them by file, line and column; those without a place in a file come first.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(min(a.Line, 1), min(b.Line, 1)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Summary, b.Summary))
	})
}

// WriteText writes them for people, each with its source line, in which whatever may be secret is left out.
func (ds Diagnostics) WriteText(w io.Writer, colour bool) error {
	for _, d := range ds {
		if _, err := io.WriteString(w, d.formatText(colour)); err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
	}
	return nil
}

func (d Diagnostic) formatText(colour bool) string {
	var b strings.Builder
	title, on, off := "Error", "\x1b[31m", "\x1b[0m"
	if d.Severity == Warning {
		title, on = "Warning", "\x1b[33m"
	}
	if !colour {
		on, off = "", ""
	}
	fmt.Fprintf(&b, "%s%s%s: %s\n", on, title, off, d.Summary)
	if d.Line == 0 && d.File != "" {
		fmt.Fprintf(&b, "  in %s\n", d.File)
	}
	if d.Line > 0 {
		fmt.Fprintf(&b, "  on %s line %d", d.File, d.Line)
		if in := d.src.enclosingBlock(d.Line); in != "" {
			b.WriteString(", in " + in)
		}
		b.WriteString("\n")
		if line := d.src.shownLine(d.Line); line != "" {
			fmt.Fprintf(&b, "%4d: %s\n", d.Line, line)
		}
	}
	if d.Detail != "" {
		b.WriteString(d.Detail + "\n")
	}
	b.WriteString("\n")
	return b.String()
}

// convertDiagnostics returns the parser's findings as Diagnostics.
func (s *source) convertDiagnostics(in hcl.Diagnostics) Diagnostics {
	var out Diagnostics
	for i, h := range in {
		if i > 0 && h.Summary == "Invalid multi-line string" && in[i-1].Summary == h.Summary {
			continue // one unclosed quote makes one of these for every line that follows
		}
		d := Diagnostic{Severity: Error, Summary: h.Summary, Detail: h.Detail, Range: Range{File: s.name}}
		if h.Severity == hcl.DiagWarning {
			d.Severity = Warning
		}
		if h.Subject != nil {
			d.Range = s.rangeAt(*h.Subject)
		}
		switch h.Summary {
		case "Invalid JSON keyword":
			d.Detail = "Write a string in double quotes." // the parser's text repeats the value
		case "Invalid single-argument block definition":
			d.Detail = "A block on one line may hold one argument only. Write each argument on a line of its own."
		}
		out = append(out, d)
	}
	return out
}
