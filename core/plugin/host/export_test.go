package host

// SocketDir is the host's private directory, for the tests.
func (h *Host) SocketDir() string { return h.sockets.path }
