package host

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer reports an error unless the process that listens at the other end of conn runs as this user and belongs to the
// process group that was started as group.
func checkPeer(conn *net.UnixConn, group int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if credErr != nil {
		return fmt.Errorf("ask for the credentials of the socket's other end: %w", credErr)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("the socket is served by another user (uid %d)", cred.Uid)
	}
	pgid, err := unix.Getpgid(int(cred.Pid))
	if err != nil || pgid != group {
		return fmt.Errorf("the socket is served by process %d, which is not part of the plugin that was started as process %d", cred.Pid, group)
	}
	return nil
}
