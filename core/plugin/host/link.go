package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Link is one life of a plugin process: from a handshake to its exit.
type Link struct {
	// Conn is the connection to the process.
	Conn *grpc.ClientConn
	// Plugin is the base service on Conn.
	Plugin pluginv1.PluginClient
	// Describe is what this process says of itself.
	Describe *pluginv1.DescribeResponse
	// PID is the process id.
	PID int

	client *plugin.Client
	dir    string
	exited chan struct{}
}

// Exited is closed when the process is gone.
func (l *Link) Exited() <-chan struct{} { return l.exited }

// errPermanent marks what a restart cannot cure.
var errPermanent = errors.New("a restart cannot cure this")

// launch starts the process, shakes hands and asks it to describe itself.
func (p *Process) launch(ctx context.Context) (*Link, error) {
	if err := p.spec.Verify(); err != nil {
		return nil, errors.Join(errPermanent, err)
	}
	dir := filepath.Join(p.host.sockets, strconv.FormatInt(p.host.launches.Add(1), 10))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the socket directory: %w", err)
	}
	l, err := p.start(dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if err := p.connect(ctx, l); err != nil {
		l.kill(time.Second)
		return nil, err
	}
	return l, nil
}

func (p *Process) start(dir string) (*Link, error) {
	// Only the start can be called off: later the process is told to end before it is made to.
	ctx, cancel := context.WithCancel(context.Background())
	settled := context.AfterFunc(p.ctx, cancel)
	cmd := exec.CommandContext(ctx, p.spec.Path, p.spec.Args...)
	cmd.Dir = "/"
	cmd.Env = p.environment(dir)
	prepare(cmd)
	p.output.reset()
	l := &Link{dir: dir, exited: make(chan struct{})}
	l.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  framework.Handshake(),
		Plugins:          plugin.PluginSet{},
		Cmd:              cmd,
		SkipHostEnv:      true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         p.spec.MTLS,
		StartTimeout:     p.host.cfg.StartTimeout,
		Logger:           p.processLog(),
		Stderr:           p.output,
		SyncStdout:       p.output,
		SyncStderr:       p.output,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(framework.MaxMessage), grpc.MaxCallSendMsgSize(framework.MaxMessage)),
			grpc.WithInitialWindowSize(1 << 20), grpc.WithInitialConnWindowSize(16 << 20),
			grpc.WithDisableServiceConfig(),
		},
	})
	started := make(chan error, 1)
	go func() {
		defer cancel()
		p.tend(l, cmd, started)
	}()
	err := <-started
	settled()
	if err != nil {
		l.client.Kill()
		return nil, p.explain(err)
	}
	return l, nil
}

// tend starts the process and stays with it until it ends. The goroutine keeps its thread: the kernel ends the process
// when the thread that started it ends, so that no plugin outlives the core, however the core goes.
func (p *Process) tend(l *Link, cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer close(l.exited)
	_, err := l.client.Start()
	if err == nil {
		l.PID = cmd.Process.Pid
	}
	started <- err
	if cmd.Process != nil {
		if err == nil {
			waitExit(cmd.Process.Pid)
		}
		killGroup(cmd.Process.Pid)
	}
}

func (p *Process) connect(ctx context.Context, l *Link) error {
	rpc, err := l.client.Client()
	if err != nil {
		return p.explain(err)
	}
	l.Conn = rpc.(*plugin.GRPCClient).Conn
	l.Plugin = pluginv1.NewPluginClient(l.Conn)
	ctx, cancel := context.WithTimeout(ctx, p.host.cfg.StartTimeout)
	defer cancel()
	if l.Describe, err = l.Plugin.Describe(ctx, &pluginv1.DescribeRequest{}); err != nil {
		return fmt.Errorf("plugin %q does not describe itself: %w", p.spec.Name, err)
	}
	return nil
}

// environment is all that a plugin sees: a few harmless variables, its own directory for sockets, and what the spec
// adds.
func (p *Process) environment(dir string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, plugin.EnvUnixSocketDir+"="+dir, framework.EnvLogLevel+"="+p.host.cfg.PluginLogLevel)
	return append(env, p.spec.Env...)
}

// explain turns go-plugin's errors into sentences for the operator.
func (p *Process) explain(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "incompatible API version"), strings.Contains(text, "incompatible core API version"), strings.Contains(text, "unsupported plugin protocol"):
		return errors.Join(errPermanent, fmt.Errorf("plugin %q speaks another protocol version: %s", p.spec.Name, firstLine(text)))
	case strings.Contains(text, "timeout while waiting"):
		return fmt.Errorf("plugin %q did not answer within %s after its start", p.spec.Name, p.host.cfg.StartTimeout)
	case strings.Contains(text, "Failed to read any lines"), strings.Contains(text, "exited before"):
		return fmt.Errorf("plugin %q ended at its start%s", p.spec.Name, p.lastWords())
	case strings.Contains(text, "Unrecognized remote plugin message"):
		return fmt.Errorf("plugin %q printed something else than the handshake on stdout; only the SDK may write there before it serves", p.spec.Name)
	}
	return fmt.Errorf("start plugin %q: %w", p.spec.Name, err)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (p *Process) lastWords() string {
	if last := p.output.last(); last != "" {
		return "; its last line was: " + last
	}
	return ""
}

// kill ends the process: politely first, by force after grace. It returns when everything of it is gone.
func (l *Link) kill(grace time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.client.Kill()
	}()
	select {
	case <-done:
	case <-time.After(grace):
		killGroup(l.PID)
		<-done
	}
	killGroup(l.PID)
	<-l.exited
	_ = os.RemoveAll(l.dir)
}
