package docker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	// maxTail is how much of the end of a command's output is kept, maxLine how much of one line is handed on, in bytes.
	maxTail = 8 << 10
	maxLine = 4 << 10
	// endLimit is how long the keeper of a command may take to end it; then it is killed itself, and the kernel ends the
	// command.
	endLimit = 10 * time.Second
)

// runCommand runs a command below a keeper (see keep.go), sends its lines, and returns when it has ended. When ctx ends, or
// send fails, the command and all that it started are ended. They have lock open until then.
func (d *docker) runCommand(ctx context.Context, command []string, dir string, env []string, lock *os.File,
	send func(engine.Line) error) (*engine.ComposeResult, error) {
	self, err := d.executable()
	if err != nil {
		return nil, errs.New(errs.Plugin, codes.Internal, "INTERNAL", "find the plugin's own executable: %v", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &output{send: send, stop: cancel}
	cmd := exec.CommandContext(ctx, self, append([]string{helperWord, keepWord, "--"}, command...)...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = env, workingDirectory(dir), []*os.File{lock}
	cmd.Stdout, cmd.Stderr = &lines{out: out}, &lines{out: out, stderr: true}
	// The keeper ends the command when this end of the pipe closes: here, or with the plugin.
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, errs.New(errs.Plugin, codes.Internal, "INTERNAL", "make a pipe: %v", err)
	}
	cmd.Cancel = hold.Close
	cmd.WaitDelay = endLimit
	// The keeper must live on to end what the command has started.
	isolateGroup(cmd, syscall.SIGTERM)
	err = waitFor(cmd)
	for _, w := range []any{cmd.Stdout, cmd.Stderr} {
		w.(*lines).flushLine()
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return nil, errs.New(errs.Plugin, codes.Internal, "INTERNAL", "run compose: %v", err)
	}
	return &engine.ComposeResult{ExitCode: cmd.ProcessState.ExitCode(), Tail: out.lastLines()}, nil
}

// waitFor runs cmd from a thread of its own: the kernel ends a child together with the thread that has started it.
func waitFor(cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- cmd.Run()
	}()
	return <-done
}

func workingDirectory(dir string) string {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return os.TempDir()
}

// output collects what a command writes to both of its streams.
type output struct {
	mu   sync.Mutex
	send func(engine.Line) error
	stop context.CancelCauseFunc
	end  []byte
}

func (o *output) addLine(stderr bool, raw []byte) {
	text := string(bytes.ToValidUTF8(escapes().ReplaceAll(raw, nil), []byte("?")))
	if text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end = append(append(o.end, text...), '\n')
	if len(o.end) > maxTail {
		o.end = append(o.end[:0], o.end[len(o.end)-maxTail:]...)
	}
	if o.send == nil {
		return
	}
	if err := o.send(engine.Line{Stderr: stderr, Text: texts.Truncate(text, maxLine)}); err != nil {
		o.send = nil
		o.stop(err)
	}
}

func (o *output) lastLines() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(bytes.ToValidUTF8(o.end, nil))
}

// escapes are the sequences by which a terminal is told about colours and positions.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\\\-_]|[\x00-\x08\x0b-\x1f\x7f]")
})

// lines cuts one stream into lines.
type lines struct {
	out    *output
	stderr bool
	rest   []byte
}

func (l *lines) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\n' && c != '\r' {
			l.rest = append(l.rest, c)
			if len(l.rest) < 4*maxLine {
				continue
			}
		}
		l.flushLine()
	}
	return len(p), nil
}

func (l *lines) flushLine() {
	if len(l.rest) > 0 {
		l.out.addLine(l.stderr, l.rest)
		l.rest = l.rest[:0]
	}
}
