package docker

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

var _ engine.LogReader = (*docker)(nil)

// Logs implements engine.LogReader. The engine adds a time to each line, which is cut off again.
func (d *docker) Logs(ctx context.Context, req engine.LogRequest, send func(engine.LogLine) error) error {
	c, err := d.inspectContainer(ctx, req.Container)
	if err != nil {
		return err
	}
	var sendErr error
	err = d.callEngine(ctx, "read the output of the container", func(api *client.Client) error {
		stream, err := api.ContainerLogs(ctx, c.ID,
			container.LogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: req.Follow, Tail: strconv.Itoa(req.Tail)})
		if err != nil {
			return err
		}
		defer stream.Close()
		handOn := func(l engine.LogLine) error {
			if sendErr == nil {
				sendErr = send(l)
			}
			return sendErr
		}
		stdout, stderr := &logLines{send: handOn}, &logLines{send: handOn, stderr: true}
		if c.Config != nil && c.Config.Tty {
			// A terminal has one stream, which is not framed.
			_, err = io.Copy(stdout, stream)
		} else {
			_, err = stdcopy.StdCopy(stdout, stderr, stream)
		}
		if sendErr != nil {
			return nil
		}
		for _, l := range []*logLines{stdout, stderr} {
			if err == nil {
				err = l.flushLine()
			}
		}
		return err
	})
	if sendErr != nil {
		return sendErr
	}
	return err
}

// logLines cuts one stream of a container's output into lines.
type logLines struct {
	send   func(engine.LogLine) error
	stderr bool
	rest   []byte
}

// maxLogLine is how much of a line is looked at, in bytes, with the time before it and its escape sequences.
const maxLogLine = 4 * maxLine

// Write implements io.Writer.
func (l *logLines) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		// What is left of a line that is too long is left out.
		l.rest = append(l.rest, part[:min(len(part), maxLogLine-len(l.rest))]...)
		if ended {
			if err := l.flushLine(); err != nil {
				return 0, err
			}
		}
		p = rest
	}
	return total, nil
}

// flushLine sends the line that was read so far.
func (l *logLines) flushLine() error {
	if len(l.rest) == 0 {
		return nil
	}
	stamp, text, found := bytes.Cut(l.rest, []byte{' '})
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	out := engine.LogLine{Stderr: l.stderr}
	if found && err == nil {
		out.At = at.UnixMilli()
	} else {
		text = l.rest
	}
	// What a line writes over itself, such as a progress bar, is not read: the last state counts.
	text = bytes.TrimRight(text, "\r")
	text = text[bytes.LastIndexByte(text, '\r')+1:]
	plain := string(bytes.ToValidUTF8(escapes().ReplaceAll(text, nil), []byte("?")))
	l.rest = l.rest[:0]
	out.Text = texts.Truncate(plain, maxLine)
	return l.send(out)
}
