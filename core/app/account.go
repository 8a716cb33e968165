package app

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// withAccounts adds sign-in and accounts, below /system, to what the core itself answers.
func (a *App) withAccounts(core *httpd.Mount, set *settings.Settings) {
	routes := account.New(account.Config{Users: a.users, Access: set.Access(a.clients), Version: a.cfg.Version}).System()
	core.Routes = append(core.Routes, routes...)
}

// SetupLink makes a link by which somebody becomes the first administrator; "" once there is a user, or where a proxy signs
// people in. A former one ends.
func (a *App) SetupLink(ctx context.Context) (string, error) {
	if c := a.set.Core; c.AllowedUser != "" || c.AllowedGroup != "" {
		return "", nil
	}
	token, err := a.users.Links.CreateFirst(auth.Acting(ctx, auth.Actor{Name: "patchbay serve", Via: auth.ViaCommand}))
	if err != nil || token == "" {
		return "", err
	}
	return account.SetupURL(a.URL(), token), nil
}
