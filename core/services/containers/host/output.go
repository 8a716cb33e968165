package host

import (
	"context"
	"strings"
	"unicode"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// LastLines returns the last lines that a container has written, without secrets: at most count, and at most size bytes.
func (h *Host) LastLines(ctx context.Context, container string, count, size int) ([]engine.LogLine, error) {
	redact, err := h.OutputRedactor(ctx, container)
	if err != nil {
		return nil, err
	}
	var lines []engine.LogLine
	total := 0
	err = h.cfg.Engine().Logs(ctx, engine.LogRequest{Container: container, Tail: count}, func(l engine.LogLine) error {
		l.Text = redact.String(l.Text)
		lines, total = append(lines, l), total+len(l.Text)
		for len(lines) > count || total > size && len(lines) > 1 {
			total -= len(lines[0].Text)
			lines = lines[1:]
		}
		return nil
	})
	return lines, err
}

// Redactor takes secrets out of what one container writes.
type Redactor struct{ values *secret.Redactor }

// OutputRedactor returns the redactor of a container's output. It knows the values of the container's variables that are
// secrets by their names, and of those that are URLs the passwords.
func (h *Host) OutputRedactor(ctx context.Context, container string) (Redactor, error) {
	d, err := h.cfg.Engine().Inspect(ctx, container)
	if err != nil {
		return Redactor{}, err
	}
	r := Redactor{secret.NewRedactor("password", "passwd", "secret", "token", "access_token", "refresh_token", "api_key", "apikey", "key",
		"authorization")}
	if d.Config == nil {
		return r, nil
	}
	for _, variable := range d.Config.Env {
		name, value, _ := strings.Cut(variable, "=")
		_, rest, isURL := strings.Cut(value, "://")
		if secret.NamesSecret(name) || isURL && strings.Contains(rest, "@") {
			r.values.Add(value)
		}
	}
	return r, nil
}

// String returns a line without secrets and control characters.
func (r Redactor) String(line string) string {
	line = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\t' {
			return -1
		}
		return c
	}, line)
	return secret.RedactAssignments(r.values.String(line))
}
