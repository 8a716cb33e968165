// Package admin is what the command line does without a running core: it checks and shows the configuration, lists, tests and
// pins plugins, and opens, copies and puts back the database.
package admin

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// CheckConfig reports every finding about a configuration: it starts the plugins to have them check their parts, and
// ends them again.
func CheckConfig(ctx context.Context, src settings.Source, version string) (config.Diagnostics, error) {
	_, diags, err := ShowConfig(ctx, src, version)
	return diags, err
}

// ShowConfig is CheckConfig with the configuration itself.
func ShowConfig(ctx context.Context, src settings.Source, version string) (*config.File, config.Diagnostics, error) {
	set, res, diags, err := src.Inspect(ctx)
	if err != nil || set == nil {
		return nil, diags, err
	}
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), SocketDir: set.Core.SocketDir, DataDir: set.DataDir})
	if err != nil {
		return nil, diags, err
	}
	defer h.Close()
	cat := catalog.New(catalog.Config{Host: h, Version: version, Protected: set.Protected()})
	return set.File, append(diags, set.FindMistakes(ctx, cat, res, diags)...), nil
}

// AdminAddr returns the configured address of the admin listener.
func AdminAddr(src settings.Source) (string, error) {
	set, diags, err := src.Read()
	if err != nil {
		return "", err
	}
	if diags.HasErrors() {
		return "", diags.Err()
	}
	return set.Core.AdminAddr, nil
}

// Records is the database, open beside a core that may be running.
type Records struct {
	module.Records
	// NodeID is the name of the core that has this configuration, among the nodes of the database.
	NodeID string
	url    string
}

// OpenRecords opens the database of a configuration and brings it up to date. version is that of this program, which may use a newer
// database while the core of the configuration has the same version and runs: newer cores have only added to the schema then.
func OpenRecords(ctx context.Context, src settings.Source, version string) (*Records, config.Diagnostics, error) {
	set, diags, err := src.Read()
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	keyring, err := secret.LoadKeyring(set.Keyring())
	if err != nil {
		return nil, diags, err
	}
	st, err := store.Open(ctx, set.Store)
	if err != nil {
		return nil, diags, err
	}
	store.ListOthers(st, cluster.ListRunning)
	if err := st.Migrate(ctx, src.Migrations()...); err != nil {
		runs := false
		if errors.Is(err, store.ErrNewer) && set.Store.Shared {
			runs, _ = cluster.RunsVersion(ctx, st, set.NodeID(), version)
		}
		if !runs {
			return nil, diags, errors.Join(err, st.Close())
		}
	}
	users, err := auth.New(auth.Config{Store: st, Keyring: keyring, Scopes: module.Names(src.Services), Grants: module.Grants(src.Services)})
	if err != nil {
		return nil, diags, errors.Join(err, st.Close())
	}
	return &Records{Records: module.Records{Store: st, Keyring: keyring, Users: users}, NodeID: set.NodeID(), url: set.URL(set.Core.HTTPAddr)}, diags, nil
}

// ResetLink makes a link by which a user gets in again; the former keys, passkeys and sessions end.
func (r *Records) ResetLink(ctx context.Context, email string) (string, error) {
	token, err := r.Users.Links.Reset(ctx, email)
	if err != nil {
		return "", err
	}
	return account.SetupURL(r.url, token), nil
}

// Close closes the database.
func (r *Records) Close() error { return r.Store.Close() }
