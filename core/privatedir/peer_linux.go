package privatedir

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Peer returns the process at the other end of a Unix socket and its user, as the kernel knew them when it connected or began to
// listen.
func Peer(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, 0, err
	}
	if credErr != nil {
		return 0, 0, fmt.Errorf("ask for the credentials of the socket's other end: %w", credErr)
	}
	return int(cred.Pid), int(cred.Uid), nil
}
