package app

import (
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// openNotify makes the sender of notifications. It works once it has the queue.
func (a *App) openNotify() (err error) {
	a.notify, err = notify.New(notify.Config{Store: a.store, Channel: a.channel, Bus: a.bus, Logger: a.log.Named("notify")})
	return err
}

// channel finds a notification channel by its reference.
func (a *App) channel(ref string) (client.Notifier, error) {
	h, err := a.catalog.Handle(ref)
	if err != nil {
		return nil, err
	}
	return client.NewNotifier(h, a.metrics.observe), nil
}
