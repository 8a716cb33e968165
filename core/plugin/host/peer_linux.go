package host

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// checkPeer reports an error unless the process that listens at the other end of conn runs as this user and belongs to the
// process group that was started as group.
func checkPeer(conn *net.UnixConn, group int) error {
	pid, uid, err := privatedir.Peer(conn)
	if err != nil {
		return err
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the socket is served by another user (uid %d)", uid)
	}
	pgid, err := unix.Getpgid(pid)
	if err != nil || pgid != group {
		return fmt.Errorf("the socket is served by process %d, which is not part of the plugin that was started as process %d", pid, group)
	}
	return nil
}
