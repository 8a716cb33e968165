package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// The ports that FreePort chooses from lie below those that a system gives to connections, so that no connection takes one of them
// between its choice and its use.
const (
	firstPort = 10000
	endOfPort = 32768
)

// maxPortAttempts is how many ports FreePort tries.
const maxPortAttempts = 100

// FreePort returns a port of loopback that nothing listens on, neither TCP nor UDP. Until the test ends, no other test is given it, in
// this process or another.
func FreePort(t testing.TB) int {
	t.Helper()
	for range maxPortAttempts {
		port := firstPort + rand.IntN(endOfPort-firstPort)
		// An abstract address belongs to one process, and to no one when that has ended.
		reservation, err := net.Listen("unix", fmt.Sprint("@patchbay-test-port-", port))
		if err != nil {
			continue
		}
		if isFree(port) {
			t.Cleanup(func() { _ = reservation.Close() })
			return port
		}
		_ = reservation.Close()
	}
	t.Fatalf("%d ports were tried, and none is free for TCP and UDP", maxPortAttempts)
	return 0
}

// FreeAddress returns an address on loopback with a port of FreePort.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprint("127.0.0.1:", FreePort(t))
}

// isFree reports whether a port of loopback can be listened on over TCP and UDP.
func isFree(port int) bool {
	address := fmt.Sprint("127.0.0.1:", port)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer listener.Close()
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	defer packets.Close()
	return true
}
