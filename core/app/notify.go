package app

import (
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// openNotify makes the sender of notifications, which works once it has the queue, and the settings of channels.
func (a *App) openNotify() (err error) {
	log := a.log.ResetNamed("notify")
	if a.notify, err = notify.New(notify.Config{Store: a.store, Channel: a.openChannel, Bus: a.bus, Logger: log, Cluster: a.cluster,
		Ended: a.shared.observeDelivery}); err != nil {
		return err
	}
	a.channels, err = channels.New(channels.Config{Store: a.store, Keyring: a.keyring, Sender: a.notify, Logger: log,
		Locks: a.cluster.Locks()})
	return err
}

// openChannel returns a notification channel by its reference.
func (a *App) openChannel(ref string) (client.Notifier, error) {
	h, err := a.catalog.Handle(ref)
	if err != nil {
		return nil, err
	}
	return client.NewNotifier(h, a.metrics.observeCall), nil
}
