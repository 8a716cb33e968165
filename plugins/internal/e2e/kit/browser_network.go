package kit

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// browserNetwork is the network namespace of a browser, which has a loopback and nothing else. Chromium gives up its requests
// whenever a network of its machine comes or goes, and other tests make networks of containers all the time.
type browserNetwork struct {
	namespace *os.File

	mu sync.Mutex
	// relayed are the addresses that lead out of the namespace.
	relayed map[string]bool
}

// isolateProcess starts the command of a browser in a network namespace of its own, which takes root.
func isolateProcess(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
}

// openNetwork returns the network of a browser that isolate prepared, with its loopback up. It returns nil for a browser that
// shares the network of the machine.
func openNetwork(cmd *exec.Cmd) (*browserNetwork, error) {
	if cmd.SysProcAttr.Cloneflags == 0 {
		return nil, nil
	}
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	n := &browserNetwork{namespace: namespace, relayed: map[string]bool{}}
	if err := n.runInside(raiseLoopback); err != nil {
		n.closeNetwork()
		return nil, err
	}
	return n, nil
}

// runInside runs f on a thread that is in the namespace. Sockets that f opens itself stay there.
func (n *browserNetwork) runInside(f func() error) error {
	done := make(chan error)
	go func() {
		// The thread is not given back: it ends with this goroutine.
		runtime.LockOSThread()
		if err := unix.Setns(int(n.namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// Relay makes an address on the loopback of the machine reachable at the same address in the namespace, until close.
func (n *browserNetwork) Relay(address string) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.relayed[address] {
		return nil
	}
	var listener net.Listener
	if err := n.runInside(func() (err error) { listener, err = net.Listen("tcp4", address); return err }); err != nil {
		return err
	}
	n.relayed[address] = true
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go carryBytes(conn.(*net.TCPConn), address)
		}
	}()
	return nil
}

// carryBytes joins a connection with a new one to address, until both sides have ended it.
func carryBytes(from *net.TCPConn, address string) {
	defer from.Close()
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		return
	}
	to := conn.(*net.TCPConn)
	defer to.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(to, from)
		_ = to.CloseWrite()
	}()
	_, _ = io.Copy(from, to)
	// A core that has gone is gone for the browser at once.
	from.Close()
	<-sent
}

func (n *browserNetwork) closeNetwork() {
	if n != nil {
		n.namespace.Close()
	}
}
