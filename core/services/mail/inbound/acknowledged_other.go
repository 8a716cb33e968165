//go:build !linux

package inbound

import "net"

// isAcknowledged reports whether the other side's kernel has acknowledged all that was written; here it is never known.
func isAcknowledged(net.Conn) (acknowledged, known bool) { return false, false }
