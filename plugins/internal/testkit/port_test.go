package testkit

import (
	"fmt"
	"net"
	"strconv"
	"testing"
)

func TestFreePort(t *testing.T) {
	used := map[int]bool{}
	t.Run("while others are held", func(t *testing.T) {
		for range 200 {
			port := FreePort(t)
			if used[port] || port < firstPort || port >= endOfPort {
				t.Errorf("port %d, given already: %t", port, used[port])
			}
			used[port] = true
		}
	})
	for port := range used {
		// Nobody holds the reservation of a test that has ended.
		l, err := net.Listen("unix", fmt.Sprint("@patchbay-test-port-", port))
		if err != nil {
			t.Fatalf("port %d is held: %v", port, err)
		}
		_ = l.Close()
	}
}

func TestPortIsTaken(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		port := FreePort(t)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if !isFree(port) {
			t.Errorf("port %d is free, and is said to be taken", port)
		}
		if network == "tcp" {
			l, err := net.Listen(network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		} else {
			p, err := net.ListenPacket(network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
		}
		if isFree(port) {
			t.Errorf("port %d is taken over %s, and is said to be free", port, network)
		}
	}
}
