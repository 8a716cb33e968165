package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

// maxLogLine bounds a line of a plugin's log, in bytes; the rest follows as another one.
const maxLogLine = 64 << 10

// logLines writes the lines of a plugin's standard error for a person: without go-plugin's own, without the form in which they cross to
// the core, and with control characters escaped.
type logLines struct {
	to      io.Writer
	mu      sync.Mutex
	partial []byte
}

// Write implements io.Writer.
func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, p...)
	for {
		i := bytes.IndexByte(l.partial, '\n')
		if i < 0 && len(l.partial) < maxLogLine {
			return len(p), nil
		}
		if i < 0 {
			i = len(l.partial) - 1
		}
		line := string(bytes.TrimRight(l.partial[:i], "\r"))
		l.partial = l.partial[i+1:]
		if text := describeLogLine(line); text != "" {
			if _, err := fmt.Fprintln(l.to, text); err != nil {
				return len(p), err
			}
		}
	}
}

// describeLogLine returns a line as a person reads it, or "" for one of go-plugin.
func describeLogLine(line string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil || fields["@message"] == nil {
		return host.Printable(line)
	}
	if fields["@module"] == "go-plugin" {
		return ""
	}
	text := fmt.Sprintf("%s: %v", strings.ToUpper(fmt.Sprint(fields["@level"])), fields["@message"])
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(name, "@") {
			text += fmt.Sprintf(" %s=%v", name, fields[name])
		}
	}
	return host.Printable(text)
}
