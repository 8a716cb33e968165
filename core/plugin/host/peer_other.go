//go:build !linux

package host

import "net"

// checkPeer accepts every process: the directory of the socket, which is private, decides who may listen there.
func checkPeer(*net.UnixConn, int) error { return nil }
