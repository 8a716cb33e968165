package inbound

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// tcpClose is the state of a connection that was reset, or ended from both sides (TCP_CLOSE).
const tcpClose = 7

// isAcknowledged reports whether the other side's kernel has acknowledged all that was written. It is known for TCP alone, while the
// connection is open.
func isAcknowledged(c net.Conn) (acknowledged, known bool) {
	for {
		switch inner := c.(type) {
		case syscall.Conn:
			return acknowledgedAt(inner)
		case interface{ NetConn() net.Conn }:
			c = inner.NetConn()
		case interface{ Raw() net.Conn }:
			c = inner.Raw()
		default:
			return false, false
		}
	}
}

func acknowledgedAt(c syscall.Conn) (acknowledged, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Control(func(fd uintptr) {
		waiting, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		if err != nil {
			return
		}
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		acknowledged, known = waiting == 0 && info.State != tcpClose, true
	})
	return acknowledged, known && err == nil
}
