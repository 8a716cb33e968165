package docker

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// probeLimit bounds each question to a compose command.
const probeLimit = 30 * time.Second

// probe is what a compose command can do.
type probe struct {
	// path is the executable of the command's first word.
	path       string
	version    string
	pullPolicy bool
}

// probes remembers commands by their words and by when the executable was changed.
type probes struct {
	mu    sync.Mutex
	known map[probeKey]*probe
}

type probeKey struct {
	bin, path string
	changed   time.Time
	size      int64
}

func newProbes() *probes { return &probes{known: map[probeKey]*probe{}} }

func unusableCommand(bin, format string, args ...any) error {
	return errs.New(errs.Caller, codes.FailedPrecondition, reasonNoCompose, "the compose command %q cannot be used: "+format,
		append([]any{bin}, args...)...)
}

// findProbe returns what a command can do. Each command is asked once.
func (p *probes) findProbe(ctx context.Context, bin string) (*probe, error) {
	words := strings.Fields(bin)
	if len(words) == 0 {
		return nil, unusableCommand(bin, "it has no words")
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, unusableCommand(bin, "%v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unusableCommand(bin, "%v", err)
	}
	key := probeKey{bin: bin, path: path, changed: info.ModTime(), size: info.Size()}
	p.mu.Lock()
	known := p.known[key]
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	found, err := probeCommand(ctx, bin, path, words[1:])
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[key] = found
	return found, nil
}

func probeCommand(ctx context.Context, bin, path string, words []string) (*probe, error) {
	help, err := commandOutput(ctx, path, append(words[:len(words):len(words)], "up", "--help"))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, unusableCommand(bin, "%v", err)
	}
	if !strings.Contains(help, "--no-deps") {
		return nil, unusableCommand(bin, "it does not answer as compose does")
	}
	version, err := commandOutput(ctx, path, append(words[:len(words):len(words)], "version", "--short"))
	if err != nil {
		return nil, unusableCommand(bin, "%v", err)
	}
	return &probe{path: path, version: texts.Truncate(strings.TrimSpace(version), 100), pullPolicy: strings.Contains(help, "--pull ")}, nil
}

func commandOutput(ctx context.Context, path string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = baseEnvironment()
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	isolateGroup(cmd, syscall.SIGKILL)
	err := waitFor(cmd)
	return out.String(), err
}
