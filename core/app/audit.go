package app

import (
	"context"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/auth"
)

// ReloadBySignal is Reload, with a row in the audit.
func (a *App) ReloadBySignal(ctx context.Context) (config.Diagnostics, error) {
	diags, err := a.Reload(ctx)
	failure := err
	if failure == nil && diags.HasErrors() {
		failure = diags.Err()
	}
	acting := auth.Acting(context.WithoutCancel(ctx), auth.Actor{Name: "SIGHUP", Via: auth.ViaCommand})
	if noted := a.users.Journal.Record(acting, "core.reload", "", failure); noted != nil {
		a.log.Error("cannot write a reload to the audit log", "error", noted)
	}
	return diags, err
}
