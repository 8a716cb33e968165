package app

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// withAccounts adds sign-in and accounts, below /system, to what the core itself answers.
func (a *App) withAccounts(core *httpd.Mount, set *settings) error {
	routes, err := account.New(account.Config{Users: a.users, Access: set.access(a.clients), Version: a.cfg.Version}).System()
	core.Routes = append(core.Routes, routes...)
	return err
}

// SetupLink makes a link by which somebody becomes the first administrator; "" once there is a user, or where a proxy signs
// people in. A former one ends.
func (a *App) SetupLink(ctx context.Context) (string, error) {
	if c := a.set.core; c.AllowedUser != "" || c.AllowedGroup != "" {
		return "", nil
	}
	token, err := a.users.FirstLink(auth.Acting(ctx, auth.Actor{Name: "patchbay serve", Via: auth.ViaCommand}))
	if err != nil || token == "" {
		return "", err
	}
	return account.SetupURL(a.URL(), token), nil
}

// ResetLink makes a link by which a user gets in again; the former keys, passkeys and sessions end.
func (r *Records) ResetLink(ctx context.Context, email string) (string, error) {
	token, err := r.Users.ResetLink(ctx, email)
	if err != nil {
		return "", err
	}
	return account.SetupURL(r.url, token), nil
}

// address is where browsers see the core as far as the configuration tells: public_url, or this machine.
func (s *settings) address() string {
	if s.core.PublicURL != "" {
		return strings.TrimSuffix(s.core.PublicURL, "/")
	}
	return localURL(s.core.HTTPAddr)
}
