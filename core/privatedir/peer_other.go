//go:build !linux

package privatedir

import (
	"errors"
	"net"
)

// Peer fails: only Linux is asked who is at the other end of a socket.
func Peer(*net.UnixConn) (pid, uid int, err error) { return 0, 0, errors.ErrUnsupported }
