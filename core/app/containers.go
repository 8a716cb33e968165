package app

import (
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// openContainers makes the containers service. It works once it has the queue.
func (a *App) openContainers() error {
	p, err := a.containerProviders(*a.set.Containers, a.catalog)
	if err != nil {
		return err
	}
	a.containers, err = containers.New(containers.Config{
		Store: a.store, Keyring: a.keyring, Logger: a.log.Named("containers"), Settings: *a.set.Containers, Providers: p, DataDir: a.set.DataDir, Version: a.cfg.Version,
		Access: containerAccess(a.set), Sender: a.notify, Channels: a.channels,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, a.containers.Close)
	return nil
}

// containerAccess tells the service how people are let in at present.
func containerAccess(set *settings.Settings) containers.AccessInfo {
	c, open := set.Core, false
	// A malformed list of addresses is refused before anything listens.
	if clients, err := httpd.NewClients(c.TrustedProxies); err == nil {
		open = set.Access(clients).TrustsOpenLoopback(c.HTTPAddr)
	}
	return containers.AccessInfo{
		OpenLoopback: open,
		UserHeader:   c.UserHeader, GroupHeader: c.GroupHeader, AllowedUser: c.AllowedUser, AllowedGroup: c.AllowedGroup, AnonymousInDev: c.Anonymous, TrustedProxies: c.TrustedProxies,
	}
}

// containerProviders finds the instances that the settings name. A registry that is not required and does not run is left
// out, as long as there is another one, and so is a channel of notifications.
func (a *App) containerProviders(set containers.Settings, from instances) (containers.Providers, error) {
	var out containers.Providers
	h, err := from.Handle(set.Engine)
	if err != nil {
		return out, err
	}
	out.Engine = client.NewEngine(h, a.metrics.observe)
	var missing error
	for _, ref := range set.Registries {
		h, err := from.Handle(ref)
		if err != nil {
			a.log.Warn("a registry reader is left out", "registry", ref, "error", err)
			missing = err
			continue
		}
		out.Registries = append(out.Registries, client.NewRegistry(h, a.metrics.observe))
	}
	if len(out.Registries) == 0 {
		return out, missing
	}
	for _, ref := range set.Notify {
		h, err := from.Handle(ref)
		if err != nil {
			a.log.Warn("a channel of notifications is left out", "channel", ref, "error", err)
			continue
		}
		out.Notify = append(out.Notify, channels.Channel{Ref: ref, Notifier: client.NewNotifier(h, a.metrics.observe)})
	}
	if set.CodeHostRef() == "" {
		return out, nil
	}
	if h, err = from.Handle(set.CodeHostRef()); err != nil {
		return out, err
	}
	out.CodeHost = client.NewCodeHost(h, a.metrics.observe)
	return out, nil
}
