package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/core/plugin/pin"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// Link is the connection to one run of a plugin process, from the handshake to its exit.
type Link struct {
	// Conn is the connection to the process.
	Conn *grpc.ClientConn
	// Plugin is the base service on Conn.
	Plugin pluginv1.PluginClient
	// Describe is the process's description of itself.
	Describe *pluginv1.DescribeResponse
	// PID is the process id.
	PID int

	client  *plugin.Client
	command *command
	exited  chan struct{}
}

// Exited is closed when the process has ended.
func (l *Link) Exited() <-chan struct{} { return l.exited }

// errPermanent is in the chain of an error that a restart does not solve.
var errPermanent = errors.New("a restart cannot cure this")

// startLink starts the process, connects to it and reads its description.
func (p *Process) startLink(ctx context.Context) (*Link, error) {
	executable, err := p.spec.open()
	if err != nil {
		return nil, errors.Join(errPermanent, err)
	}
	if executable != nil {
		defer executable.Close()
	}
	dir := filepath.Join(p.host.sockets.path, strconv.FormatInt(p.host.launches.Add(1), 10))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the socket directory: %w", err)
	}
	l, err := p.startCommand(dir, executable)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if err := p.connectLink(ctx, l); err != nil {
		p.endLink(l, time.Second)
		return nil, err
	}
	return l, nil
}

// startCommand starts the process and waits for its handshake. executable is the pinned executable, or nil.
func (p *Process) startCommand(dir string, executable *os.File) (*Link, error) {
	// Only the start is cancelled with the process; later it is asked to end before it is killed.
	ctx, cancel := context.WithCancel(context.Background())
	settled := context.AfterFunc(p.ctx, cancel)
	cmd := exec.CommandContext(ctx, p.spec.Path, pin.Arguments(p.spec.Path, p.spec.Args)...)
	cmd.Dir = "/"
	cmd.Env = p.pluginEnvironment()
	if executable != nil {
		if err := pin.UseFile(cmd, executable, dir); err != nil {
			settled()
			cancel()
			return nil, errors.Join(errPermanent, fmt.Errorf("start plugin %q: %w", p.spec.Name, err))
		}
	}
	setProcessGroup(cmd)
	p.output.beginOutput()
	l := &Link{command: newCommand(cmd, dir, p.spec.MTLS), exited: make(chan struct{})}
	p.attempt = l
	l.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(),
		Plugins:         plugin.PluginSet{},
		RunnerFunc: func(_ hclog.Logger, asked *exec.Cmd, _ string) (runner.Runner, error) {
			cmd.Env = append(append(cmd.Env, asked.Env...), plugin.EnvUnixSocketDir+"="+dir)
			return l.command, nil
		},
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		SkipHostEnv:      true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         p.spec.MTLS,
		StartTimeout:     p.startTimeout(),
		Logger:           p.goPluginLogger(),
		Stderr:           p.stderrWriter(),
		SyncStdout:       p.output,
		SyncStderr:       p.output,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithContextDialer(l.command.dialPlugin),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(framework.MaxMessage), grpc.MaxCallSendMsgSize(framework.MaxMessage)),
			grpc.WithInitialWindowSize(1 << 20), grpc.WithInitialConnWindowSize(16 << 20),
			grpc.WithDisableServiceConfig(),
			grpc.WithChainUnaryInterceptor(tracing.SendUnary), grpc.WithChainStreamInterceptor(tracing.SendStream),
		},
	})
	started := make(chan error, 1)
	go func() {
		defer cancel()
		l.runCommand(started)
	}()
	err := <-started
	settled()
	if err != nil {
		l.client.Kill()
		return nil, p.explainStartError(err)
	}
	return l, nil
}

// runCommand starts the process and returns when it has ended. It keeps its thread all that time, since the kernel ends the
// process with the thread that started it: so no plugin outlives the core, however that ends.
func (l *Link) runCommand(started chan<- error) {
	runtime.LockOSThread()
	defer close(l.exited)
	_, err := l.client.Start()
	if err == nil {
		l.PID = l.command.processID()
	}
	started <- err
	if !l.command.hasStarted() {
		return
	}
	if err != nil {
		l.command.killGroup()
	}
	<-l.command.exited
}

// connectLink connects to the process and reads its description.
func (p *Process) connectLink(ctx context.Context, l *Link) error {
	rpc, err := l.client.Client()
	if err != nil {
		return p.explainStartError(err)
	}
	l.Conn = rpc.(*plugin.GRPCClient).Conn
	l.Plugin = pluginv1.NewPluginClient(l.Conn)
	ctx, cancel := context.WithTimeout(ctx, p.startTimeout())
	defer cancel()
	if l.Describe, err = l.Plugin.Describe(ctx, &pluginv1.DescribeRequest{}); err != nil {
		return fmt.Errorf("plugin %q does not describe itself: %w", p.spec.Name, err)
	}
	return nil
}

// stderrWriter returns the writer that gets the process's standard error.
func (p *Process) stderrWriter() io.Writer {
	if p.host.cfg.Output == nil {
		return p.output
	}
	return io.MultiWriter(p.output, p.host.cfg.Output)
}

// pluginEnvironment returns a plugin's variables besides those of go-plugin: a few of the core's, the level of its log, and
// those of the host's Config and of the spec. The last of two with the same name counts.
func (p *Process) pluginEnvironment() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, framework.EnvLogLevel+"="+p.host.cfg.PluginLogLevel)
	if p.host.cfg.Env != nil {
		env = append(env, p.host.cfg.Env(p.spec.Name)...)
	}
	return append(env, p.spec.Env...)
}

// explainStartError returns an error of go-plugin as a sentence for the operator.
func (p *Process) explainStartError(err error) error {
	text := err.Error()
	switch {
	case errors.Is(err, errAddress):
		return errors.Join(errPermanent, fmt.Errorf("plugin %q: %w", p.spec.Name, err))
	case strings.Contains(text, "incompatible API version"), strings.Contains(text, "incompatible core API version"),
		strings.Contains(text, "unsupported plugin protocol"):
		return errors.Join(errPermanent, fmt.Errorf("plugin %q speaks another protocol version: %s", p.spec.Name, firstLine(text)))
	case strings.Contains(text, "timeout while waiting"):
		return fmt.Errorf("plugin %q did not answer within %s after its start (start_timeout of its plugin block)", p.spec.Name, p.startTimeout())
	case strings.Contains(text, "Failed to read any lines"), strings.Contains(text, "exited before"):
		return fmt.Errorf("plugin %q ended at its start%s", p.spec.Name, p.lastWords())
	case strings.Contains(text, "Unrecognized remote plugin message"):
		return fmt.Errorf("plugin %q printed something else than the handshake on stdout; only the SDK may write there before it serves",
			p.spec.Name)
	}
	return fmt.Errorf("start plugin %q: %w", p.spec.Name, err)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (p *Process) lastWords() string {
	if last := p.output.lastLine(); last != "" {
		return "; its last line was: " + last
	}
	return ""
}

// killPatience is how long endLink waits for a killed process. The kernel may keep one that waits for a device.
const killPatience = 5 * time.Second

// endLink ends one run of the process: it asks first, and kills after grace. It returns when the process group has ended, or
// killPatience after it was killed.
func (p *Process) endLink(l *Link, grace time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.client.Kill()
		<-l.exited
	}()
	if !endsWithin(done, grace) {
		l.command.killGroup()
		if !endsWithin(done, killPatience) {
			p.pluginLogger().Error("plugin process does not exit after SIGKILL", "pid", l.PID)
		}
	}
	_ = os.RemoveAll(l.command.dir)
}

// endsWithin reports whether done is closed in time.
func endsWithin(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
