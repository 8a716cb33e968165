package host

import pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"

// SocketDir is the host's private directory, for the tests.
func (h *Host) SocketDir() string { return h.sockets.path }

// Host is the host of a process, for the tests.
func (p *Process) Host() *Host { return p.host }

// NewServedProcess returns a process that a plugin serves without having been started, and a function that puts another life in its place.
func NewServedProcess(h *Host, plugin pluginv1.PluginClient) (p *Process, replace func(pluginv1.PluginClient)) {
	p = newProcess(h, Spec{Name: "served"})
	replace = func(c pluginv1.PluginClient) { p.link.Store(&Link{Plugin: c}) }
	replace(plugin)
	return p, replace
}
