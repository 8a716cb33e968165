package host

// SocketDir is the host's private directory, for the tests.
func (h *Host) SocketDir() string { return h.sockets.path }

// Host is the host of a process, for the tests.
func (p *Process) Host() *Host { return p.host }
