package app

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

var databaseDamaged = notify.RegisterKind(notify.Kind{
	Service: httpd.CoreService, Name: "database_damaged", Severity: sdk.Error, Texts: allTexts,
})

// damageTimeout bounds how long the channels may take to be told of a damaged database.
const damageTimeout = time.Minute

// watchDamage tells every notification channel once when the database turns out to be damaged. It asks the providers themselves, since
// the queue stands on that database.
func (a *App) watchDamage() {
	a.runUntilClosed(func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-a.store.Damaged():
			a.tellDamage(ctx)
		}
	})
}

// tellDamage sends a notification about the damaged database to all instances of the kind notify.
func (a *App) tellDamage(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, damageTimeout)
	defer cancel()
	alert := databaseDamaged.NewAlert(a.notify.Locale(), databaseDamaged.Name)
	n := &sdk.Notification{
		ID: store.NewID("ntf"), Kind: alert.Service + "." + alert.Kind, Version: 1, SentAt: time.Now(), Severity: alert.Severity,
		Title: sdk.Text{Plain: alert.Title}, Summary: sdk.Text{Plain: alert.Text},
	}
	for _, in := range a.catalog.Instances() {
		ref := in.Ref()
		if !strings.HasPrefix(ref, "notify.") {
			continue
		}
		channel, err := a.openChannel(ref)
		if err == nil {
			_, err = channel.Send(ctx, n, sdk.Target{})
		}
		if err != nil {
			a.log.Warn("cannot notify about the damaged database", "channel", ref, "error", err)
		}
	}
}
