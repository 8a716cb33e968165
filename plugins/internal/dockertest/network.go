package dockertest

import (
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Network makes a network in the engine, which is removed when the test ends, and returns its name and the address that this machine
// has in it.
func Network(t testing.TB) (name, host string) {
	t.Helper()
	Engine(t)
	name = Name(t)
	Docker(t, "network", "create", name)
	t.Cleanup(func() { _, _ = runCommand(nil, nil, "docker", "network", "rm", name) })
	return name, Docker(t, "network", "inspect", "-f", "{{(index .IPAM.Config 0).Gateway}}", name)
}

// Client returns an HTTP client each of whose connections comes from a container of its own on the network. It has no access to
// addresses that are the loopback interface's of this machine.
func Client(t testing.TB, network string) *http.Client {
	t.Helper()
	image := Import(t, Behaviour{Version: "1", Entrypoint: true})
	var containers sync.WaitGroup
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		cmd := exec.Command("docker", "run", "-i", "--rm", "--network", network, image, "connect", address)
		cmd.Stdout = theirs
		// Wait must not wait for what the client has not sent.
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		go func() {
			_, _ = io.Copy(stdin, theirs)
			_ = stdin.Close()
		}()
		containers.Go(func() {
			_ = cmd.Wait()
			_ = theirs.Close()
		})
		return ours, nil
	}
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		containers.Wait()
		_, _ = runCommand(nil, nil, "docker", "rmi", "-f", image)
	})
	return &http.Client{Timeout: time.Minute, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
