package httpd

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dropNew is a filter for the packets of a listening socket: it drops those that ask for a new connection (SYN without ACK) and lets the
// others through. Clients ask again after a second, and learn then that nobody listens.
var dropNew = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13}, // the flags of the TCP header
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x02, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
}

const (
	// settledAfter is for how long all that are connected must have been known, settleTime how long that may take.
	settledAfter = 50 * time.Millisecond
	settleTime   = time.Second
)

// refuseNew lets no more clients connect, and waits until those that are connected have been accepted and their first requests are with
// their handlers. A listener that closes would reset those that wait to be accepted, and net/http drops requests that it reads after its
// shutdown began. Where the system has no such filter, it does nothing.
func (s *Server) refuseNew(ctx context.Context) {
	raw := rawConn(s.listener)
	if raw == nil || !controlSocket(raw, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(dropNew)), Filter: &dropNew[0]})
	}) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for since := time.Now(); time.Since(since) < settledAfter; {
		queued := uint32(0)
		if !controlSocket(raw, func(fd int) error {
			// Of a listening socket, Unacked is how many wait to be accepted.
			info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if err == nil {
				queued = info.Unacked
			}
			return err
		}) {
			return
		}
		if queued > 0 || s.newcomers.hasAny() {
			since = time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// rawConn returns the socket of a listener, or nil.
func rawConn(listener net.Listener) syscall.RawConn {
	if limited, ok := listener.(*limitedListener); ok {
		listener = limited.Listener
	}
	conn, ok := listener.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// controlSocket calls do with the descriptor of a socket, and reports whether that worked.
func controlSocket(raw syscall.RawConn, do func(fd int) error) bool {
	var err error
	return raw.Control(func(fd uintptr) { err = do(int(fd)) }) == nil && err == nil
}
