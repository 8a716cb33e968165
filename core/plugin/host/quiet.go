package host

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
)

// quiet logs the lines of a plugin and of go-plugin. Control characters are escaped, since a plugin chooses the text and a terminal may
// show it. go-plugin's lines about the end of a process have the level Debug, since the host reports that itself, with the reason.
type quiet struct{ hclog.Logger }

// Trace implements hclog.Logger, as do the others.
func (q quiet) Trace(msg string, args ...any) { q.Logger.Trace(Printable(msg), printableArgs(args)...) }

func (q quiet) Debug(msg string, args ...any) { q.Logger.Debug(Printable(msg), printableArgs(args)...) }

func (q quiet) Error(msg string, args ...any) {
	if strings.HasPrefix(msg, "plugin process exited") {
		q.Debug(msg, args...)
		return
	}
	q.Logger.Error(Printable(msg), printableArgs(args)...)
}

func (q quiet) Info(msg string, args ...any) {
	if strings.HasPrefix(msg, "plugin process exited") {
		q.Debug(msg, args...)
		return
	}
	q.Logger.Info(Printable(msg), printableArgs(args)...)
}

func (q quiet) Warn(msg string, args ...any) {
	if strings.HasPrefix(msg, "plugin failed to exit gracefully") || strings.HasPrefix(msg, "error closing client") {
		q.Debug(msg, args...)
		return
	}
	q.Logger.Warn(Printable(msg), printableArgs(args)...)
}

// Log implements hclog.Logger.
func (q quiet) Log(level hclog.Level, msg string, args ...any) {
	q.Logger.Log(level, Printable(msg), printableArgs(args)...)
}

// Named keeps go-plugin from leaving this filter, and from adding the name of the program to that of the plugin.
func (q quiet) Named(string) hclog.Logger { return q }

// With keeps the filter, too.
func (q quiet) With(args ...any) hclog.Logger { return quiet{q.Logger.With(printableArgs(args)...)} }

// printableArgs returns args with the texts in them printable, without the time that go-plugin appends: the line has its own.
func printableArgs(args []any) []any {
	if n := len(args); n >= 2 && args[n-2] == "timestamp" {
		args = args[:n-2]
	}
	out := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case string:
			out[i] = Printable(v)
		case bool, int, int64, float64, nil, hclog.Format:
			out[i] = v
		default:
			out[i] = Printable(fmt.Sprint(v))
		}
	}
	return out
}

// Printable returns a text whose control characters, and others that a terminal does not show as they are, are escaped as in Go, such as
// \x1b. Tabs stay.
func Printable(text string) string {
	clean := true
	for _, r := range text {
		if r == utf8.RuneError || r != '\t' && !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case r == '\t' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		i += size
	}
	return out.String()
}
