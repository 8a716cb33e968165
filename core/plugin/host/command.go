package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// outputGrace is how long the output of a process is read after its end. Another process that it has started may keep the
// pipes open.
const outputGrace = 500 * time.Millisecond

// command is one start of a plugin's process, as go-plugin's runner. It owns the pipes of the output, so that Wait does not
// wait for other processes that hold them, and it connects only to the process that it has started.
type command struct {
	cmd *exec.Cmd
	// dir is the directory in which the process must listen.
	dir string
	// mtls reports whether the connection is encrypted, which TCP needs.
	mtls bool

	stdout, stderr *output
	network, addr  string
	// exited is closed when the process has ended and its group was killed.
	exited chan struct{}
	err    error

	mu     sync.Mutex
	reaped bool
}

// output is the reading end of a pipe. Read returns io.EOF after its deadline.
type output struct{ *os.File }

// Read implements io.Reader.
func (o *output) Read(p []byte) (int, error) {
	n, err := o.File.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

func newCommand(cmd *exec.Cmd, dir string, mtls bool) *command {
	return &command{cmd: cmd, dir: dir, mtls: mtls, exited: make(chan struct{})}
}

// Start implements runner.Runner. On Linux the process ends with the calling thread.
func (c *command) Start(context.Context) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		_ = outR.Close()
		return err
	}
	defer errW.Close()
	c.stdout, c.stderr = &output{outR}, &output{errR}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = nil, outW, errW
	if err := c.cmd.Start(); err != nil {
		_, _ = outR.Close(), errR.Close()
		var path *fs.PathError
		if errors.As(err, &path) {
			path.Path = c.Name() // and not that of a descriptor
		}
		return err
	}
	go c.awaitExit()
	return nil
}

// awaitExit waits for the end of the process, kills the rest of its group and sets the deadline of its output.
func (c *command) awaitExit() {
	c.err = c.reapGroup()
	deadline := time.Now().Add(outputGrace)
	_ = c.stdout.SetReadDeadline(deadline)
	_ = c.stderr.SetReadDeadline(deadline)
	close(c.exited)
}

// hasStarted reports whether the process was started, also if it has ended.
func (c *command) hasStarted() bool { return c.cmd.Process != nil }

// processID returns the id of the process, which must have been started.
func (c *command) processID() int { return c.cmd.Process.Pid }

// killGroup kills the process and its group. It does nothing after the process was reaped, since another one may have its
// id.
func (c *command) killGroup() {
	if !c.hasStarted() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		killGroup(c.processID())
	}
}

// Wait implements runner.AttachedRunner. go-plugin calls it after both outputs have ended.
func (c *command) Wait(context.Context) error {
	<-c.exited
	_, _ = c.stdout.Close(), c.stderr.Close()
	return c.err
}

// Kill implements runner.AttachedRunner.
func (c *command) Kill(context.Context) error {
	c.killGroup()
	return nil
}

// Stdout implements runner.Runner.
func (c *command) Stdout() io.ReadCloser { return c.stdout }

// Stderr implements runner.Runner.
func (c *command) Stderr() io.ReadCloser { return c.stderr }

// Name implements runner.Runner.
func (c *command) Name() string { return c.cmd.Args[0] }

// ID implements runner.AttachedRunner.
func (c *command) ID() string {
	if !c.hasStarted() {
		return ""
	}
	return strconv.Itoa(c.processID())
}

// Diagnose implements runner.Runner. It is empty; explainStartError describes what went wrong.
func (c *command) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.AddrTranslator. It accepts only the address of a socket in the directory that was made for
// this start, or encrypted TCP on Windows.
func (c *command) PluginToHost(network, addr string) (string, string, error) {
	switch {
	case network == "tcp" && runtime.GOOS == "windows" && c.mtls:
	case network != "unix":
		return "", "", fmt.Errorf("%w: it says %s %s", errAddress, network, addr)
	case filepath.Dir(filepath.Clean(addr)) != c.dir:
		return "", "", fmt.Errorf("%w: it says %s", errAddress, addr)
	default:
		if err := privatedir.CheckSocket(addr); err != nil {
			return "", "", fmt.Errorf("%w: %w", errAddress, err)
		}
	}
	c.network, c.addr = network, addr
	return network, addr, nil
}

// errAddress is in the chain of an error about a plugin that listens where it must not.
var errAddress = errors.New("the plugin must listen on a Unix socket in the directory that PLUGIN_UNIX_SOCKET_DIR names")

// HostToPlugin implements runner.AddrTranslator.
func (c *command) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

// dialPlugin connects to the plugin and checks that its process serves the socket.
func (c *command) dialPlugin(ctx context.Context, _ string) (net.Conn, error) {
	var d net.Dialer
	if c.network != "unix" {
		return d.DialContext(ctx, c.network, c.addr)
	}
	if err := privatedir.CheckSocket(c.addr); err != nil {
		return nil, err
	}
	conn, err := d.DialContext(ctx, c.network, c.addr)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn.(*net.UnixConn), c.processID()); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
