package containers

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const (
	// failedLines and failedBytes bound the output of a failed container in the log of its job, failedContainers of how many
	// containers it is read, and failedOutputTime how long that may take.
	failedLines      = 30
	failedBytes      = 8 << 10
	failedContainers = 3
	failedOutputTime = 15 * time.Second
)

// reportOutput writes the last lines of the service's containers that are made from an image into the log of the job.
func (c *change) reportOutput(ctx context.Context, imageID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failedOutputTime)
	defer cancel()
	list, err := c.s.allContainersOf(ctx, c.stack.Project, c.svc.Name)
	if err != nil {
		c.r.Warn(ctx, "%s: the output of the container cannot be read: %s", c.displayName(), failure.Text(err))
		return
	}
	read := 0
	for _, ct := range list {
		if ct.ImageID != imageID || read == failedContainers {
			continue
		}
		read++
		lines, err := c.s.lastLines(ctx, ct.ID, failedLines, failedBytes)
		if err != nil {
			c.r.Warn(ctx, "%s: the output of %s cannot be read: %s", c.displayName(), ct.Name, failure.Text(err))
			continue
		}
		if len(lines) == 0 {
			c.r.Info(ctx, "%s has written nothing", ct.Name)
			continue
		}
		c.r.Info(ctx, "The last lines of %s:", ct.Name)
		for _, l := range lines {
			c.r.Info(ctx, "%s | %s", ct.Name, l.Text)
		}
	}
}

// lastLines returns the last lines that a container has written, without secrets: at most count, and at most size bytes.
func (s *Service) lastLines(ctx context.Context, container string, count, size int) ([]engine.LogLine, error) {
	redact, err := s.outputRedactor(ctx, container)
	if err != nil {
		return nil, err
	}
	var lines []engine.LogLine
	total := 0
	err = s.engine().Logs(ctx, engine.LogRequest{Container: container, Tail: count}, func(l engine.LogLine) error {
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

// outputRedactor takes secrets out of what one container writes.
type outputRedactor struct{ values *secret.Redactor }

// outputRedactor returns the redactor of a container's output. It knows the values of the container's variables that are
// secrets by their names, and of those that are URLs the passwords.
func (s *Service) outputRedactor(ctx context.Context, container string) (outputRedactor, error) {
	d, err := s.engine().Inspect(ctx, container)
	if err != nil {
		return outputRedactor{}, err
	}
	r := outputRedactor{secret.NewRedactor("password", "passwd", "secret", "token", "access_token", "refresh_token", "api_key", "apikey", "key", "authorization")}
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
func (r outputRedactor) String(line string) string {
	line = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\t' {
			return -1
		}
		return c
	}, line)
	return secret.RedactAssignments(r.values.String(line))
}
